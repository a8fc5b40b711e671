/* SPDX-License-Identifier: MIT */
/*
 * Where a job goes.  Pure: a snapshot and rules in, an answer out; no input,
 * no output, no clock, no environment.  Jobs are asked for in order, and each
 * that is placed counts for those behind it.
 */
#ifndef GS_PLACE_ALLOC_H
#define GS_PLACE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job;
struct snap;

enum policy {
	BACKFILL, /* smaller jobs pass those that wait */
	FIFO, /* nothing passes */
};

/* What the operator decides. */
struct rules {
	char **gpus; /* indices or UUIDs, best first; NULL: all */
	size_t ngpus;
	int64_t idle_mib; /* less than this in use is idle */
	int64_t margin_mib; /* kept free beside each declaration */
	int64_t spike_ppm; /* on top of the peaks seen */
	int64_t slots; /* 0: no limit */
	int64_t shared; /* index of the GPU of light jobs; -1: the last */
	bool exclusive; /* one of our jobs a GPU */
	enum policy policy;
};

enum verdict {
	PLACED,
	WAIT,
	NEVER
};

struct answer {
	enum verdict verdict;
	const char *reason; /* a word of the manual; NULL if placed */
	char text[256]; /* the facts behind it */
	const int64_t *gpu; /* indices, ascending; good until the next call */
	size_t ngpu; /* 0: a job without GPUs */
	int64_t headroom; /* of the tightest of them before; -1: unknown */
};

struct alloc;

/* The snapshot and the rules must outlive it. */
struct alloc *alloc_new(const struct snap *s, const struct rules *rules);
void alloc_job(struct alloc *a, const struct job *j, struct answer *out);
void alloc_free(struct alloc *a);

#endif
