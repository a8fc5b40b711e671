/* SPDX-License-Identifier: MIT */
/* A list of words being put together for an argv. */
#ifndef GS_LOOP_WORDS_H
#define GS_LOOP_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct words {
	char **v; /* NULL-terminated; NULL while empty */
	size_t n;
};

void words_add(struct words *w, const char *word);

/* An option and its value, unless the value is NULL. */
void words_opt(struct words *w, const char *option, const char *value);
void words_int(struct words *w, const char *option, int64_t value);

/* Seconds with three decimals. */
void words_ms(struct words *w, const char *option, int64_t ms);
void words_free(struct words *w);

#endif
