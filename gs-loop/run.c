/* SPDX-License-Identifier: MIT */
/*
 * The life of an attempt behind its launch: watched through a pidfd, judged
 * when the journal has its exit, forgotten when its supervisor has ended.
 * What happens without a supervisor is in orphan.c.
 */
#include "gs-loop/run.h"

#include <sys/pidfd.h>

#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-loop/loop.h"
#include "gs-loop/orphan.h"
#include "gs-loop/retry.h"
#include "gs-loop/say.h"
#include "gs-loop/usage.h"
#include "lib/procfs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

void
runs_init(struct runs *rs)
{
	TAILQ_INIT(&rs->list);
	rs->n = 0;
}

struct run *
runs_find(const struct runs *rs, const char *id)
{
	struct run *r;

	TAILQ_FOREACH(r, &rs->list, link)
		if (strcmp(r->id, id) == 0)
			return r;
	return NULL;
}

/* The GPUs of a run, for what is measured on them. */
static void
set_gpus(struct run *r, const char *gpus, const char *uuids)
{
	char *g, *u, *gs, *us, *gword, *uword;
	const char *errstr;

	if (gpus == NULL || uuids == NULL)
		return;
	r->gpus = xstrdup(gpus);
	gs = g = xstrdup(gpus);
	us = u = xstrdup(uuids);
	while ((gword = strsep(&g, ",")) != NULL &&
	    (uword = strsep(&u, ",")) != NULL) {
		r->use = xreallocarray(r->use, r->nuse + 1, sizeof(*r->use));
		r->use[r->nuse++] = (struct gpu_use){
		    .uuid = xstrdup(uword),
		    .index = unit_num(gword, 0, INT32_MAX, &errstr),
		    .now = -1,
		    .peak = -1,
		    .kept = -1,
		};
	}
	free(gs);
	free(us);
}

struct run *
run_new(struct loop *l, const char *id, const char *gpus, const char *uuids)
{
	struct run *r = xcalloc(1, sizeof(*r));

	r->src.fd = -1;
	r->id = xstrdup(id);
	r->supervisor = r->pgid = -1;
	r->check_at = INT64_MAX;
	attr_init(&r->attr);
	set_gpus(r, gpus, uuids);
	TAILQ_INSERT_TAIL(&l->runs.list, r, link);
	l->runs.n++;
	return r;
}

void
run_free(struct loop *l, struct run *r)
{
	size_t i;

	loop_close(l, &r->src);
	TAILQ_REMOVE(&l->runs.list, r, link);
	l->runs.n--;
	for (i = 0; i < r->nuse; i++)
		free(r->use[i].uuid);
	free(r->use);
	frames_free(&r->report);
	attr_free(&r->attr);
	free(r->gpus);
	free(r->cmd);
	free(r->id);
	free(r);
	l->ask = true;
	loop_changed(l);
}

/* The supervisor has ended.  Nearly always the journal has the exit. */
static void
supervisor_gone(struct loop *l, struct run *r)
{
	struct job_fold *j;

	loop_close(l, &r->src);
	r->supervisor = -1;
	ledger_pull(&l->ledger);
	j = fold_find(l->ledger.fold, r->id);
	if (j != NULL && j->open && j->attempt == r->attempt)
		orphan_adopt(l, r);
	l->settle = true;
}

static void
guard_ready(struct loop *l, void *arg)
{
	supervisor_gone(l, arg);
}

void
run_guard(struct loop *l, struct run *r)
{
	r->phase = RUN_GUARDED;
	if (procfs_alive((pid_t)r->supervisor, r->sup_start))
		r->src.fd = pidfd_open((pid_t)r->supervisor, 0);
	/* Between the two it may have ended and its number been reused. */
	if (r->src.fd == -1 ||
	    !procfs_alive((pid_t)r->supervisor, r->sup_start)) {
		supervisor_gone(l, r);
		return;
	}
	r->src.ready = guard_ready;
	r->src.arg = r;
	loop_watch(l, &r->src);
	if (l->mode == LOOP_STOPPING)
		run_interrupt(l, r);
	else if (r->stop)
		run_stop(l, r);
}

void
run_stop(struct loop *l, struct run *r)
{
	r->stop = true;
	switch (r->phase) {
	case RUN_LAUNCHING:
		break; /* run_guard comes back to it */
	case RUN_GUARDED:
		if (r->src.fd == -1)
			break;
		pidfd_send_signal(r->src.fd, SIGTERM, NULL, 0);
		/* A job may have stopped its supervisor. */
		pidfd_send_signal(r->src.fd, SIGCONT, NULL, 0);
		break;
	case RUN_ORPHAN:
		orphan_stop(l, r);
		break;
	}
}

