/* SPDX-License-Identifier: MIT */
#include "gs-loop/place.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gs-loop/child.h"
#include "gs-loop/launch.h"
#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "gs-loop/words.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/xalloc.h"

enum {
	SHAPE_MAX = 64, /* lines of one shape in a question */
	ANSWER_MS = 10000, /* for something that takes milliseconds */
};

void
place_init(struct place *p)
{
	*p = (struct place){0};
	child_init(&p->child);
}

static void
give_up(struct loop *l, const char *why)
{
	warnx("gs-place: %s; it is started again", why);
	child_give_up(l, &l->place.child);
	l->place.waiting = false;
	l->ask = true;
}

/* Why a shape waits. Keeps nothing if it does not. */
static void
set_reason(struct shape *s, const char *reason, const char *text)
{
	free(s->reason);
	free(s->text);
	s->reason = reason != NULL ? xstrdup(reason) : NULL;
	s->text = text != NULL ? xstrdup(text) : NULL;
}

/*
 * It can never run.  A card that is missing just now does not count as
 * "never": then the job waits for it.
 */
static void
never(struct loop *l, struct line *line, const struct rec *r)
{
	const char *reason = rec_field(r, 2), *text = rec_key(r, "text");
	const struct job_fold *j = fold_find(l->ledger.fold, line->job.id);
	bool ran = j != NULL && j->retries > 0; /* it asks for more now */

	if (l->probe.ngpu < l->probe.most) {
		set_reason(&l->queue.shape[line->shape], "gpus",
		    "a GPU that was there before is missing");
		return;
	}
	if (ledger_done(&l->ledger, line->job.id, ran ? j->attempt : 0,
		ran ? JOB_FAILED_OOM : JOB_INFEASIBLE,
		ran ? j->status : GS_FAILED,
		text != NULL ? text : reason) == -1) {
		loop_retry(l);
		return;
	}
	line->over = true;
	if (ran)
		loop_ended(l, JOB_FAILED_OOM);
	else
		queue_dispatched(l);
	l->queue.news |= l->queue.chained;
	say_infeasible(l, line->job.id, text);
}

static void
obey(struct loop *l, struct line *line, const struct rec *r)
{
	struct shape *s = &l->queue.shape[line->shape];

	if (rec_is(r, "place")) {
		s->placed++;
		/* INT, or a launch that failed, may have come meanwhile. */
		if (l->mode == LOOP_GOING && clock_ms() >= l->hold_until &&
		    queue_line(l, line) == LINE_READY)
			launch(l, line, rec_field(r, 2));
	} else if (rec_is(r, "wait")) {
		if (s->reason == NULL)
			set_reason(s, rec_field(r, 2), rec_key(r, "text"));
	} else if (queue_line(l, line) == LINE_READY) {
		never(l, line, r);
	}
}

/* The answer must speak of every job, in order.  -1 if it does not. */
static int
answer(struct loop *l, const struct frame *f)
{
	struct place *p = &l->place;
	struct queue *q = &l->queue;
	const struct rec *r;
	size_t i, k = 0;

	/* About lines or cards that are not the same any more: ask again. */
	if (p->generation != q->generation || p->layout != l->probe.layout) {
		l->ask = true;
		return 0;
	}
	for (i = 0; i < q->nshape; i++)
		set_reason(&q->shape[i], NULL, NULL);
	for (i = 0; i < f->n; i++) {
		r = &f->rec[i];
		if (!rec_is(r, "place") && !rec_is(r, "wait") &&
		    !rec_is(r, "never"))
			continue;
		if (k == p->nasked || rec_field(r, 1) == NULL ||
		    strcmp(rec_field(r, 1), q->v[p->asked[k]].job.id) != 0)
			return -1;
		obey(l, &q->v[p->asked[k++]], r);
	}
	for (i = 0; i < q->nshape; i++)
		if (q->shape[i].asked == SHAPE_MAX &&
		    q->shape[i].placed == SHAPE_MAX)
			l->ask = true; /* there may be more of it */
	return k == p->nasked ? 0 : -1;
}

static void
ready(struct loop *l, void *arg)
{
	struct place *p = arg;
	struct frame f;
	int got;

	if (!child_hear(l, &p->child))
		return;
	got = frames_next(&p->child.stream, &f);
	if (got == -1) {
		give_up(l, p->child.stream.err);
	} else if (got == 1) {
		p->waiting = false;
		p->child.pause_ms = CHILD_PAUSE_MS;
		if (answer(l, &f) == -1)
			give_up(l, "its answer does not match the question");
		frame_free(&f);
		loop_changed(l);
	}
}

