/* SPDX-License-Identifier: MIT */
/*
 * The allocator.
 *
 * - headroom of a GPU = capacity - external - budgets of our jobs on it.
 * - capacity is what the driver does not keep for itself.
 * - external is the greater of what is in use but was not seen to be ours, and
 *   the peaks of foreign processes plus the spike buffer: a trough is no room.
 * - the budget of a job is its declaration from the moment it is placed, since
 *   a process that has not yet allocated will; once the job was seen to use
 *   more, its peak plus the spike buffer; never less than it uses now.
 * - a declared job goes where the least headroom suffices, which keeps large
 *   pieces whole; an undeclared one takes an idle GPU for itself.
 *
 * What a job cannot have even in an empty machine is found first, so that it
 * is said at once and never makes another job wait.
 */
#include "gs-place/alloc.h"

#include <string.h>

#include "gs-place/snap.h"
#include "gs-place/spot.h"

int64_t
spot_headroom(const struct spot *sp)
{
	return sp->capacity - sp->external - sp->budgets;
}

bool
spot_known(const struct spot *sp)
{
	return sp->capacity >= 0 && sp->external >= 0;
}

bool
job_is_whole(const struct attr *at)
{
	return !at->cpu && !at->light && at->vram_mib < 0;
}

int64_t
job_need(const struct alloc *a, const struct job *j)
{
	if (job_is_whole(&j->attr))
		return 0;
	return a->rules->margin_mib +
	    (j->attr.vram_mib > 0 ? j->attr.vram_mib : 0);
}

int64_t
job_slots(const struct attr *at)
{
	return job_is_whole(at) ? 2 : 1;
}

/*
 * An index has at most three digits: "3090" is a part of a name.  Otherwise
 * the word is a UUID or stands in the name of the model.
 */
bool
spot_matches(const struct spot *sp, const char *on)
{
	int64_t number;

	if (on == NULL)
		return true;
	number = gpu_number(on);
	if (gpu_is(sp->gpu, on, number <= 999 ? number : -1))
		return true;
	return (number == -1 || number > 999) && sp->gpu->name != NULL &&
	    strcasestr(sp->gpu->name, on) != NULL;
}

bool
spot_eligible(const struct alloc *a, const struct spot *sp, const struct job *j)
{
	if (!sp->managed || !spot_matches(sp, j->attr.on))
		return false;
	/* A program can use one part of a GPU, and nothing beside it. */
	if (j->attr.gpus > 1 && sp->gpu->parent != NULL)
		return false;
	return !j->attr.light || sp->gpu == a->shared;
}

bool
spot_feasible(const struct alloc *a, const struct spot *sp, const struct job *j)
{
	if (!spot_eligible(a, sp, j) || sp->gpu->parted)
		return false;
	return sp->capacity < 0 || sp->capacity >= job_need(a, j);
}

/* Is nobody on it, as far as can be known? */
static bool
is_idle(const struct alloc *a, const struct spot *sp)
{
	if (sp->ours > 0)
		return false;
	if (sp->external >= a->rules->idle_mib)
		return false;
	return spot_known(sp) || sp->gpu->procs == 0;
}

/* A job with a need: it shares, but not with those that do not. */
static enum fit
fit_sharing(const struct alloc *a, const struct spot *sp, const struct job *j)
{
	if (spot_known(sp))
		return spot_headroom(sp) >= job_need(a, j) ? FIT : NO_MEMORY;
	/* A light job that declares nothing cannot be better informed. */
	if (j->attr.vram_mib < 0 && is_idle(a, sp))
		return FIT;
	return UNKNOWN;
}

static enum fit
fit_one(const struct alloc *a, const struct spot *sp, const struct job *j)
{
	bool whole = job_is_whole(&j->attr);

	if (!spot_eligible(a, sp, j))
		return FOREIGN_TO_IT;
	if (sp->gpu->place == PLACE_NO || sp->gpu->parted)
		return UNUSABLE;
	if (sp->whole || (a->rules->exclusive && sp->ours > 0))
		return TAKEN;
	if (sp->gpu->place == PLACE_ALONE && (sp->ours > 0 || sp->gpu->procs))
		return TAKEN;
	if ((whole || j->attr.exclusive) && !is_idle(a, sp))
		return sp->ours > 0 ? TAKEN : NOT_IDLE;
	return whole ? FIT : fit_sharing(a, sp, j);
}

/* Should x be taken before y?  Both fit. */
static bool
is_better(const struct spot *x, const struct spot *y, const struct job *j)
{
	if (job_is_whole(&j->attr))
		return x->order < y->order;
	if (spot_known(x) && spot_known(y) &&
	    spot_headroom(x) != spot_headroom(y))
		return spot_headroom(x) < spot_headroom(y);
	return x->rank < y->rank;
}

