/* SPDX-License-Identifier: MIT */
/*
 * The queue: the lines of the jobs file beside what the journal knows of
 * them.  "Pending" is: in the file, neither running nor over.
 */
#ifndef GS_LOOP_QUEUE_H
#define GS_LOOP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/jobs.h"

struct loop;
struct job_fold;

/* What a line is at this moment. */
enum line_is {
	LINE_NEW, /* not yet in the journal */
	LINE_OVER,
	LINE_RUNNING, /* or being launched */
	LINE_HELD,
	LINE_AFTER, /* waits for other jobs */
	LINE_DOOMED, /* waits for a job that did not end ok */
	LINE_STUCK, /* waits for a job that nobody knows */
	LINE_READY,
};

/*
 * Lines that look alike to gs-place.  They are interchangeable, so only as
 * many as might start are shown to it, and what it says of one holds for all.
 */
struct shape {
	char *attrs; /* the block gs-place sees */
	size_t asked; /* in the question that is out */
	size_t placed; /* in its answer */
	char *reason; /* why the first of them waits; NULL: not asked */
	char *text;
};

struct line {
	struct jobline job; /* borrowed from `jobs` */
	size_t shape;
	int64_t vram; /* MiB that the shape was made with; -1: none */
	bool over; /* LINE_OVER is for ever */
};

struct queue {
	struct jobs jobs;
	struct line *v;
	size_t n;
	struct shape *shape;
	size_t nshape;
	uint64_t generation; /* of the lines: counts queue_take */
	size_t dispatched; /* lines that were started or are over */
	bool news; /* lines to enter, cancel, skip or reshape */
	bool chained; /* some line has an `after` */
};

/*
 * Append the block that gs-place sees: without what only gs-loop and gs-launch
 * act upon.
 */
void shape_format(struct buf *b, const struct attr *a);

/* Replace the lines.  Takes *jobs. */
void queue_take(struct loop *l, struct jobs *jobs);

/*
 * Bring journal and lines together: number new jobs, obey `cancel`, skip what
 * waits for a failure.  Safe to repeat; what fails is tried again.
 */
void queue_settle(struct loop *l);

/*
 * What the line needs on each GPU, in MiB: as declared, or as a retry made of
 * that; -1: it does not say.
 */
int64_t queue_vram(const struct loop *l, const struct line *line);

enum line_is queue_line(struct loop *l, struct line *line);

/* A job was started for the first time. */
void queue_dispatched(struct loop *l);

/* May any line still run without anybody's help? */
bool queue_alive(struct loop *l);

/* Is there something to run, and all of it on GPUs? */
bool queue_wants_gpus(struct loop *l);

/* The greatest failing status of the jobs in the file; 0: all are ok. */
int queue_status(struct loop *l);

#endif
