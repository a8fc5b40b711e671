/* SPDX-License-Identifier: MIT */
/*
 * For the tests of the record stream.
 *
 * recdump copy N: read frames from stdin, N bytes at a time, write them again
 * recdump key TAG NAME: that key of each record of that tag
 * recdump cut: stdin is one frame; every shorter piece of it must be refused
 * recdump fuzz N: N fields of random bytes must come back as they were
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rec.h"
#include "lib/unit.h"

static uint64_t seed = UINT64_C(88172645463325252);

static size_t
rnd(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed >> 33) % n;
}

static void
input(struct buf *b)
{
	if (buf_read_all(b, STDIN_FILENO, (size_t)1 << 26) == -1)
		err(2, "stdin");
}

static void
frame_copy(const struct frame *f)
{
	struct recw w = {0};
	size_t i;

	recw_frame(&w, rec_field(&f->head, 2));
	recw_kstr(&w, "time", rec_key(&f->head, "time"));
	for (i = 0; i < f->n; i++)
		recw_copy(&w, &f->rec[i]);
	recw_end(&w);
	if (recw_flush(&w, STDOUT_FILENO) == -1)
		err(2, "stdout");
	recw_free(&w);
}

static void
frame_keys(const struct frame *f, const char *tag, const char *name)
{
	const char *v;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (rec_is(&f->rec[i], tag)) {
			v = rec_key(&f->rec[i], name);
			puts(v != NULL ? v : "(none)");
		}
}

/* Read all of stdin in pieces; copy frames, or print a key of their records. */
static void
stream(size_t piece, const char *tag, const char *name)
{
	struct frames fs = {0};
	struct buf in = {0};
	struct frame f;
	size_t at, n;
	int got = 0;

	input(&in);
	for (at = 0; at < in.len && got != -1; at += n) {
		n = in.len - at < piece ? in.len - at : piece;
		frames_feed(&fs, in.p + at, n);
		while ((got = frames_next(&fs, &f)) == 1) {
			if (tag != NULL)
				frame_keys(&f, tag, name);
			else
				frame_copy(&f);
			frame_free(&f);
		}
	}
	if (got == -1 || frames_end(&fs) == -1)
		errx(2, "%s", fs.err);
	frames_free(&fs);
	buf_free(&in);
}

/* Is there a frame in the first n bytes, or an end that is no error? */
static int
accepts(const struct buf *in, size_t n)
{
	struct frames fs = {0};
	struct frame f;
	int got;

	frames_feed(&fs, in->p, n);
	got = frames_next(&fs, &f);
	if (got == 1)
		frame_free(&f);
	if (got == 0 && frames_end(&fs) == 0)
		got = 1;
	frames_free(&fs);
	return got == 1;
}

static void
cut(void)
{
	struct buf in = {0};
	size_t n;

	input(&in);
	for (n = 0; n < in.len; n++)
		if (accepts(&in, n))
			errx(1, "accepted when cut after %zu bytes", n);
	if (!accepts(&in, n))
		errx(1, "the whole is not accepted");
	printf("%zu cuts refused\n", n);
	buf_free(&in);
}

/* Bytes that mean something, more often than others; never NUL. */
static void
text_make(char *s, size_t max)
{
	static const char odd[] = "\t\n\r\\-=#\x01\x1f\x7f\xff";
	size_t n = rnd(max), i;

	for (i = 0; i < n; i++)
		s[i] =
		    rnd(2) ? odd[rnd(sizeof(odd) - 1)] : (char)(1 + rnd(255));
	s[n] = '\0';
}

static void
fuzz_one(void)
{
	char id[8], text[12];
	struct frames fs = {0};
	struct recw w = {0};
	struct frame f;

	text_make(id, sizeof(id));
	text_make(text, sizeof(text));
	recw_frame(&w, "recdump");
	recw_rec(&w, "wait");
	recw_str(&w, id);
	recw_str(&w, NULL);
	recw_kstr(&w, "text", text);
	recw_end(&w);
	frames_feed(&fs, w.buf.p, w.buf.len);
	if (frames_next(&fs, &f) != 1)
		errx(1, "refused: %s: %s", w.buf.p, fs.err);
	if (f.n != 1 || strcmp(rec_field(&f.rec[0], 1), id) != 0 ||
	    rec_field(&f.rec[0], 2) != NULL ||
	    strcmp(rec_key(&f.rec[0], "text"), text) != 0)
		errx(1, "not the same: %s", w.buf.p);
	frame_free(&f);
	frames_free(&fs);
	recw_free(&w);
}

int
main(int argc, char *argv[])
{
	const char *mode = argc > 1 ? argv[1] : "", *errstr = NULL;
	int64_t n = 0;

	if (argc == 3)
		n = unit_num(argv[2], 1, INT32_MAX, &errstr);
	if (errstr != NULL)
		errx(2, "'%s': %s", argv[2], errstr);
	if (strcmp(mode, "copy") == 0 && argc == 3)
		stream((size_t)n, NULL, NULL);
	else if (strcmp(mode, "key") == 0 && argc == 4)
		stream(SIZE_MAX, argv[2], argv[3]);
	else if (strcmp(mode, "cut") == 0 && argc == 2)
		cut();
	else if (strcmp(mode, "fuzz") == 0 && argc == 3)
		while (n-- > 0)
			fuzz_one();
	else
		errx(2, "usage: recdump copy N | key TAG NAME | cut | fuzz N");
	return fflush(stdout) == EOF;
}
