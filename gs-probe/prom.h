/* SPDX-License-Identifier: MIT */
/*
 * A snapshot, and what gs-journal says of the jobs, in the text format that
 * Prometheus reads.  Pure.  What is unknown has no sample.
 */
#ifndef GS_PROM_H
#define GS_PROM_H

#include "lib/buf.h"
#include "lib/rec.h"
#include "gs-probe/snap.h"

void prom_gpus(struct buf *b, const struct snap *s, int64_t now);

/* The `state` records of a frame. */
void prom_jobs(struct buf *b, const struct frame *f);

#endif
