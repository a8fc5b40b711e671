/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write them.  All parsers take the whole string, accept no
 * sign, blank or exponent, and return -1 with *errstr set to a short phrase
 * ("invalid", "too large", ...) that reads well behind the offending word;
 * on success *errstr is NULL.
 */
#ifndef GS_UNIT_H
#define GS_UNIT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Memory in MiB: a plain number is MiB; M MB MiB G GB GiB in any case, one
 * decimal fraction with G ("24.5G" = 25088).  24G, 24GB and 24GiB are one.
 */
int64_t unit_mib(const char *s, const char **errstr);

/*
 * A duration in milliseconds: a number with s, m, h or d; without a suffix
 * seconds.  A decimal fraction is allowed ("0.5", "1.5h").
 */
int64_t unit_ms(const char *s, const char **errstr);

/* A fraction in parts per million: "0.10", "1", or "10%". At most 10. */
int64_t unit_ppm(const char *s, const char **errstr);

/* A whole number from min to max, digits only. */
int64_t unit_num(const char *s, int64_t min, int64_t max, const char **errstr);

/* ceil(v * (1 + ppm / 1e6)), in whole numbers. */
int64_t unit_grow(int64_t v, int64_t ppm);

/* "45s", "12m", "1h02m", "3d04h" for people. */
void unit_age(char *out, size_t size, int64_t secs);

#endif
