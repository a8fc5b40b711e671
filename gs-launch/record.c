/* SPDX-License-Identifier: MIT */
#include "gs-launch/record.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>

#include "lib/journal.h"

enum {
	PAUSE_FIRST_MS = 100,
	PAUSE_MOST_MS = 5000,
};

/* Is it the journal that the attempt was claimed in? */
static bool
is_ours(const struct record *r, int fd)
{
	struct stat ours, there;

	return r->claimed == -1 ||
	    (fstat(r->claimed, &ours) == 0 && fstat(fd, &there) == 0 &&
		ours.st_ino == there.st_ino && ours.st_dev == there.st_dev);
}

/* 0; 1 if the journal is not there any more, -1 if it cannot be written. */
static int
append(struct record *r)
{
	struct journal j;
	int rv, saved;

	if (journal_lock(&j, r->path) == -1)
		return -1;
	/* In another one the same attempt is another process. */
	if (!is_ours(r, j.fd)) {
		journal_unlock(&j);
		return 1;
	}
	rv = journal_write(&j, &r->due, true);
	saved = errno;
	journal_unlock(&j);
	errno = saved;
	return rv;
}

void
record_init(struct record *r, const char *path)
{
	*r = (struct record){
	    .path = path, .claimed = -1, .at = -1, .pause_ms = PAUSE_FIRST_MS};
}

void
record_bind(struct record *r)
{
	/* Held open, or its inode could be given to the next journal. */
	if (r->path != NULL)
		r->claimed = open(r->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

void
record_add(struct record *r, cJSON *ev, int64_t now)
{
	if (r->path != NULL) {
		event_line(&r->due, ev);
		r->at = now;
		record_step(r, now);
	}
	cJSON_Delete(ev);
}

void
record_step(struct record *r, int64_t now)
{
	int rv;

	if (r->at == -1 || now < r->at)
		return;
	rv = append(r);
	if (rv == 1)
		warnx("%s: is another one now; the end of the job is lost",
		    r->path);
	if (rv != -1) {
		buf_reset(&r->due);
		r->at = -1;
		r->pause_ms = PAUSE_FIRST_MS;
		r->warned = false;
		return;
	}
	if (!r->warned)
		warn("%s: the end of the job is not recorded yet", r->path);
	r->warned = true;
	r->at = now + r->pause_ms;
	r->pause_ms *= 2;
	if (r->pause_ms > PAUSE_MOST_MS)
		r->pause_ms = PAUSE_MOST_MS;
}
