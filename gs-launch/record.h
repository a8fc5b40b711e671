/* SPDX-License-Identifier: MIT */
/*
 * Getting events into the journal for certain: what cannot be written now is
 * kept, in order, and tried again for as long as it takes.
 */
#ifndef GS_LAUNCH_RECORD_H
#define GS_LAUNCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/json.h"

struct record {
	const char *path; /* NULL: there is no journal, nothing is ever due */
	struct buf due; /* lines not written yet */
	int64_t at; /* monotonic ms of the next try; -1: nothing is due */
	int64_t pause_ms; /* before the try after that */
	bool warned;
	int claimed; /* the file the attempt was claimed in; -1: not known */
};

void record_init(struct record *r, const char *path);

/* The journal that is at `path` now is the one; write to no other. */
void record_bind(struct record *r);

/* Add an event, which is freed, and try at once. */
void record_add(struct record *r, cJSON *ev, int64_t now);

/* Try again if it is time. */
void record_step(struct record *r, int64_t now);

#endif
