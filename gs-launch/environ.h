/* SPDX-License-Identifier: MIT */
/* The environment of the job. */
#ifndef GS_LAUNCH_ENVIRON_H
#define GS_LAUNCH_ENVIRON_H

#include "gs-launch/launch.h"
#include "gs-launch/report.h"

/* Make this process's environment that of the job.  -1 with *why. */
int environ_shape(const struct launch *l, struct refusal *why);

#endif
