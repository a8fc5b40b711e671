/* SPDX-License-Identifier: MIT */
/* log: the output of a job, byte for byte. */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-journal/history.h"
#include "gs-journal/live.h"
#include "gs-journal/load.h"
#include "gs-journal/watch.h"
#include "lib/gs.h"
#include "lib/xalloc.h"

enum {
	BLOCK = 64 * 1024
};

/* One attempt's log, while it is printed. */
struct tail {
	char *id;
	int64_t attempt;
	char *path;
	int fd;
};

static ssize_t
read_at(const struct tail *t, char *to, size_t n, off_t at)
{
	ssize_t got;

	do
		got = pread(t->fd, to, n, at);
	while (got == -1 && errno == EINTR);
	if (got == -1)
		err(GS_BAD, "%s", t->path);
	return got;
}

/* Where the last n lines begin.  A newline at the very end ends a line and
 * begins none. */
static off_t
last_lines(const struct tail *t, off_t size, int64_t n)
{
	static char block[BLOCK];
	off_t at = size;
	ssize_t i, got;

	if (n == 0)
		return size;
	while (at > 0) {
		got = at < BLOCK ? (ssize_t)at : BLOCK;
		at -= got;
		got = read_at(t, block, (size_t)got, at);
		for (i = got - 1; i >= 0; i--)
			if (block[i] == '\n' && at + i + 1 < size && --n == 0)
				return at + i + 1;
	}
	return 0;
}

static void
skip_to_last(const struct tail *t, int64_t n)
{
	struct stat st;

	if (fstat(t->fd, &st) == -1 ||
	    lseek(t->fd, last_lines(t, st.st_size, n), SEEK_SET) == -1)
		err(GS_BAD, "%s", t->path);
}

/* Print on to the present end. */
static void
copy(const struct tail *t)
{
	static char block[BLOCK];
	ssize_t n;

	for (;;) {
		n = read(t->fd, block, sizeof(block));
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			err(GS_BAD, "%s", t->path);
		if (n == 0)
			return;
		if (fd_write(STDOUT_FILENO, block, (size_t)n) == -1)
			err(GS_BAD, "stdout");
	}
}

/* O_NONBLOCK: should somebody have put a FIFO there, do not wait for it. */
static void
tail_open(struct tail *t)
{
	t->fd = open(t->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->fd == -1)
		err(GS_BAD, "%s", t->path);
}

/* Until it has an attempt, or cannot get one. */
static struct job_fold *
wait_start(struct live *l, const char *id)
{
	struct job_fold *j;

	while ((j = fold_find(l->f, id))->attempt == 0 && !live_over(l, j)) {
		watch_wait(l->watch, -1);
		live_read(l);
	}
	return j;
}

/* Which attempt, and where its log is.  False after a message. */
static bool
tail_choose(struct tail *t, const struct opts *o, const struct job_fold *j)
{
	const struct attempt *a;
	struct history h;
	char *name = load_name(j);

	t->attempt = o->attempt == -1 ? j->attempt : o->attempt;
	history_read(&h, o, j->id);
	a = history_find(&h, t->attempt);
	if (a != NULL && a->log != NULL)
		t->path = xstrdup(a->log);
	else if (a != NULL)
		warnx("job %s: its attempt %lld has no log", name,
		    (long long)t->attempt);
	else if (j->attempt == 0)
		warnx("job %s: it has not been started (%s)", name,
		    state_name(j->state));
	else
		warnx("job %s: no attempt %lld", name, (long long)t->attempt);
	history_free(&h);
	free(name);
	return t->path != NULL;
}

/* The end is known before the last look, so nothing can come behind it. */
static void
follow(const struct tail *t, struct live *l)
{
	const struct job_fold *j;
	bool over;

	watch_add(l->watch, t->path);
	do {
		live_read(l);
		j = fold_find(l->f, t->id);
		over = !j->open || j->attempt > t->attempt;
		copy(t);
		if (!over)
			watch_wait(l->watch, -1);
	} while (!over);
}

static void
print(struct tail *t, struct live *l, const struct opts *o)
{
	tail_open(t);
	if (o->lines != -1)
		skip_to_last(t, o->lines);
	if (o->follow)
		follow(t, l);
	else
		copy(t);
	close(t->fd);
}

int
verb_log(const struct opts *o)
{
	struct tail t = {.fd = -1};
	struct job_fold *j;
	int status = GS_NO;
	struct live l;

	live_open(&l, o);
	j = load_job(l.f, o->arg[0]);
	if (j != NULL) {
		t.id = xstrdup(j->id);
		if (o->follow)
			j = wait_start(&l, t.id);
	}
	if (j != NULL && tail_choose(&t, o, j)) {
		print(&t, &l, o);
		status = GS_OK;
	}
	free(t.id);
	free(t.path);
	live_close(&l);
	return status;
}
