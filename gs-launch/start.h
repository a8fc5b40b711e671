/* SPDX-License-Identifier: MIT */
/* The start of the job, step by step, in the supervisor. */
#ifndef GS_LAUNCH_START_H
#define GS_LAUNCH_START_H

#include "gs-launch/launch.h"
#include "gs-launch/report.h"

struct started {
	struct names names;
	int sigfd; /* of CHLD, TERM, TSTP and CONT; non-blocking */
	int exec_errno; /* 0: the command was executed */
};

/*
 * Make this process a supervisor, claim the attempt and let the job run.
 * `report` is the one descriptor that is kept.  0 when the claim is made, even
 * if the command could not be executed; else -1 with *why, and nothing was
 * started or recorded.
 */
int start(
    const struct launch *l, int report, struct started *s, struct refusal *why);

#endif
