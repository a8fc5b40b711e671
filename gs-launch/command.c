/* SPDX-License-Identifier: MIT */
#include "gs-launch/command.h"

#include <string.h>

#include "lib/buf.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789%+,-./:=@_";

/* One word, in single quotes if it needs any. */
static void
word(struct buf *b, const char *s)
{
	if (*s != '\0' && s[strspn(s, plain)] == '\0') {
		buf_str(b, s);
		return;
	}
	buf_char(b, '\'');
	for (; *s != '\0'; s++)
		if (*s == '\'')
			buf_str(b, "'\\''");
		else
			buf_char(b, *s);
	buf_char(b, '\'');
}

char *
command_text(char *const *argv)
{
	struct buf b = {0};
	size_t i;

	for (i = 0; argv[i] != NULL; i++) {
		if (i > 0)
			buf_char(&b, ' ');
		word(&b, argv[i]);
	}
	return b.p;
}
