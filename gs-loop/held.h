/* SPDX-License-Identifier: MIT */
/*
 * Memory that is still held in the name of a job that has ended: the driver
 * is slow to give it back, or a process was allowed to linger.  gs-place takes
 * it for foreign; here it is only told of, for else nobody knows why the next
 * job waits.
 */
#ifndef GS_LOOP_HELD_H
#define GS_LOOP_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;

struct holder {
	char *id; /* of the job */
	int64_t pid;
	int frames; /* in a row that show it */
	bool shown; /* in the latest */
};

struct held {
	struct holder *v;
	size_t n;
};

/* Take in the latest frame. */
void held_frame(struct loop *l);

#endif
