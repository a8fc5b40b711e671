/* SPDX-License-Identifier: MIT */
/* A backend put to work: looking, restricting, attributing, printing. */
#ifndef GS_PROBE_H
#define GS_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "gs-probe/attrib.h"
#include "gs-probe/gpumem.h"
#include "gs-probe/select.h"
#include "gs-probe/snap.h"

struct backend;

struct probe {
	const struct backend *backend;
	void *state; /* the backend's */
	struct gpumem gpumem;
	struct select select;
	struct attrib attrib;
	struct snap snap; /* the latest good one */
};

/*
 * Look.  On failure p->snap is empty, and the reason is said on stderr unless
 * it was said before.
 */
bool probe_look(struct probe *p);

/* Print the snapshot n times; ends the program if that fails. */
void probe_print(const struct probe *p, size_t n);

void probe_close(struct probe *p);

#endif
