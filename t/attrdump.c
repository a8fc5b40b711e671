/* SPDX-License-Identifier: MIT */
/*
 * For the tests: read attribute blocks, one a line, and print each as it is
 * written again, or what is wrong with it.  The second reading must give the
 * same text.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attr.h"
#include "lib/buf.h"

static void
again(const char *text)
{
	struct attr_err e;
	struct buf b = {0};
	struct attr a;

	if (attr_parse_all(text, &a, &e) == -1)
		errx(1, "%s: not read again: '%s': %s", text, e.word, e.msg);
	attr_format(&b, &a);
	if (strcmp(b.p, text) != 0)
		errx(1, "%s: became %s", text, b.p);
	attr_free(&a);
	buf_free(&b);
}

static void
dump(const char *line)
{
	struct attr_err e;
	struct buf b = {0};
	struct attr a;

	if (attr_parse_all(line, &a, &e) == -1) {
		printf("error '%s': %s\n", e.word, e.msg);
		return;
	}
	attr_format(&b, &a);
	puts(b.p);
	again(b.p);
	attr_free(&a);
	buf_free(&b);
}

int
main(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		dump(line);
	}
	free(line);
	return fflush(stdout) == EOF;
}
