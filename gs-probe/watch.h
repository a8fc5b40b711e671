/* SPDX-License-Identifier: MIT */
/* Frame after frame: by the clock, on request, or both. */
#ifndef GS_WATCH_H
#define GS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct probe;

struct watch {
	int64_t interval_ms; /* between frames; -1: only on request */
	int64_t sample_ms; /* between looks; -1: as frames go */
	bool on_demand; /* a frame for each line of stdin */
};

/* Until nobody asks or nobody reads any more.  The exit status. */
int watch(struct probe *p, const struct watch *how);

#endif
