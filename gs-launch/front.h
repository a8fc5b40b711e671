/* SPDX-License-Identifier: MIT */
/* The process that the caller started: it forks the supervisor and answers. */
#ifndef GS_LAUNCH_FRONT_H
#define GS_LAUNCH_FRONT_H

#include "gs-launch/launch.h"

/* Returns the exit status. */
int front(const struct launch *l);

#endif
