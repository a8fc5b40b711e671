/* SPDX-License-Identifier: MIT */
/* The supervisor: from the fork to the end of the job's process tree. */
#ifndef GS_LAUNCH_SUPERVISE_H
#define GS_LAUNCH_SUPERVISE_H

#include "gs-launch/launch.h"

/*
 * Call it in a new process, with all signals blocked.  `report` is the pipe to
 * the process that forked it.
 */
void supervise(const struct launch *l, int report) __attribute__((noreturn));

#endif
