/* SPDX-License-Identifier: MIT */
/*
 * Why a job was not placed: the word of the manual, and the facts of the GPU
 * that came nearest.
 */
#include <stdio.h>
#include <string.h>

#include "gs-place/alloc.h"
#include "gs-place/snap.h"
#include "gs-place/spot.h"

enum {
	SIZE_MAX_TEXT = 24
};

/* "58.7G", "512M"; rounded down. */
static const char *
size(char out[SIZE_MAX_TEXT], int64_t mib)
{
	long long tenths;

	if (mib < 0)
		mib = 0;
	tenths = mib * 10 / 1024;
	if (mib < 1024)
		snprintf(out, SIZE_MAX_TEXT, "%lldM", (long long)mib);
	else if (tenths % 10 == 0)
		snprintf(out, SIZE_MAX_TEXT, "%lldG", tenths / 10);
	else
		snprintf(
		    out, SIZE_MAX_TEXT, "%lld.%lldG", tenths / 10, tenths % 10);
	return out;
}

/* "8G + 512M", without what is zero. */
static const char *
asked(
    char out[2 * SIZE_MAX_TEXT + 4], const struct alloc *a, const struct job *j)
{
	char vram[SIZE_MAX_TEXT], margin[SIZE_MAX_TEXT];

	size(margin, a->rules->margin_mib);
	size(vram, j->attr.vram_mib);
	if (j->attr.vram_mib < 0)
		snprintf(out, 2 * SIZE_MAX_TEXT + 4, "%s", margin);
	else if (a->rules->margin_mib == 0)
		snprintf(out, 2 * SIZE_MAX_TEXT + 4, "%s", vram);
	else
		snprintf(out, 2 * SIZE_MAX_TEXT + 4, "%s + %s", vram, margin);
	return out;
}

void
why_reserved(const struct alloc *a, struct answer *out)
{
	out->reason = "reserved";
	snprintf(
	    out->text, sizeof(out->text), "job %.64s goes first", a->first);
}

void
why_machine(const struct alloc *a, struct answer *out)
{
	out->reason = "busy";
	if (a->alone != NULL)
		snprintf(out->text, sizeof(out->text),
		    "job %.64s has the machine to itself", a->alone);
	else
		snprintf(out->text, sizeof(out->text),
		    "%zu of our jobs run, job %.64s among them", a->running,
		    a->holder);
}

void
why_slots(const struct alloc *a, const struct job *j, struct answer *out)
{
	out->reason = "slots";
	snprintf(out->text, sizeof(out->text),
	    "%lld of %lld slots taken, %lld asked", (long long)a->slots,
	    (long long)a->rules->slots, (long long)job_slots(&j->attr));
}

/* How many GPUs could the job have, how many could serve it, the largest. */
static size_t
survey(const struct alloc *a, const struct job *j, size_t *feasible,
    const struct spot **largest)
{
	const struct spot *sp;
	size_t n = 0;

	*feasible = 0;
	*largest = NULL;
	for (sp = a->spot; sp < a->spot + a->nspot; sp++) {
		if (!spot_eligible(a, sp, j) || sp->gpu->parted)
			continue;
		n++;
		*feasible += spot_feasible(a, sp, j);
		if (*largest == NULL || sp->capacity > (*largest)->capacity)
			*largest = sp;
	}
	return n;
}

void
why_never(const struct alloc *a, const struct job *j, struct answer *out)
{
	long long margin = a->rules->margin_mib;
	const struct spot *largest;
	size_t n, feasible;

	out->reason = "infeasible";
	n = survey(a, j, &feasible, &largest);
	if (n == 0 && j->attr.on != NULL)
		snprintf(out->text, sizeof(out->text), "no gpu is '%.64s'",
		    j->attr.on);
	else if (n == 0)
		snprintf(out->text, sizeof(out->text), "no gpu is here");
	else if (!j->attr.exclusive && n < (size_t)j->attr.gpus)
		snprintf(out->text, sizeof(out->text),
		    "%lld gpus asked, %zu here", (long long)j->attr.gpus, n);
	else if (feasible > 0)
		snprintf(out->text, sizeof(out->text),
		    "%zu of %zu gpus hold %lld + %lld MiB, %lld asked",
		    feasible, n, (long long)j->attr.vram_mib, margin,
		    (long long)(j->attr.exclusive ? (int64_t)n : j->attr.gpus));
	else
		snprintf(out->text, sizeof(out->text),
		    "gpu %lld holds %lld MiB when empty, %lld + %lld asked",
		    (long long)largest->gpu->index,
		    (long long)largest->capacity,
		    (long long)(j->attr.vram_mib > 0 ? j->attr.vram_mib : 0),
		    margin);
}

