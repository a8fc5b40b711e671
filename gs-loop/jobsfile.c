/* SPDX-License-Identifier: MIT */
#include "gs-loop/jobsfile.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/xalloc.h"

enum {
	STILL_MS = 500, /* a save in several steps is over by then */
	UNSURE_MS = 5000, /* for text that looks unfinished */
	TEXT_MAX = 256 * 1024 * 1024,
};

static bool
same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	    a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	    a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Complain, unless that was the last complaint. */
static void
tell(struct jobsfile *f, const char *what)
{
	if (f->told != NULL && strcmp(f->told, what) == 0)
		return;
	warnx("%s; the last good queue is kept", what);
	free(f->told);
	f->told = xstrdup(what);
}

/*
 * Read it, with the state it was in.  -1 and a reason in `why` if that is
 * impossible.  O_NONBLOCK, so that a FIFO put there cannot hold us.
 */
static int
slurp(const char *path, struct buf *text, struct stat *st, struct buf *why)
{
	int fd, rv = -1;

	*st = (struct stat){0};
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd == -1) {
		buf_printf(why, "%s: %s", path, strerror(errno));
		return -1;
	}
	if (fstat(fd, st) == -1)
		buf_printf(why, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st->st_mode))
		buf_printf(why, "%s: not a regular file", path);
	else if (buf_read_all(text, fd, TEXT_MAX) == -1)
		buf_printf(why, "%s: %s", path, strerror(errno));
	else
		rv = 0;
	close(fd);
	return rv;
}

static int
parse(
    const char *path, const struct buf *text, struct jobs *out, struct buf *why)
{
	struct jobs_err e;

	if (jobs_parse(text->p != NULL ? text->p : "", text->len, out, &e) == 0)
		return 0;
	jobs_err_format(why, path, &e);
	return -1;
}

static bool
unfinished(const struct buf *text)
{
	return text->len == 0 || text->p[text->len - 1] != '\n';
}

static bool
appended(const struct buf *old, const struct buf *new)
{
	return new->len >= old->len && !unfinished(new) && !unfinished(old) &&
	    memcmp(old->p, new->p, old->len) == 0;
}

static void
take(struct jobsfile *f, struct buf *text)
{
	buf_free(&f->text);
	f->text = *text;
	*text = (struct buf){0};
	f->loaded = true;
	f->pending = false;
	free(f->told);
	f->told = NULL;
}

int
jobsfile_open(struct jobsfile *f, const char *path, struct jobs *out)
{
	struct buf text = {0}, why = {0};
	struct timespec now;

	*f = (struct jobsfile){.path = path, .pending = true};
	if (slurp(path, &text, &f->seen, &why) == -1 ||
	    parse(path, &text, out, &why) == -1)
		errx(GS_BAD, "%s", why.p);
	f->seen_ms = clock_ms();
	clock_gettime(CLOCK_REALTIME, &now);
	if (unfinished(&text) &&
	    now.tv_sec - f->seen.st_mtim.tv_sec < UNSURE_MS / 1000) {
		jobs_free(out);
		buf_free(&text);
		return 0;
	}
	take(f, &text);
	return 1;
}

/* Has what we hold to be judged again, or is it too early? */
static bool
ripe(const struct jobsfile *f, const struct buf *text, int64_t now)
{
	if (f->loaded && appended(&f->text, text))
		return true;
	return now - f->seen_ms >= (unfinished(text) ? UNSURE_MS : STILL_MS);
}

int
jobsfile_look(struct jobsfile *f, int64_t now, struct jobs *out)
{
	struct buf text = {0}, why = {0};
	struct stat st;
	int rv = 0;

	if (!f->pending && stat(f->path, &st) == 0 && same(&st, &f->seen))
		return 0;
	rv = slurp(f->path, &text, &st, &why);
	if (!same(&st, &f->seen)) {
		f->seen = st;
		f->seen_ms = now;
	}
	f->pending = true;
	if (rv == -1) {
		if (now - f->seen_ms >= STILL_MS)
			tell(f, why.p);
		rv = 0;
	} else if (ripe(f, &text, now)) {
		if (parse(f->path, &text, out, &why) == 0) {
			take(f, &text);
			rv = 1;
		} else {
			tell(f, why.p);
			f->pending = false; /* judged: wait for a change */
		}
	}
	buf_free(&text);
	buf_free(&why);
	return rv;
}

int64_t
jobsfile_due(const struct jobsfile *f, int64_t now)
{
	int64_t half = f->seen_ms + STILL_MS, full = f->seen_ms + UNSURE_MS;

	if (!f->pending)
		return INT64_MAX;
	/* What is absent for longer is looked for at the pace of --poll. */
	return now < half ? half : now < full ? full : INT64_MAX;
}

bool
jobsfile_settled(const struct jobsfile *f)
{
	return !f->pending || clock_ms() - f->seen_ms >= UNSURE_MS;
}
