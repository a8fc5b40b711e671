/* SPDX-License-Identifier: MIT */
/* Starting a job through gs-launch. */
#ifndef GS_LOOP_LAUNCH_H
#define GS_LOOP_LAUNCH_H

struct loop;
struct line;

/*
 * Start gs-launch for a line on those GPUs (indices of the latest frame;
 * NULL: none).  From here on the attempt is in l->runs, and its GPUs count as
 * taken.
 */
void launch(struct loop *l, const struct line *line, const char *gpus);

#endif
