/* SPDX-License-Identifier: MIT */
/*
 * The words of an attribute block.  A quote is one only right behind a "=", in
 * both passes; where a word holds one elsewhere the passes could disagree, so
 * the reader must stop at the first word that attrlex_quoting_ok() refuses.
 */
#include "lib/attrlex.h"

#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"

static const size_t BLOCK_MAX = 8192; /* bytes, brackets included */

bool
attrlex_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool
attrlex_is_end(char c)
{
	return c == '\0' || c == '\n';
}

/* The byte behind a quoted value that begins at s[i]; 0 if it has no end. */
static size_t
quote_end(const char *s, size_t i)
{
	for (i++; !attrlex_is_end(s[i]) && i < BLOCK_MAX; i++)
		if (s[i] == '\\' && !attrlex_is_end(s[i + 1]))
			i++;
		else if (s[i] == '"')
			return i + 1;
	return 0;
}

long
attrlex_block(const char *s, const char **why)
{
	bool open_quote = false;
	size_t i = 1, next;

	while (s[i] != ']' && !attrlex_is_end(s[i]) && i < BLOCK_MAX &&
	    !open_quote) {
		next = i + 1;
		if (s[i] == '"' && s[i - 1] == '=')
			next = quote_end(s, i);
		open_quote = next == 0;
		i = open_quote ? strcspn(s, "\n") : next;
	}
	*why = NULL;
	if (s[i] == ']' && i < BLOCK_MAX)
		return (long)i + 1;
	*why = "'[' is not closed";
	if (i >= BLOCK_MAX)
		*why = "block over 8 KiB";
	else if (open_quote)
		*why = "a quote is not closed";
	return -1;
}

/* The text between quotes, without the backslashes of \" and \\. */
static char *
unquote(const char *s, size_t len)
{
	char *out = xmalloc(len + 1);
	size_t i, o = 0;

	for (i = 0; i < len; i++) {
		if (s[i] == '\\' && i + 1 < len &&
		    (s[i + 1] == '"' || s[i + 1] == '\\'))
			i++;
		out[o++] = s[i];
	}
	out[o] = '\0';
	return out;
}

bool
attrlex_word(const char *s, size_t *i, size_t end, struct word *w)
{
	size_t eq, at = *i;

	while (at < end && attrlex_is_blank(s[at]))
		at++;
	*w = (struct word){.s = s + at};
	*i = at;
	while (at < end && !attrlex_is_blank(s[at]) && s[at] != '=')
		at++;
	w->name_len = at - *i;
	if (at < end && s[at] == '=') {
		eq = at++;
		if (at < end && s[at] == '"') {
			at = quote_end(s, at);
			w->value = unquote(s + eq + 2, at - eq - 3);
		}
		while (at < end && !attrlex_is_blank(s[at]))
			at++;
		if (w->value == NULL)
			w->value = xstrndup(s + eq + 1, at - eq - 1);
	}
	w->len = at - *i;
	*i = at;
	return w->len > 0;
}

bool
attrlex_quoting_ok(const struct word *w)
{
	const char *v = w->s + w->name_len + 1;
	size_t len;

	if (w->value == NULL)
		return true;
	len = w->len - w->name_len - 1;
	if (len == 0 || v[0] != '"')
		return memchr(v, '"', len) == NULL;
	return quote_end(w->s, w->name_len + 1) == w->len;
}
