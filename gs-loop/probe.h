/* SPDX-License-Identifier: MIT */
/*
 * The gs-probe child.  It streams a frame every --poll seconds, and one more
 * whenever a job ended.  If it dies or falls silent, nothing new is placed on
 * a GPU until a good frame comes; everything else goes on.
 */
#ifndef GS_LOOP_PROBE_H
#define GS_LOOP_PROBE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "gs-loop/child.h"
#include "lib/rec.h"

struct loop;

struct probe {
	struct child child;
	struct frame frame; /* the latest; n == 0 and no head: none */
	int64_t at; /* when it came; 0: never */
	uint64_t layout; /* changes when the indices name other GPUs */
	size_t ngpu; /* GPUs in the latest frame, */
	size_t most; /* and in the largest so far */
	bool hopeless; /* it ended without ever having seen a GPU */
	bool told; /* that there is no good frame */
	bool asked; /* a frame was demanded and has not come */
	bool again; /* ... and one more is wanted behind it */
	int64_t asked_at;
};

void probe_init(struct probe *p);

/* Ask for a frame now. */
void probe_demand(struct loop *l);

/* Is the latest frame good enough to place by? */
bool probe_fresh(const struct loop *l);

/* A GPU of the latest frame, by its index or its UUID; NULL if it is not
 * there. */
const struct rec *probe_gpu(const struct probe *p, const char *name);

int64_t probe_due(const struct loop *l);
void probe_tick(struct loop *l, int64_t now);

/* It was reaped: true if that pid was ours. */
bool probe_reaped(struct loop *l, pid_t pid, int status);

void probe_stop(struct loop *l);

#endif
