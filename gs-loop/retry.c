/* SPDX-License-Identifier: MIT */
#include "gs-loop/retry.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include "gs-loop/loop.h"
#include "gs-loop/usage.h"
#include "lib/buf.h"

enum {
	/* Launchers print up to a hundred lines after the one that matters. */
	TAIL = 256 * 1024,
};

/* A log that cannot be read says nothing. */
static struct oom
scan(const char *path)
{
	struct oom o = {.class = OOM_NO};
	struct buf b = {0};
	struct stat st;
	int fd;

	if (path == NULL)
		return o;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1)
		return o;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > TAIL)
			lseek(fd, st.st_size - TAIL, SEEK_SET);
		/* Something left behind may still write to it. */
		while (b.len < TAIL && buf_read(&b, fd, TAIL - b.len) > 0)
			continue;
		o = oom_scan(b.p != NULL ? b.p : "", b.len);
	}
	close(fd);
	buf_free(&b);
	return o;
}

enum oom_class
retry_class(const struct run *r, const struct job_fold *j)
{
	struct oom o;

	if (j->state != JOB_FAILED ||
	    (j->cause != CAUSE_EXIT && j->cause != CAUSE_SIGNAL))
		return OOM_NO;
	o = scan(j->log);
	return o.class == OOM_WEAK && usage_full(r) ? OOM_YES : o.class;
}

int64_t
retry_limit(const struct loop *l, const struct run *r)
{
	return r->attr.retries >= 0 ? r->attr.retries : l->o->oom_retries;
}

cJSON *
retry_event(const struct loop *l, const struct run *r, const struct job_fold *j)
{
	int64_t most = usage_peak(r);
	cJSON *ev;

	/* A cancelled job is never tried again, however it ended. */
	if (j->cancelling || j->retries >= retry_limit(l, r))
		return NULL;
	if (j->peak > most)
		most = j->peak;
	if (r->attr.vram_mib > most)
		most = r->attr.vram_mib;
	ev = ledger_event("retry", r->id, r->attempt);
	if (most > 0)
		json_int(ev, "vram", most + (most + 3) / 4);
	json_str(ev, "reason", "out of GPU memory");
	return ev;
}
