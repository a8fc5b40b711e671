/* SPDX-License-Identifier: MIT */
/*
 * The machine as a job that asks for a place finds it: GPUs with what is left
 * of them.  Shared by the allocator and by what explains its refusals.
 */
#ifndef GS_PLACE_SPOT_H
#define GS_PLACE_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gs-place/alloc.h"
#include "gs-place/snap.h"

/* Can a job have this GPU now?  Ordered: the later, the nearer. */
enum fit {
	FOREIGN_TO_IT, /* not managed, or not for this job */
	UNUSABLE, /* lost, parted, prohibited */
	UNKNOWN, /* nobody knows its memory */
	TAKEN, /* someone is on it who does not share */
	NOT_IDLE, /* too much of it is used by others */
	NO_MEMORY,
	FIT,
};

/* A GPU and what our jobs and others hold of it; memory is in MiB. */
struct spot {
	const struct gpu *gpu;
	int64_t capacity; /* what jobs can have of it; -1: unknown */
	int64_t external; /* what is not ours; -1: unknown */
	int64_t budgets; /* what our jobs may come to use */
	size_t ours; /* how many of our jobs are on it */
	const char *holder; /* one of them */
	bool whole; /* one of them shares with nobody */
	bool managed;
	int64_t seen; /* in use by our jobs */
	int64_t rank; /* among equals, the lowest goes first */
	int64_t order; /* the same for jobs that want a GPU for themselves */
	enum fit fit; /* for the job that is asked for */
	bool chosen;
};

struct alloc {
	const struct rules *rules;
	struct spot *spot;
	size_t nspot;
	size_t running; /* our jobs, with those placed here */
	int64_t slots; /* that they take */
	const char *holder; /* one of them */
	const char *alone; /* the job that has the machine for itself */
	const char *first; /* fifo: the job that waits */
	const struct gpu *shared; /* for light jobs; NULL: there is none */
	int64_t *gpu; /* the answer's list */
};

/* What is left of it; only if capacity and external are known. */
int64_t spot_headroom(const struct spot *sp);
bool spot_known(const struct spot *sp);

/* May the job have it at all, in a machine that does nothing else? */
bool spot_eligible(
    const struct alloc *a, const struct spot *sp, const struct job *j);
bool spot_feasible(
    const struct alloc *a, const struct spot *sp, const struct job *j);

/* Does it match on=? */
bool spot_matches(const struct spot *sp, const char *on);

/* MiB that must be free on each GPU before the job may start. */
int64_t job_need(const struct alloc *a, const struct job *j);

/* A job that declares nothing and is content with nothing less than a GPU. */
bool job_is_whole(const struct attr *at);

/* Slots that a job takes. */
int64_t job_slots(const struct attr *at);

/* Count a job of ours on a GPU, and in the machine. */
void spot_occupy(
    struct spot *sp, const char *id, const struct attr *at, int64_t budget);
void alloc_enter(struct alloc *a, const char *id, const struct attr *at);

/*
 * Fill in reason and text of a refusal: too little even in an empty machine;
 * no GPU fits (after every spot's `fit` was set); no slot; the machine is not
 * idle; another job goes first.
 */
void why_never(const struct alloc *a, const struct job *j, struct answer *out);
void why_wait(const struct alloc *a, const struct job *j, struct answer *out);
void why_slots(const struct alloc *a, const struct job *j, struct answer *out);
void why_machine(const struct alloc *a, struct answer *out);
void why_reserved(const struct alloc *a, struct answer *out);

#endif
