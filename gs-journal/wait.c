/* SPDX-License-Identifier: MIT */
/* wait: until jobs have ended; the status is theirs. */
#include <err.h>
#include <stdlib.h>

#include "gs-journal/live.h"
#include "gs-journal/load.h"
#include "gs-journal/watch.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/xalloc.h"

enum {
	CANCELLED = 130
};

static int
status_of(const struct job_fold *j)
{
	switch (j->state) {
	case JOB_OK:
		return GS_OK;
	case JOB_TIMEOUT:
		return GS_TIMEOUT;
	case JOB_INFEASIBLE:
	case JOB_SKIPPED:
		return GS_FAILED;
	case JOB_CANCELLED:
		return CANCELLED;
	case JOB_PENDING:
	case JOB_RUNNING:
	case JOB_FROZEN:
	case JOB_FAILED:
	case JOB_FAILED_OOM:
		break;
	}
	/* Failed with a status that is unknown, or that says nothing. */
	return j->status > 0 ? (int)j->status : GS_NO;
}

/* The jobs by identity: the fold may move them. */
static char **
ids_of(const struct fold *f, const struct opts *o)
{
	const struct job_fold *j;
	bool missing = false;
	char **id;
	size_t i;

	id = xcalloc(o->narg, sizeof(*id));
	for (i = 0; i < o->narg; i++) {
		j = load_job(f, o->arg[i]);
		if (j == NULL)
			missing = true;
		else
			id[i] = xstrdup(j->id);
	}
	if (missing)
		exit(GS_NO);
	return id;
}

/* The first job from i on that has not ended, or n. */
static size_t
next_open(const struct live *l, char *const *id, size_t n, size_t i)
{
	while (i < n && live_over(l, fold_find(l->f, id[i])))
		i++;
	return i;
}

static void
say_late(const struct job_fold *j)
{
	char *name = load_name(j);

	warnx("job %s: still %s at the time limit", name,
	    state_is_terminal(j->state) ? "not judged" : state_name(j->state));
	free(name);
}

/* Wait for each in turn; the order does not matter to the last one.  False
 * after a message: the time is up. */
static bool
wait_all(struct live *l, const struct opts *o, char *const *id)
{
	const int64_t end = clock_ms() + o->timeout_ms;
	int64_t left = -1;
	size_t i = 0;

	while ((i = next_open(l, id, o->narg, i)) < o->narg) {
		if (o->timeout_ms >= 0 && (left = end - clock_ms()) <= 0) {
			say_late(fold_find(l->f, id[i]));
			return false;
		}
		watch_wait(l->watch, left);
		live_read(l);
	}
	return true;
}

static int
greatest(const struct fold *f, char *const *id, size_t n)
{
	int status = GS_OK, one;
	size_t i;

	for (i = 0; i < n; i++) {
		one = status_of(fold_find(f, id[i]));
		if (one > status)
			status = one;
	}
	return status;
}

int
verb_wait(const struct opts *o)
{
	int status = GS_TIMEOUT;
	struct live l;
	char **id;
	size_t i;

	live_open(&l, o);
	id = ids_of(l.f, o);
	if (wait_all(&l, o, id))
		status = greatest(l.f, id, o->narg);
	for (i = 0; i < o->narg; i++)
		free(id[i]);
	free(id);
	live_close(&l);
	return status;
}