int
run_interrupted(struct loop *l, const struct run *r, const char *why)
{
	cJSON *ev = ledger_event("interrupted", r->id, r->attempt);

	json_str(ev, "why", why);
	return ledger_append(&l->ledger, ev, true);
}

void
run_interrupt(struct loop *l, struct run *r)
{
	/* Of an attempt that may not exist yet there is nothing to record. */
	if (r->phase == RUN_LAUNCHING)
		return;
	if (!r->stop && run_interrupted(l, r, "stop") == -1)
		warnx("job %lld will count as failed", (long long)r->no);
	run_stop(l, r);
}

void
run_cancel(struct loop *l, struct run *r)
{
	if (!r->stop) {
		say_cancelling(l, r);
		run_stop(l, r);
	}
}

static void
announce(struct loop *l, struct run *r)
{
	if (r->announced)
		return;
	r->announced = true;
	if (r->attempt == 1)
		queue_dispatched(l);
	say_started(l, r);
}

void
runs_announce(struct loop *l)
{
	struct run *r;

	TAILQ_FOREACH(r, &l->runs.list, link) {
		if (r->phase == RUN_LAUNCHING)
			return;
		announce(l, r);
	}
}

/* The `done` event: the verdict on a job, once for all. */
static cJSON *
done_event(const struct loop *l, const struct run *r, const struct job_fold *j,
    enum oom_class oom)
{
	cJSON *ev = ledger_event("done", r->id, r->attempt);
	struct buf verdict = {0};

	json_str(ev, "state",
	    state_name(oom == OOM_YES ? JOB_FAILED_OOM : j->state));
	json_int(ev, "status", j->status);
	if (oom != OOM_NO)
		json_str(ev, "oom", oom_name(oom));
	usage_peaks(ev, r, false);
	json_int(ev, "util", usage_util(r));
	usage_verdict(&verdict, r, l->o->tolerance_ppm);
	json_str(ev, "verdict", verdict.p);
	buf_free(&verdict);
	return ev;
}

/* The verdict goes into the journal: it is over, or tried again. */
static int
conclude(struct loop *l, const struct run *r, const struct job_fold *j)
{
	enum oom_class oom = retry_class(r, j);
	cJSON *ev = oom == OOM_YES ? retry_event(l, r, j) : NULL;

	if (ev == NULL)
		ev = done_event(l, r, j, oom);
	return ledger_append(&l->ledger, ev, true);
}

/*
 * Judge the end of an attempt.  What was stopped on purpose is over only when
 * its last process is gone, so that "cancelled" is a fact.
 */
static void
judge(struct loop *l, struct run *r)
{
	struct job_fold *j = fold_find(l->ledger.fold, r->id);
	int64_t retries = j->retries;
	bool by_itself = j->cause != CAUSE_STOPPED && j->cause != CAUSE_TIMEOUT;

	if (!by_itself && r->supervisor != -1)
		return;
	if (state_is_terminal(j->state) && !j->settled) {
		if (conclude(l, r, j) == -1) {
			loop_retry(l);
			return;
		}
		j = fold_find(l->ledger.fold, r->id);
	}
	announce(l, r); /* it may have been quicker than one before it */
	if (j->retries > retries)
		say_retry(l, r, j);
	else
		say_ended(l, r, j);
	r->told = true;
	loop_ended(l, j->state);
	/* Others may wait for it; or it waits again, and needs more. */
	l->queue.news |= l->queue.chained || !state_is_terminal(j->state);
}

void
runs_settle(struct loop *l)
{
	struct run *r, *next;
	struct job_fold *j;

	l->settle = l->ledger.news = false;
	TAILQ_FOREACH_SAFE(r, &l->runs.list, link, next) {
		j = fold_find(l->ledger.fold, r->id);
		if (r->phase == RUN_LAUNCHING || j == NULL)
			continue;
		if (j->open && j->attempt == r->attempt) {
			if (j->cancelling)
				run_cancel(l, r);
			continue;
		}
		if (!r->told)
			judge(l, r);
		if (r->told && r->supervisor == -1 && !orphan_remains(l, r)) {
			run_free(l, r);
			probe_demand(l);
		}
	}
}
