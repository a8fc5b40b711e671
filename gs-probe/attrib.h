/* SPDX-License-Identifier: MIT */
/*
 * Whose processes they are, and how much each has used at most.  Remembers
 * from snapshot to snapshot.
 */
#ifndef GS_ATTRIB_H
#define GS_ATTRIB_H

#include <stdbool.h>

#include "gs-probe/pids.h"
#include "gs-probe/witness.h"

struct snap;
struct seen;

/* `{0}` with a scope remembers nothing yet. */
struct attrib {
	struct scope scope;
	struct pids pids;
	struct seen *seen;
	size_t n;
};

/*
 * Fill in pgid, sid, start, user, job and peak of the processes.  With
 * `told`, all but the peak are already there.
 */
void attrib_snap(struct attrib *a, struct snap *s, bool told);

void attrib_free(struct attrib *a);

#endif
