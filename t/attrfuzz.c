/* SPDX-License-Identifier: MIT */
/*
 * For the tests: parse N blocks made at random of the pieces that blocks are
 * made of.  One that is read must come out of attr_format() unchanged when it
 * is read again; the sanitizers see to the rest.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "lib/attr.h"
#include "lib/buf.h"
#include "lib/unit.h"

static const char *const piece[] = {
    "vram=",
    "gpus=",
    "cpu",
    "light",
    "exclusive",
    "on=",
    "after=",
    "name=",
    "cwd=",
    "eta=",
    "hold",
    " ",
    " ",
    "\t",
    "]",
    "[",
    "\"",
    "\"",
    "\\",
    "=",
    ",",
    "1",
    "0",
    "8G",
    "2h",
    "x",
    "a b",
    "\xc3\xb5",
    "\xff",
    "\x01",
    "\n",
};

static uint64_t seed = UINT64_C(88172645463325252);

static size_t
rnd(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed >> 33) % n;
}

/* Words that often make sense, so that some blocks get through. */
static void
block_make(struct buf *b)
{
	size_t n = rnd(6);

	buf_char(b, '[');
	while (n-- > 0) {
		buf_str(b, piece[rnd(sizeof(piece) / sizeof(piece[0]))]);
		if (rnd(3) == 0)
			buf_str(b, " hold"); /* ends a word */
		if (rnd(3) == 0)
			buf_str(b, "\"");
		if (rnd(4) == 0)
			buf_str(
			    b, piece[rnd(sizeof(piece) / sizeof(piece[0]))]);
	}
	buf_char(b, ']');
}

/* 1 if the block was read. */
static int
try(const char *text)
{
	struct buf one = {0}, two = {0};
	struct attr_err e;
	struct attr a;

	if (attr_parse_all(text, &a, &e) == -1) {
		if (e.msg[0] == '\0')
			errx(1, "%s: no message", text);
		return 0;
	}
	attr_format(&one, &a);
	attr_free(&a);
	if (attr_parse_all(one.p, &a, &e) == -1)
		errx(1, "%s: not read again: %s", one.p, e.msg);
	attr_format(&two, &a);
	attr_free(&a);
	if (strcmp(one.p, two.p) != 0)
		errx(1, "%s: became %s", one.p, two.p);
	buf_free(&one);
	buf_free(&two);
	return 1;
}

int
main(int argc, char *argv[])
{
	const char *errstr = "usage";
	struct buf b = {0};
	int64_t n = 0, i, good = 0;

	if (argc == 2)
		n = unit_num(argv[1], 1, 100000000, &errstr);
	if (errstr != NULL)
		errx(2, "usage: attrfuzz N");
	for (i = 0; i < n; i++) {
		buf_reset(&b);
		block_make(&b);
		good += try(b.p);
	}
	buf_free(&b);
	printf("%lld of %lld were blocks\n", (long long)good, (long long)n);
	return good == 0;
}
