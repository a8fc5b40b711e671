/* SPDX-License-Identifier: MIT */
/* The frames that gs-launch prints, each at once. */
#ifndef GS_LAUNCH_ANSWER_H
#define GS_LAUNCH_ANSWER_H

#include "gs-launch/launch.h"
#include "gs-launch/report.h"

/* They end the program if stdout cannot be written. */
void answer_start(const struct launch *l, const struct names *n);
void answer_exit(const struct launch *l, const struct ending *e);
void answer_refused(const struct launch *l, const struct refusal *why);

#endif
