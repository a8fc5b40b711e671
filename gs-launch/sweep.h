/* SPDX-License-Identifier: MIT */
/*
 * Ending a process tree: some time to end by itself, TERM, the grace, KILL,
 * and KILL again until nobody is left.  A schedule, driven by its owner's
 * event loop; that the tree is empty is for the owner to find out.
 */
#ifndef GS_LAUNCH_SWEEP_H
#define GS_LAUNCH_SWEEP_H

#include <sys/types.h>

#include <stdint.h>

#include "gs-launch/tree.h"

enum sweep_stage {
	SWEEP_IDLE,
	SWEEP_SETTLE, /* leftovers may end by themselves */
	SWEEP_TERM,
	SWEEP_KILL,
	SWEEP_GAVE_UP, /* some outlived KILL */
};

struct sweep {
	enum sweep_stage stage;
	int64_t grace_ms;
	int64_t at; /* monotonic ms of the next step; -1: none */
	int64_t give_up; /* when KILL has not helped */
	size_t least; /* fewest processes that a round of KILL met */
	int vain; /* rounds since that number last fell */
	struct tree tree; /* as last walked */
};

/* The leader has left: begin with its leftovers, unless it goes on already. */
void sweep_settle(struct sweep *s, int64_t now);

/* TERM to everybody now; KILL if they had that before.  `except` is an ended
 * leader that is not reaped yet, or 0. */
void sweep_stop(struct sweep *s, int64_t now, pid_t except);

/* Do what is due. */
void sweep_step(struct sweep *s, int64_t now, pid_t except);

#endif
