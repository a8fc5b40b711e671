/* SPDX-License-Identifier: MIT */
#include "lib/esc.h"

#include <string.h>

#include "lib/buf.h"

static void
esc_byte(struct buf *b, unsigned char c)
{
	switch (c) {
	case '\t':
		buf_str(b, "\\t");
		break;
	case '\n':
		buf_str(b, "\\n");
		break;
	case '\r':
		buf_str(b, "\\r");
		break;
	case '\\':
		buf_str(b, "\\\\");
		break;
	default:
		if (c < 0x20 || c == 0x7f)
			buf_printf(b, "\\%03o", c);
		else
			buf_char(b, (char)c);
	}
}

void
esc_add(struct buf *b, const char *s, size_t n)
{
	size_t i;

	if (n == 1 && s[0] == '-') {
		buf_str(b, "\\-");
		return;
	}
	for (i = 0; i < n; i++)
		esc_byte(b, (unsigned char)s[i]);
}

/* One escape behind its backslash; its length, or 0 if it is none. */
static size_t
undo_one(const char *s, size_t n, char *out)
{
	static const char from[] = "tnr\\-", to[] = "\t\n\r\\-";
	const char *at;
	int v;

	if (n == 0)
		return 0;
	at = memchr(from, s[0], sizeof(from) - 1);
	if (at != NULL) {
		*out = to[at - from];
		return 1;
	}
	if (n < 3 || s[0] < '0' || s[0] > '3' || s[1] < '0' || s[1] > '7' ||
	    s[2] < '0' || s[2] > '7')
		return 0;
	v = (s[0] - '0') * 64 + (s[1] - '0') * 8 + (s[2] - '0');
	*out = (char)v;
	return v == 0 ? 0 : 3;
}

int
esc_undo(char *s, size_t n)
{
	size_t i, o, len;

	for (i = o = 0; i < n; o++) {
		if (s[i] != '\\') {
			s[o] = s[i++];
			continue;
		}
		len = undo_one(s + i + 1, n - i - 1, s + o);
		if (len == 0)
			return -1;
		i += 1 + len;
	}
	s[o] = '\0';
	return (int)o;
}

/* Length of the UTF-8 character at s, or 0 if there is none (RFC 3629). */
static size_t
utf8_len(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;
	unsigned char lo = 0x80, hi = 0xbf;
	size_t len, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len > n)
		return 0;
	if (s[0] == 0xe0)
		lo = 0xa0; /* overlong below */
	else if (s[0] == 0xed)
		hi = 0x9f; /* surrogates above */
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

int
esc_is_utf8(const char *s, size_t n)
{
	size_t i, len;

	for (i = 0; i < n; i += len)
		if ((len = utf8_len(s + i, n - i)) == 0)
			return 0;
	return 1;
}

/*
 * Append the next character as it may be shown and say how many bytes it took
 * and columns it fills.  Every character counts as one column, which is wrong
 * for wide ones only in how far they reach.
 */
static size_t
show_one(struct buf *b, const char *s, size_t n, size_t *cols)
{
	size_t len = utf8_len(s, n), from = b->len;
	unsigned char c = (unsigned char)s[0];

	/* U+0080..U+009F are control characters to a terminal, too. */
	if (len == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0)
		len = 0;
	if (len > 1) {
		buf_add(b, s, len);
		*cols = 1;
		return len;
	}
	if (len == 0)
		buf_printf(b, "\\%03o", c);
	else if (c == '\\')
		buf_char(b, '\\');
	else
		esc_byte(b, c);
	*cols = b->len - from;
	return 1;
}

void
esc_show(struct buf *b, const char *s, size_t cols)
{
	size_t n = strlen(s), i, used, one, len, fit;

	used = 0;
	fit = b->len; /* where a cut would leave room for "..." */
	for (i = 0; i < n; i += len) {
		if (used + 3 <= cols)
			fit = b->len;
		len = show_one(b, s + i, n - i, &one);
		used += one;
		if (cols > 0 && used > cols) {
			b->len = fit;
			buf_str(b, "...");
			return;
		}
	}
}
