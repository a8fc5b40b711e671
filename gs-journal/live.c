/* SPDX-License-Identifier: MIT */
#include "gs-journal/live.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-journal/load.h"
#include "gs-journal/watch.h"
#include "lib/gs.h"
#include "lib/xalloc.h"

static char *
lock_path(const char *journal)
{
	const char *slash = strrchr(journal, '/');

	if (slash == NULL)
		return xstrdup("lock");
	return xasprintf("%.*s/lock", (int)(slash - journal), journal);
}

void
live_open(struct live *l, const struct opts *o)
{
	load_open(o, &l->r);
	l->f = fold_new();
	l->lock = lock_path(o->path);
	/* Watched before it is read, so that nothing falls between. */
	l->watch = watch_open();
	watch_add(l->watch, o->path);
	load_more(&l->r, l->f);
	load_damage(&l->r);
}

void
live_read(struct live *l)
{
	struct stat ours, now;

	load_more(&l->r, l->f);
	if (fstat(l->r.fd, &ours) == -1)
		err(GS_BAD, "%s", l->r.path);
	if (stat(l->r.path, &now) == -1 || ours.st_ino != now.st_ino ||
	    ours.st_dev != now.st_dev)
		errx(GS_BAD, "%s: it was moved away", l->r.path);
}

/* Does a gs-loop live in the log directory?  It locks this file. */
static bool
loop_lives(const struct live *l)
{
	int fd = open(l->lock, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	bool held;

	if (fd == -1)
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

bool
live_over(const struct live *l, const struct job_fold *j)
{
	return state_is_terminal(j->state) && (j->settled || !loop_lives(l));
}

void
live_close(struct live *l)
{
	journal_reader_close(&l->r);
	fold_free(l->f);
	free(l->lock);
	if (l->watch != -1)
		close(l->watch);
}
