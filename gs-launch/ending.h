/* SPDX-License-Identifier: MIT */
/* How the job's own process ended. */
#ifndef GS_LAUNCH_ENDING_H
#define GS_LAUNCH_ENDING_H

#include <sys/types.h>

#include <stdint.h>

#include "lib/fold.h"

struct ending {
	enum exit_cause cause;
	int status; /* as a shell has it; 124 and 143 if we ended it */
	int own_status; /* what the process made of that; -1: it is status */
	int exec_errno; /* with CAUSE_EXEC: why */
	int64_t wall_ms;
	int64_t user_ms; /* of the process and the children it waited for */
	int64_t sys_ms;
	int64_t maxrss_kib; /* of the largest of them */
};

/*
 * Read the end of a child without reaping it.  1 and *e (all but wall_ms), 0
 * if it has not ended.
 */
int ending_read(pid_t pid, struct ending *e);

/* Turn what was read into what it means, given that we stopped the job (one
 * of CAUSE_TIMEOUT, CAUSE_STOPPED) or could not execute it. */
void ending_stopped(struct ending *e, enum exit_cause why);
void ending_noexec(struct ending *e, int exec_errno);

#endif