static void
memory(const struct alloc *a, const struct job *j, const struct spot *sp,
    struct answer *out)
{
	char have[SIZE_MAX_TEXT], all[SIZE_MAX_TEXT];
	char need[2 * SIZE_MAX_TEXT + 4];

	out->reason = "memory";
	snprintf(out->text, sizeof(out->text),
	    "gpu %lld has %s free of %s, %s asked", (long long)sp->gpu->index,
	    size(have, spot_headroom(sp)), size(all, sp->capacity),
	    asked(need, a, j));
}

/* Somebody is on the GPU. */
static void
busy(const struct spot *sp, struct answer *out)
{
	long long index = sp->gpu->index;

	out->reason = "busy";
	if (sp->fit == TAKEN && sp->ours > 0)
		snprintf(out->text, sizeof(out->text),
		    "gpu %lld is taken by job %.64s", index, sp->holder);
	else if (sp->fit == TAKEN)
		snprintf(out->text, sizeof(out->text),
		    "gpu %lld takes one process and has %zu", index,
		    sp->gpu->procs);
	else if (sp->external >= 0)
		snprintf(out->text, sizeof(out->text),
		    "gpu %lld is not idle: %lld MiB kept for others", index,
		    (long long)sp->external);
	else
		snprintf(out->text, sizeof(out->text),
		    "gpu %lld is not idle: %zu processes", index,
		    sp->gpu->procs);
}

static void
unusable(const struct spot *sp, struct answer *out)
{
	const char *why = sp->gpu->why;

	out->reason = "gpus";
	snprintf(out->text, sizeof(out->text), "gpu %lld takes no job%s%.128s",
	    (long long)sp->gpu->index, why != NULL ? ": " : "",
	    why != NULL ? why : "");
}

/* Which of two refusals is nearer to a yes? */
static bool
is_nearer(const struct spot *x, const struct spot *y)
{
	if (x->fit != y->fit)
		return x->fit > y->fit;
	if (x->fit == NO_MEMORY && spot_headroom(x) != spot_headroom(y))
		return spot_headroom(x) > spot_headroom(y);
	if (x->fit == NOT_IDLE && x->external != y->external)
		return x->external < y->external;
	return x->rank < y->rank;
}

void
why_wait(const struct alloc *a, const struct job *j, struct answer *out)
{
	/* It could start on an empty machine, so some GPU keeps it out. */
	const struct spot *sp, *near = NULL;
	size_t fits = 0;

	for (sp = a->spot; sp < a->spot + a->nspot; sp++) {
		if (sp->fit == FIT)
			fits++;
		else if (sp->fit != FOREIGN_TO_IT &&
		    (near == NULL || is_nearer(sp, near)))
			near = sp;
	}
	if (fits > 0 && !j->attr.exclusive) {
		out->reason = "gpus";
		snprintf(out->text, sizeof(out->text),
		    "%lld gpus asked, %zu can be had", (long long)j->attr.gpus,
		    fits);
		/* cppcheck-suppress nullPointer */
	} else if (near->fit == NO_MEMORY) {
		memory(a, j, near, out);
	} else if (near->fit == TAKEN || near->fit == NOT_IDLE) {
		busy(near, out);
	} else if (near->fit == UNKNOWN) {
		out->reason = "memory-unknown";
		snprintf(out->text, sizeof(out->text),
		    "nobody knows the memory of gpu %lld",
		    (long long)near->gpu->index);
	} else {
		unusable(near, out);
	}
}
