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

/*
 * Print the snapshot for Prometheus, with the jobs of the log directory's
 * journal, if one is given.  -1 if that cannot be had, which is said.
 */
int probe_prometheus(const struct probe *p, const char *log_dir);

void probe_close(struct probe *p);

#endif
