/* SPDX-License-Identifier: MIT */
/*
 * The words of an attribute block, before anything is known of their meaning.
 * For lib/attr.c alone.
 */
#ifndef GS_ATTRLEX_H
#define GS_ATTRLEX_H

#include <stdbool.h>
#include <stddef.h>

/* One word of a block. */
struct word {
	const char *s; /* where it stands, `len` bytes as written */
	size_t len;
	size_t name_len;
	char *value; /* without quotes; NULL: no "=" */
};

/*
 * The length of the block that begins at s[0] == '[', brackets included; or
 * -1 and *why, which is NULL otherwise.
 */
long attrlex_block(const char *s, const char **why);

/*
 * The next word of s[0..end), from *i on.  False if there is none.  The caller
 * frees w->value.
 */
bool attrlex_word(const char *s, size_t *i, size_t end, struct word *w);

/* Are there no quotes, or do they enclose the whole value? */
bool attrlex_quoting_ok(const struct word *w);

/* Blank or tab; the end of the text or of its line. */
bool attrlex_is_blank(char c);
bool attrlex_is_end(char c);

#endif
