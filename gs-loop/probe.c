/* SPDX-License-Identifier: MIT */
#include "gs-loop/probe.h"

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "gs-loop/child.h"
#include "gs-loop/loop.h"
#include "gs-loop/usage.h"
#include "gs-loop/words.h"
#include "lib/clock.h"

enum {
	/*
	 * gs-probe gives a backend 10 s; what is not there some time after
	 * that will not come.
	 */
	FRAME_LATE_MS = 12000,
};

void
probe_init(struct probe *p)
{
	*p = (struct probe){0};
	child_init(&p->child);
}

static void
give_up(struct loop *l, const char *why)
{
	if (!l->probe.told)
		warnx("gs-probe: %s; nothing is placed on a GPU until a good "
		      "snapshot "
		      "comes",
		    why);
	l->probe.told = true;
	child_give_up(l, &l->probe.child);
	l->probe.asked = l->probe.again = false;
}

static size_t
count_gpus(const struct frame *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->n; i++)
		n += rec_is(&f->rec[i], "gpu");
	return n;
}

static bool
same_word(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Do the indices of both frames mean the same cards? */
static bool
same_layout(const struct frame *a, const struct frame *b)
{
	size_t i, j = 0;

	if (count_gpus(a) != count_gpus(b))
		return false;
	for (i = 0; i < a->n; i++) {
		if (!rec_is(&a->rec[i], "gpu"))
			continue;
		while (!rec_is(&b->rec[j], "gpu"))
			j++;
		if (!same_word(
			rec_field(&a->rec[i], 1), rec_field(&b->rec[j], 1)) ||
		    !same_word(
			rec_field(&a->rec[i], 2), rec_field(&b->rec[j], 2)))
			return false;
		j++;
	}
	return true;
}

static const struct rec *
frame_gpu(const struct frame *f, const char *name)
{
	const struct rec *r;
	size_t i;

	for (i = 0; i < f->n; i++) {
		r = &f->rec[i];
		if (rec_is(r, "gpu") &&
		    (same_word(rec_field(r, 1), name) ||
			same_word(rec_field(r, 2), name)))
			return r;
	}
	return NULL;
}

/* Name the cards of `was` that `is` lacks. */
static void
tell_gone(const struct frame *was, const struct frame *is)
{
	const struct rec *g;
	size_t i;

	for (i = 0; i < was->n; i++) {
		g = &was->rec[i];
		if (!rec_is(g, "gpu") || rec_field(g, 2) == NULL ||
		    frame_gpu(is, rec_field(g, 2)) != NULL)
			continue;
		warnx("gpu %s, %s, is gone; what ran there stays charged to "
		      "it",
		    rec_field(g, 1), rec_field(g, 2));
	}
}

static void
take(struct loop *l, struct frame *f)
{
	struct probe *p = &l->probe;

	if (!same_layout(&p->frame, f)) {
		tell_gone(&p->frame, f);
		p->layout++;
	}
	p->hopeless = p->told = false;
	frame_free(&p->frame);
	p->frame = *f;
	p->at = clock_ms();
	p->ngpu = count_gpus(f);
	if (p->ngpu > p->most)
		p->most = p->ngpu;
	p->child.pause_ms = CHILD_PAUSE_MS;
	p->asked = false;
	if (p->again) {
		p->again = false;
		probe_demand(l);
	}
	usage_frame(l);
	held_frame(l);
	l->ask = true;
	loop_changed(l);
}

static void
ready(struct loop *l, void *arg)
{
	struct child *c = arg;
	struct frame f;
	int got;

	if (!child_hear(l, c))
		return;
	while ((got = frames_next(&c->stream, &f)) == 1)
		take(l, &f);
	if (got == -1)
		give_up(l, c->stream.err);
}

static void
start(struct loop *l)
{
	const struct opts *o = l->o;
	struct child *c = &l->probe.child;
	struct words w = {0};
	const char *why;
	size_t i;

	words_ms(&w, "--interval", o->poll_ms);
	words_add(&w, "--on-demand");
	words_opt(&w, "--log-dir", l->log_dir);
	words_opt(&w, "--gpus", o->gpus);
	words_opt(&w, "--sim", o->sim);
	words_opt(&w, "--backend", o->backend);
	for (i = 0; i < o->ngpu_mem; i++)
		words_opt(&w, "--gpu-mem", o->gpu_mem[i]);
	c->src.ready = ready;
	c->src.arg = c;
	l->probe.asked_at = clock_ms();
	if (child_keep(l, c, o->probe, "gs-probe", w.v, &why) == -1)
		give_up(l, why);
	words_free(&w);
}

void
probe_demand(struct loop *l)
{
	struct probe *p = &l->probe;

	if (p->child.in == -1)
		return;
	if (p->asked) {
		/* The frame on its way may be older than this wish. */
		p->again = true;
		return;
	}
	if (child_write(p->child.in, "\n", 1) == -1)
		return; /* it is ending; SIGCHLD comes */
	p->asked = true;
	p->asked_at = clock_ms();
}

bool
probe_fresh(const struct loop *l)
{
	const struct probe *p = &l->probe;

	return p->at > 0 && clock_ms() - p->at <= l->o->poll_ms + FRAME_LATE_MS;
}

const struct rec *
probe_gpu(const struct probe *p, const char *name)
{
	return frame_gpu(&p->frame, name);
}

/* The time by which a frame should have come. */
static int64_t
late_at(const struct loop *l)
{
	const struct probe *p = &l->probe;
	int64_t from = p->at > p->asked_at ? p->at : p->asked_at;

	/* It bounds its own calls, so this long a silence is a fault of it. */
	return from + l->o->poll_ms + 5 * FRAME_LATE_MS;
}

int64_t
probe_due(const struct loop *l)
{
	return l->probe.child.start_at != INT64_MAX ? l->probe.child.start_at
						    : late_at(l);
}

void
probe_tick(struct loop *l, int64_t now)
{
	if (now >= l->probe.child.start_at)
		start(l);
	else if (l->probe.child.start_at == INT64_MAX && now >= late_at(l))
		give_up(l, "no snapshot for too long");
}

bool
probe_reaped(struct loop *l, pid_t pid, int status)
{
	struct probe *p = &l->probe;

	if (pid != p->child.pid)
		return false;
	p->child.pid = -1;
	p->hopeless = p->most == 0;
	if (p->hopeless) {
		/* It said why; that nothing is placed goes without saying. */
		child_give_up(l, &p->child);
		p->asked = p->again = false;
	} else {
		give_up(l, child_fate(status));
	}
	return true;
}

void
probe_stop(struct loop *l)
{
	child_end(l, &l->probe.child);
	frame_free(&l->probe.frame);
}
