/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write them, in whole-number arithmetic: a decimal is read
 * as two integers, the part before the point and billionths behind it, and
 * scaled from there.  What does not come out even is rounded up, because all
 * of these are amounts asked for or limits granted.
 */
#include "lib/unit.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	FRAC_DIGITS = 9
};

static const int64_t BILLION = 1000000000;
static const int64_t MIB_MAX = INT64_C(1) << 32; /* 4 PiB */
static const int64_t MS_MAX = INT64_C(3153600000000); /* 100 years */
static const int64_t PPM_MAX = 10000000;
static const int64_t WHOLE_MAX = INT64_C(10000000000000);

struct decimal {
	int64_t whole;
	int64_t frac; /* billionths */
	bool point;
	const char *rest; /* what follows the digits */
};

static int64_t
fail(const char **errstr, const char *why)
{
	*errstr = why;
	return -1;
}

/* Read digits, perhaps a point and more digits. */
static int
decimal_parse(const char *s, struct decimal *d, const char **errstr)
{
	int64_t unit = BILLION / 10;
	int digits = 0;

	*d = (struct decimal){0};
	*errstr = NULL;
	if (!isdigit((unsigned char)*s))
		return (int)fail(errstr, "invalid");
	for (; isdigit((unsigned char)*s); s++)
		if ((d->whole = d->whole * 10 + (*s - '0')) > WHOLE_MAX)
			return (int)fail(errstr, "too large");
	if (*s == '.') {
		d->point = true;
		if (!isdigit((unsigned char)*++s))
			return (int)fail(errstr, "invalid");
		for (; isdigit((unsigned char)*s); s++, unit /= 10) {
			if (digits++ == FRAC_DIGITS)
				return (int)fail(errstr, "too many decimals");
			d->frac += (*s - '0') * unit;
		}
	}
	d->rest = s;
	return 0;
}

/* Times `unit`, rounded up.  Units are below 1e9, so nothing overflows. */
static int64_t
decimal_scale(
    const struct decimal *d, int64_t unit, int64_t max, const char **errstr)
{
	int64_t v;

	if (d->whole > max / unit)
		return fail(errstr, "too large");
	v = d->whole * unit + (d->frac * unit + BILLION - 1) / BILLION;
	return v > max ? fail(errstr, "too large") : v;
}

static bool
is_one_of(const char *s, const char *a, const char *b, const char *c)
{
	return strcasecmp(s, a) == 0 || strcasecmp(s, b) == 0 ||
	    strcasecmp(s, c) == 0;
}

int64_t
unit_mib(const char *s, const char **errstr)
{
	struct decimal d;

	if (decimal_parse(s, &d, errstr) == -1)
		return -1;
	if (is_one_of(d.rest, "g", "gb", "gib"))
		return decimal_scale(&d, 1024, MIB_MAX, errstr);
	if (d.point ||
	    (*d.rest != '\0' && !is_one_of(d.rest, "m", "mb", "mib")))
		return fail(errstr, "invalid");
	return decimal_scale(&d, 1, MIB_MAX, errstr);
}

int64_t
unit_ms(const char *s, const char **errstr)
{
	static const char suffix[] = "smhd";
	static const int64_t ms[] = {1000, 60000, 3600000, 86400000};
	const char *at = suffix;
	struct decimal d;

	if (decimal_parse(s, &d, errstr) == -1)
		return -1;
	if (*d.rest != '\0') {
		at = strchr(suffix, *d.rest);
		if (at == NULL || d.rest[1] != '\0')
			return fail(errstr, "invalid");
	}
	return decimal_scale(&d, ms[at - suffix], MS_MAX, errstr);
}

int64_t
unit_ppm(const char *s, const char **errstr)
{
	int64_t unit = 1000000;
	struct decimal d;

	if (decimal_parse(s, &d, errstr) == -1)
		return -1;
	if (strcmp(d.rest, "%") == 0)
		unit /= 100;
	else if (*d.rest != '\0')
		return fail(errstr, "invalid");
	return decimal_scale(&d, unit, PPM_MAX, errstr);
}

int64_t
unit_num(const char *s, int64_t min, int64_t max, const char **errstr)
{
	/* strtonum would take leading blanks and a sign. */
	if (*s == '\0' || s[strspn(s, "0123456789")] != '\0')
		return fail(errstr, "invalid");
	max = strtonum(s, min, max, errstr);
	return *errstr != NULL ? -1 : max;
}

int64_t
unit_grow(int64_t v, int64_t ppm)
{
	const int64_t m = 1000000;

	/* In two parts, so that the product stays small. */
	return v + v / m * ppm + (v % m * ppm + m - 1) / m;
}

void
unit_age(char *out, size_t size, int64_t secs)
{
	long long s = secs < 0 ? 0 : secs;

	if (s < 60)
		snprintf(out, size, "%llds", s);
	else if (s < 3600)
		snprintf(out, size, "%lldm", s / 60);
	else if (s < 86400)
		snprintf(out, size, "%lldh%02lldm", s / 3600, s / 60 % 60);
	else
		snprintf(out, size, "%lldd%02lldh", s / 86400, s / 3600 % 24);
}
