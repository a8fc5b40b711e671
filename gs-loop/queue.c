/* SPDX-License-Identifier: MIT */
#include "gs-loop/queue.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "lib/gs.h"
#include "lib/xalloc.h"

static void
shapes_free(struct queue *q)
{
	size_t i;

	for (i = 0; i < q->nshape; i++) {
		free(q->shape[i].attrs);
		free(q->shape[i].reason);
		free(q->shape[i].text);
	}
	free(q->shape);
	q->shape = NULL;
	q->nshape = 0;
}

void
shape_format(struct buf *b, const struct attr *a)
{
	struct attr bare = *a;

	bare.after = NULL;
	bare.nafter = 0;
	bare.name = bare.tag = bare.cwd = bare.env = NULL;
	bare.cancel = bare.hold = bare.linger = false;
	bare.restartable = bare.resumable = false;
	bare.retries = -1;
	attr_format(b, &bare);
}

/*
 * A file has few shapes, and neighbours tend to be of the same one, so the
 * search begins with the latest.
 */
static size_t
shape_of(struct queue *q, const struct attr *a, int64_t vram)
{
	struct attr in_force = *a;
	struct buf b = {0};
	size_t i;

	in_force.vram_mib = vram;
	shape_format(&b, &in_force);
	for (i = q->nshape; i-- > 0;)
		if (strcmp(q->shape[i].attrs, b.p) == 0) {
			buf_free(&b);
			return i;
		}
	q->shape = xreallocarray(q->shape, q->nshape + 1, sizeof(*q->shape));
	q->shape[q->nshape] = (struct shape){.attrs = b.p};
	return q->nshape++;
}

int64_t
queue_vram(const struct loop *l, const struct line *line)
{
	const struct job_fold *j = fold_find(l->ledger.fold, line->job.id);

	return j != NULL && j->retries > 0 ? j->vram : line->job.attr.vram_mib;
}

/* A retry may have changed what it needs. */
static void
reshape(struct loop *l, struct line *line)
{
	int64_t vram = queue_vram(l, line);

	if (vram == line->vram)
		return;
	line->vram = vram;
	line->shape = shape_of(&l->queue, &line->job.attr, vram);
}

void
queue_take(struct loop *l, struct jobs *jobs)
{
	struct queue *q = &l->queue;
	struct job_fold *j;
	size_t i;

	shapes_free(q);
	free(q->v);
	jobs_free(&q->jobs);
	q->jobs = *jobs;
	q->n = jobs->n;
	q->v = xcalloc(q->n, sizeof(*q->v));
	q->dispatched = 0;
	q->chained = false;
	q->generation++;
	q->news = true;
	for (i = 0; i < q->n; i++) {
		q->v[i].job = q->jobs.v[i];
		q->v[i].vram = queue_vram(l, &q->v[i]);
		q->v[i].shape = shape_of(q, &q->v[i].job.attr, q->v[i].vram);
		q->chained |= q->v[i].job.attr.nafter > 0;
		j = fold_find(l->ledger.fold, q->v[i].job.id);
		if (j != NULL &&
		    (j->attempt > 0 || state_is_terminal(j->state)))
			q->dispatched++;
	}
	l->ask = true;
	loop_changed(l);
}

void
queue_dispatched(struct loop *l)
{
	l->queue.dispatched++;
}

static enum line_is
judge_after(struct loop *l, const struct attr *a)
{
	enum line_is is = LINE_READY;
	struct job_fold *j;
	size_t i;

	for (i = 0; i < a->nafter; i++) {
		j = fold_lookup(l->ledger.fold, a->after[i]);
		if (j == NULL) {
			is = LINE_STUCK;
			continue;
		}
		if (j->state == JOB_OK && j->settled)
			continue;
		if (state_is_terminal(j->state) && j->settled)
			return LINE_DOOMED;
		if (is == LINE_READY)
			is = LINE_AFTER;
	}
	return is;
}

enum line_is
queue_line(struct loop *l, struct line *line)
{
	struct job_fold *j;

	if (line->over)
		return LINE_OVER;
	j = fold_find(l->ledger.fold, line->job.id);
	if (j == NULL || j->no < 0)
		return LINE_NEW;
	if (state_is_terminal(j->state)) {
		line->over = j->settled;
		/* Its end is not judged yet: it may still be tried again. */
		return line->over ? LINE_OVER : LINE_RUNNING;
	}
	if (j->open || runs_find(&l->runs, line->job.id) != NULL)
		return LINE_RUNNING;
	if (line->job.attr.hold)
		return LINE_HELD;
	if (line->job.attr.nafter > 0)
		return judge_after(l, &line->job.attr);
	return LINE_READY;
}

/* The `queued` event of a line. */
static cJSON *
queued_event(const struct jobline *job, int64_t no)
{
	cJSON *ev = event_new("queued", event_now());
	struct buf b = {0};

	json_int(ev, "no", no);
	json_str(ev, "id", job->id);
	json_str(ev, "cmd", job->cmd);
	attr_format(&b, &job->attr);
	json_str(ev, "attrs", b.p);
	json_str(ev, "tag", job->attr.tag);
	json_int(ev, "vram", job->attr.vram_mib);
	buf_free(&b);
	return ev;
}