static struct spot *
best(struct alloc *a, const struct job *j)
{
	struct spot *sp, *found = NULL;

	for (sp = a->spot; sp < a->spot + a->nspot; sp++)
		if (sp->fit == FIT && !sp->chosen &&
		    (found == NULL || is_better(sp, found, j)))
			found = sp;
	return found;
}

/* How many GPUs the job takes, of `n` that could serve it. */
static size_t
wanted(const struct job *j, size_t n)
{
	if (j->attr.exclusive && !j->attr.cpu)
		return n > 0 ? n : 1;
	return (size_t)j->attr.gpus;
}

/*
 * Could there ever be as many GPUs as the job asks for?  One that takes no job
 * now may do so later, unless it has been cut into parts.
 */
static bool
is_feasible(const struct alloc *a, const struct job *j)
{
	size_t eligible = 0, feasible = 0;
	const struct spot *sp;

	if (j->attr.cpu)
		return true;
	for (sp = a->spot; sp < a->spot + a->nspot; sp++) {
		if (!spot_eligible(a, sp, j) || sp->gpu->parted)
			continue;
		eligible++;
		/* Nobody can wait for a whole machine that is too small. */
		if (spot_feasible(a, sp, j) ||
		    (j->attr.exclusive && sp->gpu->place == PLACE_NO))
			feasible++;
	}
	return feasible >= wanted(j, eligible);
}

/* Judge every GPU, and choose as many as the job wants. */
static bool
choose(struct alloc *a, const struct job *j)
{
	size_t usable = 0, want, n;
	struct spot *sp;

	for (sp = a->spot; sp < a->spot + a->nspot; sp++) {
		sp->chosen = false;
		sp->fit = fit_one(a, sp, j);
		usable += sp->fit > UNUSABLE;
	}
	want = wanted(j, usable);
	for (n = 0; n < want; n++) {
		sp = best(a, j);
		if (sp == NULL)
			return false;
		sp->chosen = true;
	}
	return true;
}

/* Write the list of chosen GPUs, by index. */
static void
list(struct alloc *a, struct answer *out)
{
	const struct spot *sp;
	size_t i;

	out->headroom = -1;
	for (sp = a->spot; sp < a->spot + a->nspot; sp++) {
		if (!sp->chosen)
			continue;
		for (i = out->ngpu++; i > 0 && a->gpu[i - 1] > sp->gpu->index;
		     i--)
			a->gpu[i] = a->gpu[i - 1];
		a->gpu[i] = sp->gpu->index;
		if (spot_known(sp) &&
		    (out->headroom == -1 || spot_headroom(sp) < out->headroom))
			out->headroom = spot_headroom(sp);
	}
	out->gpu = a->gpu;
}

static void
place(struct alloc *a, const struct job *j, struct answer *out)
{
	int64_t budget = j->attr.vram_mib > 0 ? j->attr.vram_mib : 0;
	struct spot *sp;

	*out = (struct answer){.verdict = PLACED, .headroom = -1};
	if (!j->attr.cpu) {
		list(a, out);
		for (sp = a->spot; sp < a->spot + a->nspot; sp++)
			if (sp->chosen)
				spot_occupy(sp, j->id, &j->attr, budget);
	}
	alloc_enter(a, j->id, &j->attr);
}

static bool
slots_left(const struct alloc *a, const struct job *j)
{
	int64_t need = job_slots(&j->attr);

	if (a->rules->slots == 0)
		return true;
	/* On a machine with one slot a whole GPU is that slot. */
	if (need > a->rules->slots)
		need = a->rules->slots;
	return a->slots + need <= a->rules->slots;
}

/* What keeps the job from starting, wherever it would go. */
static bool
is_held_back(const struct alloc *a, const struct job *j, struct answer *out)
{
	if (a->first != NULL)
		why_reserved(a, out);
	else if (a->alone != NULL || (j->attr.exclusive && a->running > 0))
		why_machine(a, out);
	else if (!slots_left(a, j))
		why_slots(a, j, out);
	else
		return false;
	return true;
}

void
alloc_job(struct alloc *a, const struct job *j, struct answer *out)
{
	*out = (struct answer){.verdict = NEVER, .headroom = -1};
	if (!is_feasible(a, j)) {
		why_never(a, j, out);
		return;
	}
	out->verdict = WAIT;
	if (!is_held_back(a, j, out)) {
		if (j->attr.cpu || choose(a, j)) {
			place(a, j, out);
			return;
		}
		why_wait(a, j, out);
	}
	if (a->rules->policy == FIFO && a->first == NULL)
		a->first = j->id;
}
