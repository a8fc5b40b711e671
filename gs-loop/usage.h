/* SPDX-License-Identifier: MIT */
/* What the jobs use, measured from frames, beside what they declared. */
#ifndef GS_LOOP_USAGE_H
#define GS_LOOP_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/json.h"

struct loop;
struct run;

/* Take in the latest frame: uses, peaks, utilisation, warnings. */
void usage_frame(struct loop *l);

/* Add the object `peak` {uuid: MiB}, if there is one; `fresh` only if the
 * journal does not know it yet. */
void usage_peaks(cJSON *ev, const struct run *r, bool fresh);

/* Average utilisation in percent; -1 unknown. */
int64_t usage_util(const struct run *r);

/* The largest of its peaks, or of its present uses; -1: never seen. */
int64_t usage_peak(const struct run *r);
int64_t usage_now(const struct run *r);

/* Was one of its GPUs seen nearly full in the last ten seconds? */
bool usage_full(const struct run *r);

/*
 * "peak vram gpu0:17910 MiB | declared 18432 MiB → within ±10%": what a
 * completion line says.  Nothing for a job without a GPU.
 */
void usage_verdict(struct buf *b, const struct run *r, int64_t tolerance_ppm);

#endif
