/* SPDX-License-Identifier: MIT */
/*
 * From a snapshot to the state that jobs are placed in: what is left of each
 * GPU, and what runs.
 */
#include <stdlib.h>
#include <string.h>

#include "gs-place/alloc.h"
#include "lib/unit.h"
#include "lib/xalloc.h"
#include "gs-place/snap.h"
#include "gs-place/spot.h"

void
spot_occupy(
    struct spot *sp, const char *id, const struct attr *at, int64_t budget)
{
	sp->budgets += budget;
	sp->whole = sp->whole || job_is_whole(at);
	sp->holder = id;
	sp->ours++;
}

void
alloc_enter(struct alloc *a, const char *id, const struct attr *at)
{
	a->running++;
	a->slots += job_slots(at);
	a->holder = id;
	if (at->exclusive)
		a->alone = id;
}

/*
 * What a run may come to use of a GPU.  Where it was not sent its declaration
 * says nothing, and neither does it where it was seen to use more.
 */
static int64_t
budget(const struct alloc *a, const struct run *run, const struct hold *h)
{
	int64_t v = h->given ? run->attr.vram_mib : -1;

	if (v < 0 || h->peak > v)
		v = unit_grow(h->peak, a->rules->spike_ppm);
	return v > h->used ? v : h->used;
}

static void
run_enter(struct alloc *a, const struct run *run)
{
	/* A process that strays onto a GPU does not take all of it. */
	static const struct attr stray = {.light = true, .vram_mib = -1};
	const struct hold *h;
	size_t i;

	for (i = 0; i < run->nhold; i++) {
		h = &run->hold[i];
		spot_occupy(&a->spot[h->gpu], run->id,
		    h->given ? &run->attr : &stray, budget(a, run, h));
		a->spot[h->gpu].seen += h->used;
	}
	alloc_enter(a, run->id, &run->attr);
}

/* The place of a GPU in --gpus, or -1. */
static int64_t
listed(const struct rules *r, const struct gpu *g)
{
	size_t i;

	for (i = 0; i < r->ngpus; i++)
		if (gpu_is(g, r->gpus[i], gpu_number(r->gpus[i])))
			return (int64_t)i;
	return -1;
}

static void
spot_init(
    struct spot *sp, const struct gpu *g, const struct rules *r, int64_t place)
{
	*sp = (struct spot){.gpu = g, .managed = true};
	sp->capacity = g->total;
	if (g->total >= 0)
		sp->capacity =
		    g->total > g->reserved ? g->total - g->reserved : 0;
	sp->rank = place;
	sp->order = g->index;
	if (r->ngpus > 0) {
		sp->rank = sp->order = listed(r, g);
		sp->managed = sp->rank >= 0;
	}
}

/* What is not ours: the greater of what is in use and what may be again. */
static int64_t
external(const struct alloc *a, const struct spot *sp)
{
	int64_t now = sp->gpu->used - sp->seen;
	int64_t peak = unit_grow(sp->gpu->foreign_peak, a->rules->spike_ppm);

	if (sp->gpu->used < 0)
		return -1;
	return now > peak ? now : peak;
}

/* The GPU of light jobs: as told, or the last that takes jobs. */
static const struct gpu *
shared(const struct alloc *a)
{
	const struct spot *sp, *found = NULL;

	for (sp = a->spot; sp < a->spot + a->nspot; sp++) {
		if (!sp->managed ||
		    (a->rules->shared >= 0 &&
			sp->gpu->index != a->rules->shared))
			continue;
		if (found == NULL || sp->rank > found->rank)
			if (sp->gpu->place != PLACE_NO || a->rules->shared >= 0)
				found = sp;
	}
	return found != NULL ? found->gpu : NULL;
}

struct alloc *
alloc_new(const struct snap *s, const struct rules *rules)
{
	struct alloc *a = xcalloc(1, sizeof(*a));
	size_t i;

	a->rules = rules;
	a->nspot = s->ngpu;
	a->spot = xcalloc(s->ngpu, sizeof(*a->spot));
	a->gpu = xcalloc(s->ngpu, sizeof(*a->gpu));
	for (i = 0; i < s->ngpu; i++)
		spot_init(&a->spot[i], &s->gpu[i], rules, (int64_t)i);
	for (i = 0; i < s->nrun; i++)
		run_enter(a, &s->run[i]);
	for (i = 0; i < s->ngpu; i++)
		a->spot[i].external = external(a, &a->spot[i]);
	a->shared = shared(a);
	return a;
}

void
alloc_free(struct alloc *a)
{
	free(a->spot);
	free(a->gpu);
	free(a);
}
