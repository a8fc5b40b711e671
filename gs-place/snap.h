/* SPDX-License-Identifier: MIT */
/*
 * What a frame says of the machine and of the jobs, checked and cross-linked.
 * Strings belong to the frame, which must live as long.
 */
#ifndef GS_PLACE_SNAP_H
#define GS_PLACE_SNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/attr.h"

struct frame;

enum place {
	PLACE_NO, /* takes no job */
	PLACE_ALONE, /* takes one job while no process is on it */
	PLACE_YES,
};

/* All memory is in MiB. */
struct gpu {
	int64_t index; /* within the frame */
	const char *uuid; /* NULL: unknown */
	const char *name; /* of the model; NULL: unknown */
	const char *parent; /* uuid or index of the GPU it is a part of; NULL */
	const char *env; /* NAME=WORD that names it to programs; NULL */
	const char *why; /* why it takes no job; NULL */
	int64_t total; /* -1: unknown */
	int64_t used; /* -1: unknown */
	int64_t reserved; /* kept by the driver; 0 if unknown */
	enum place place;
	bool parted; /* other GPUs of the frame are parts of it */
	size_t procs; /* processes on it, whoever they belong to */
	int64_t foreign_peak; /* sum over the processes that are not ours */
};

/* What one of our jobs has on one GPU. */
struct hold {
	size_t gpu; /* place in snap.gpu */
	bool given; /* false: it is there although it was not sent there */
	int64_t used; /* sum over its processes */
	int64_t peak; /* the most seen */
	int64_t proc_peak; /* sum of the peaks of its processes */
};

/* A job of ours that runs. */
struct run {
	const char *id;
	struct attr attr;
	struct hold *hold;
	size_t nhold;
};

/* A job that asks for a place. */
struct job {
	const char *id;
	struct attr attr;
};

struct snap {
	struct gpu *gpu; /* in the order of the frame */
	size_t ngpu;
	struct run *run; /* sorted by id */
	size_t nrun;
	struct job *job; /* in the order of the frame */
	size_t njob;
};

/*
 * Read a frame.  Returns 0 and fills *s, which the caller frees; or -1 and in
 * err, of `size` bytes, which record is wrong.
 */
int snap_read(const struct frame *f, struct snap *s, char *err, size_t size);

void snap_free(struct snap *s);

/* The word as an index; -1 if it is none. */
int64_t gpu_number(const char *word);

/* Is the word, whose gpu_number() is `number`, the GPU's index or UUID? */
bool gpu_is(const struct gpu *g, const char *word, int64_t number);

#endif
