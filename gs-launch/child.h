/* SPDX-License-Identifier: MIT */
/*
 * The job's own process, from its birth to its exec.  It makes itself ready,
 * says so, and waits at a gate; if the gate is dropped, or everybody who
 * could open it is dead, it ends without having executed anything.
 */
#ifndef GS_LAUNCH_CHILD_H
#define GS_LAUNCH_CHILD_H

#include <sys/types.h>

#include "gs-launch/launch.h"
#include "gs-launch/report.h"

struct child {
	pid_t pid;
	int gate; /* we open it with one byte */
	int news; /* what the child says; end of file: it has executed */
};

/*
 * Fork it.  Its output is our stderr, its environment ours; `report` is ours
 * alone, and so is everything close-on-exec.  On return it waits at the gate,
 * in a session of its own.  -1 with *why.
 */
int child_start(
    struct child *c, const struct launch *l, int report, struct refusal *why);

/* Open the gate.  0 when the command has been executed (or the child was
 * killed before it could be), else the errno of execve(2). */
int child_release(struct child *c);

/* Do not: it ends, and is reaped here. */
void child_drop(struct child *c);

#endif