/* Were the attributes of a pending job edited? */
static bool
edited(const struct loop *l, const struct line *line)
{
	const struct job_fold *j = fold_find(l->ledger.fold, line->job.id);
	struct buf b = {0};
	bool is;

	attr_format(&b, &line->job.attr);
	is = j->attrs == NULL || strcmp(j->attrs, b.p) != 0;
	buf_free(&b);
	return is;
}

/*
 * Give every new line its number, and tell the journal of edited attributes,
 * all with one write.
 */
static int
enter_new(struct loop *l)
{
	int64_t no = fold_last_no(l->ledger.fold), its;
	struct queue *q = &l->queue;
	struct buf lines = {0};
	enum line_is is;
	cJSON *ev;
	size_t i;
	int rv = 0;

	for (i = 0; i < q->n; i++) {
		is = queue_line(l, &q->v[i]);
		if (is == LINE_NEW)
			its = ++no;
		else if (is != LINE_OVER && is != LINE_RUNNING &&
		    edited(l, &q->v[i]))
			its = fold_find(l->ledger.fold, q->v[i].job.id)->no;
		else
			continue;
		ev = queued_event(&q->v[i].job, its);
		event_line(&lines, ev);
		cJSON_Delete(ev);
	}
	if (lines.len > 0)
		rv = ledger_append_lines(&l->ledger, &lines, false);
	buf_free(&lines);
	return rv;
}

/* A line has the word `cancel`: once is enough, whatever the job's state. */
static int
obey_cancel(struct loop *l, struct line *line)
{
	struct run *r = runs_find(&l->runs, line->job.id);
	struct job_fold *j;
	bool ran;

	if (queue_line(l, line) == LINE_OVER)
		return 0;
	j = fold_find(l->ledger.fold, line->job.id);
	ran = j->open || r != NULL;
	if (!j->cancelling &&
	    ledger_append(&l->ledger, ledger_event("cancel", line->job.id, 0),
		true) == -1)
		return -1;
	if (r != NULL)
		run_cancel(l, r);
	else if (!ran && !j->cancelling) {
		line->over = true;
		say_cancelled(l, line->job.id);
	}
	return 0;
}

/*
 * Not synced: there may be thousands at once, and what is lost follows again
 * from what they wait for.
 */
static int
skip(struct loop *l, struct line *line)
{
	cJSON *ev = ledger_event("done", line->job.id, 0);

	json_str(ev, "state", state_name(JOB_SKIPPED));
	json_str(ev, "reason", "after");
	if (ledger_append(&l->ledger, ev, false) == -1)
		return -1;
	line->over = true;
	say_skipped(l, line->job.id);
	return 0;
}

void
queue_settle(struct loop *l)
{
	struct queue *q = &l->queue;
	bool again = true;
	size_t i;
	int bad = 0;

	q->news = false;
	for (i = 0; i < q->n; i++)
		reshape(l, &q->v[i]);
	if (enter_new(l) == -1) {
		bad = -1;
		again = false;
	}
	for (i = 0; i < q->n && bad == 0; i++)
		if (q->v[i].job.attr.cancel && !q->v[i].over)
			bad = obey_cancel(l, &q->v[i]);
	/* A skipped job may doom another that stands before it. */
	while (again && bad == 0) {
		again = false;
		for (i = 0; i < q->n && bad == 0; i++)
			if (queue_line(l, &q->v[i]) == LINE_DOOMED) {
				bad = skip(l, &q->v[i]);
				again = true;
			}
	}
	if (bad == -1) {
		q->news = true;
		loop_retry(l);
	}
	l->ask = true;
	loop_changed(l);
}

static bool
may_run(struct loop *l, struct line *line)
{
	enum line_is is = queue_line(l, line);

	return is == LINE_NEW || is == LINE_READY || is == LINE_RUNNING;
}

bool
queue_alive(struct loop *l)
{
	size_t i;

	for (i = 0; i < l->queue.n; i++)
		if (may_run(l, &l->queue.v[i]))
			return true;
	return false;
}

bool
queue_wants_gpus(struct loop *l)
{
	bool any = false;
	size_t i;

	for (i = 0; i < l->queue.n; i++) {
		if (!may_run(l, &l->queue.v[i]))
			continue;
		if (l->queue.v[i].job.attr.gpus == 0)
			return false;
		any = true;
	}
	return any;
}

static int
line_status(struct loop *l, struct line *line)
{
	enum line_is is = queue_line(l, line);
	struct job_fold *j = fold_find(l->ledger.fold, line->job.id);

	if (l->mode == LOOP_GOING && (is == LINE_AFTER || is == LINE_STUCK)) {
		warnx("%s:%zu: job '%s' waits for a job that never ends",
		    l->o->jobs, line->job.line, line->job.id);
		return GS_FAILED;
	}
	if (j == NULL || !state_is_terminal(j->state))
		return 0;
	switch (j->state) {
	case JOB_FAILED:
	case JOB_FAILED_OOM:
		return j->status > 0 ? (int)j->status : 1;
	case JOB_TIMEOUT:
		return GS_TIMEOUT;
	case JOB_INFEASIBLE:
		return GS_FAILED;
	default:
		return 0;
	}
}

int
queue_status(struct loop *l)
{
	int most = 0, s;
	size_t i;

	for (i = 0; i < l->queue.n; i++) {
		s = line_status(l, &l->queue.v[i]);
		if (s > most)
			most = s;
	}
	return most;
}
