/* SPDX-License-Identifier: MIT */
/*
 * journaltorn torn FILE: for every length that cuts into the last two of
 * three lines, the journal is read and appended to, and no other line is lost.
 * journaltorn flip: every bit of a line is flipped, and each time it is seen.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/journal.h"

static void
line_add(struct buf *b, const char *text)
{
	cJSON *ev = event_new("note", 1796094836.871);

	json_str(ev, "text", text);
	event_line(b, ev);
	cJSON_Delete(ev);
}

static void
write_lines(const char *path, const struct buf *b)
{
	struct journal j;

	if (journal_lock(&j, path) == -1 || journal_write(&j, b, false) == -1)
		err(1, "%s", path);
	journal_unlock(&j);
}

/* The first letters of the texts of all events. */
static void
read_texts(const char *path, char *out, size_t *damaged)
{
	struct journal_reader r;
	cJSON *ev;
	char *text;

	if (journal_reader_open(&r, path, 0) == -1)
		err(1, "%s", path);
	for (; (ev = journal_next(&r)) != NULL; cJSON_Delete(ev)) {
		text = json_get_str(ev, "text");
		*out++ = text[0];
		free(text);
	}
	*out = '\0';
	*damaged = r.damaged;
	journal_reader_close(&r);
}

static void
expect(const char *path, size_t len, const char *want, size_t want_damaged)
{
	size_t damaged;
	char got[16];

	read_texts(path, got, &damaged);
	if (strcmp(got, want) != 0 || damaged != want_damaged)
		errx(1, "cut at %zu: events %s, damaged %zu; not %s, %zu", len,
		    got, damaged, want, want_damaged);
}

static void
cut(const char *path, const struct buf *b, size_t len, const size_t end[3])
{
	/* A line that only lacks its newline is whole again after it. */
	size_t whole = (len >= end[0]) + (len >= end[1]);
	size_t healed =
	    (len + 1 >= end[0]) + (len + 1 >= end[1]) + (len + 1 >= end[2]);
	bool torn = len != end[0] && len != end[1] && len + 1 != end[0] &&
	    len + 1 != end[1] && len + 1 != end[2];
	struct buf one = {0}, next = {0};
	char want[8] = "abc";

	unlink(path);
	buf_add(&one, b->p, len);
	write_lines(path, &one);
	want[whole] = '\0';
	expect(path, len, want, 0);
	line_add(&next, "next");
	write_lines(path, &next);
	snprintf(want, sizeof(want), "%.*sn", (int)healed, "abc");
	expect(path, len, want, torn);
	buf_free(&one);
	buf_free(&next);
}

static int
torn(const char *path)
{
	const char *const text[3] = {"a", "b", "c"};
	struct buf b = {0};
	size_t end[3], i;

	for (i = 0; i < 3; i++) {
		line_add(&b, text[i]);
		end[i] = b.len;
	}
	for (i = end[0]; i < end[2]; i++)
		cut(path, &b, i, end);
	buf_free(&b);
	return 0;
}

static int
flip(void)
{
	struct buf b = {0};
	cJSON *ev;
	size_t i;

	line_add(&b, "\xc3\xa9t\xc3\xa9");
	ev = event_parse(b.p, b.len - 1);
	if (ev == NULL)
		errx(1, "a whole line is taken for damage");
	cJSON_Delete(ev);
	for (i = 0; i < 8 * (b.len - 1); i++) {
		b.p[i / 8] ^= (char)(1 << i % 8);
		if ((ev = event_parse(b.p, b.len - 1)) != NULL)
			errx(1, "bit %zu of byte %zu: not seen", i % 8, i / 8);
		b.p[i / 8] ^= (char)(1 << i % 8);
	}
	buf_free(&b);
	return 0;
}

int
main(int argc, char *argv[])
{
	if (argc == 3 && strcmp(argv[1], "torn") == 0)
		return torn(argv[2]);
	if (argc == 2 && strcmp(argv[1], "flip") == 0)
		return flip();
	errx(2, "usage: journaltorn torn FILE | flip");
}
