/* SPDX-License-Identifier: MIT */
/*
 * Reading the journal, lib/journal.h.  A reader takes no lock, so a writer
 * that fails may cut off again what the reader has already seen of a line.
 * Hence nothing behind the last newline is kept from one call to the next: it
 * is read again from where the line begins.
 */
#include "lib/journal.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/xalloc.h"

enum {
	BLOCK = 256 * 1024
};

/* O_NONBLOCK, so that a planted FIFO is an error and not a wait. */
static int
reader_try(struct journal_reader *r)
{
	struct stat st;
	int saved = 0;

	r->fd = open(
	    r->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (r->fd == -1)
		return errno == ENOENT ? 0 : -1;
	if (fstat(r->fd, &st) == -1)
		saved = errno;
	else if (!S_ISREG(st.st_mode))
		saved = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	if (saved == 0)
		return 0;
	close(r->fd);
	r->fd = -1;
	errno = saved;
	return -1;
}

int
journal_reader_open(struct journal_reader *r, const char *path, off_t off)
{
	int saved;

	*r = (struct journal_reader){.fd = -1, .off = off};
	r->path = xstrdup(path);
	if (reader_try(r) == 0)
		return 0;
	saved = errno;
	journal_reader_close(r);
	errno = saved;
	return -1;
}

/* Go on where the file ends now, if it ends in front of our place. */
static void
follow_shrink(struct journal_reader *r)
{
	struct stat st;

	if (fstat(r->fd, &st) == -1 || st.st_size >= r->off)
		return;
	r->off = st.st_size;
	r->skipping = false;
}

/* Read on behind what is buffered; 0 if there is nothing more now. */
static bool
fill(struct journal_reader *r)
{
	ssize_t n;

	buf_eat(&r->in, r->pos);
	r->pos = 0;
	if (r->in.len == 0)
		follow_shrink(r);
	if (lseek(r->fd, r->off + (off_t)r->in.len, SEEK_SET) == -1)
		return false;
	n = buf_read(&r->in, r->fd, BLOCK);
	if (n > 0)
		return true;
	buf_reset(&r->in);
	return false;
}

/* Pass n bytes. */
static void
pass(struct journal_reader *r, size_t n)
{
	r->pos += n;
	r->off += (off_t)n;
}

/*
 * The length of the next line, without its newline; -1 if there is no whole
 * one now.  Of a line that is too long only the last piece is given.
 */
static ssize_t
line_find(struct journal_reader *r)
{
	size_t done = 0, left;
	char *lf;

	for (;;) {
		left = r->in.len - r->pos;
		lf = left == done
		    ? NULL
		    : memchr(r->in.p + r->pos + done, '\n', left - done);
		if (lf != NULL)
			return lf - (r->in.p + r->pos);
		done = left;
		if (left > JOURNAL_LINE_MAX) {
			r->skipping = true;
			pass(r, left);
			done = 0;
		}
		if (!fill(r))
			return -1;
	}
}

int
journal_next_line(struct journal_reader *r, cJSON **ev)
{
	ssize_t n;

	*ev = NULL;
	if (r->fd == -1 && (reader_try(r) == -1 || r->fd == -1))
		return 0;
	n = line_find(r);
	if (n == -1)
		return 0;
	r->text = NULL;
	r->len = (size_t)n;
	if (!r->skipping && n <= JOURNAL_LINE_MAX) {
		r->text = r->in.p + r->pos;
		*ev = event_parse(r->text, r->len);
	}
	r->skipping = false;
	pass(r, (size_t)n + 1);
	r->line++;
	if (*ev == NULL) {
		r->damaged++;
		if (r->first_damaged == 0)
			r->first_damaged = r->line;
	}
	return 1;
}

cJSON *
journal_next(struct journal_reader *r)
{
	cJSON *ev;

	while (journal_next_line(r, &ev) == 1)
		if (ev != NULL)
			return ev;
	return NULL;
}

void
journal_reader_close(struct journal_reader *r)
{
	if (r->fd != -1)
		close(r->fd);
	free(r->path);
	buf_free(&r->in);
	*r = (struct journal_reader){.fd = -1};
}