static int
start(struct loop *l)
{
	const struct opts *o = l->o;
	struct child *c = &l->place.child;
	struct words w = {0};
	const char *why;
	int rv;

	words_opt(&w, "--policy", o->policy);
	words_opt(&w, "--gpus", o->gpus);
	words_opt(&w, "--margin", o->margin);
	words_opt(&w, "--idle-threshold", o->idle_threshold);
	words_opt(&w, "--spike-buffer", o->spike_buffer);
	words_opt(&w, "--slots", o->slots);
	words_opt(&w, "--shared-gpu", o->shared_gpu);
	if (o->exclusive)
		words_add(&w, "--exclusive");
	c->src.ready = ready;
	c->src.arg = &l->place;
	rv = child_keep(l, c, o->place, "gs-place", w.v, &why);
	words_free(&w);
	if (rv == -1)
		give_up(l, why);
	return rv;
}

/* An attempt in flight holds what it declared, seen or not. */
static void
add_run(struct recw *w, const struct run *r)
{
	struct buf gpus = {0}, peaks = {0}, attrs = {0};
	size_t i;

	for (i = 0; i < r->nuse; i++) {
		buf_printf(&gpus, "%s%s", i > 0 ? "," : "", r->use[i].uuid);
		if (r->use[i].peak >= 0)
			buf_printf(&peaks, "%s%s:%lld",
			    peaks.len > 0 ? "," : "", r->use[i].uuid,
			    (long long)r->use[i].peak);
	}
	shape_format(&attrs, &r->attr);
	recw_rec(w, "run");
	recw_str(w, r->id);
	recw_str(w, gpus.p);
	recw_int(w, (int64_t)r->since);
	recw_str(w, attrs.p);
	recw_kstr(w, "peak", peaks.p);
	buf_free(&gpus);
	buf_free(&peaks);
	buf_free(&attrs);
}

/* The first lines of every shape that may start now. */
static void
add_jobs(struct loop *l, struct recw *w, bool with_gpus)
{
	struct place *p = &l->place;
	struct queue *q = &l->queue;
	struct line *line;
	struct shape *s;
	size_t i;

	p->asked =
	    xreallocarray(p->asked, q->nshape * SHAPE_MAX, sizeof(*p->asked));
	p->nasked = 0;
	for (i = 0; i < q->nshape; i++)
		q->shape[i].asked = q->shape[i].placed = 0;
	for (i = 0; i < q->n; i++) {
		line = &q->v[i];
		s = &q->shape[line->shape];
		if (line->over || s->asked == SHAPE_MAX ||
		    (line->job.attr.gpus > 0 && !with_gpus) ||
		    queue_line(l, line) != LINE_READY)
			continue;
		s->asked++;
		p->asked[p->nasked++] = i;
		recw_rec(w, "job");
		recw_str(w, line->job.id);
		recw_str(w, s->attrs);
	}
}

static void
build(struct loop *l, struct recw *w)
{
	const struct frame *f = &l->probe.frame;
	bool fresh = probe_fresh(l);
	struct run *r;
	size_t i;

	recw_frame(w, "gs-loop");
	recw_kint(w, "time", time(NULL));
	for (i = 0; fresh && i < f->n; i++)
		if (rec_is(&f->rec[i], "gpu") || rec_is(&f->rec[i], "proc"))
			recw_copy(w, &f->rec[i]);
	TAILQ_FOREACH(r, &l->runs.list, link)
		add_run(w, r);
	add_jobs(l, w, fresh);
	recw_end(w);
}

void
place_ask(struct loop *l)
{
	struct place *p = &l->place;
	struct recw w = {0};
	int64_t now = clock_ms();

	if (p->waiting || l->mode != LOOP_GOING || now < l->hold_until ||
	    (p->child.src.fd == -1 && now < p->child.start_at))
		return;
	l->ask = false;
	build(l, &w);
	if (p->nasked > 0 && (p->child.src.fd != -1 || start(l) == 0)) {
		p->generation = l->queue.generation;
		p->layout = l->probe.layout;
		p->waiting = true;
		p->asked_at = now;
		if (child_write(p->child.in, w.buf.p, w.buf.len) == -1)
			give_up(l, strerror(errno));
	}
	recw_free(&w);
}

int64_t
place_due(const struct loop *l)
{
	const struct place *p = &l->place;
	int64_t now = clock_ms();

	if (p->waiting)
		return p->asked_at + ANSWER_MS;
	if (!l->ask)
		return INT64_MAX;
	if (p->child.src.fd == -1 && now < p->child.start_at)
		return p->child.start_at;
	return now < l->hold_until ? l->hold_until : INT64_MAX;
}

void
place_tick(struct loop *l, int64_t now)
{
	if (l->place.waiting && now >= l->place.asked_at + ANSWER_MS)
		give_up(l, "no answer");
}

bool
place_reaped(struct loop *l, pid_t pid, int status)
{
	if (pid != l->place.child.pid)
		return false;
	l->place.child.pid = -1;
	give_up(l, child_fate(status));
	return true;
}

void
place_stop(struct loop *l)
{
	child_end(l, &l->place.child);
	free(l->place.asked);
}
