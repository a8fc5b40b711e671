/* SPDX-License-Identifier: MIT */
/*
 * The gs-place child: one question at a time, made of the latest frame, the
 * attempts in flight and the first few lines of every shape.
 */
#ifndef GS_LOOP_PLACE_H
#define GS_LOOP_PLACE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gs-loop/child.h"
#include "lib/rec.h"

struct loop;

struct place {
	struct child child;
	size_t *asked; /* lines in the question, in order */
	size_t nasked;
	uint64_t generation; /* of the queue, */
	uint64_t layout; /* and of the GPUs it was about */
	bool waiting; /* for an answer */
	int64_t asked_at;
};

void place_init(struct place *p);

/* Ask, unless a question is out, nothing could start, or it is too early. */
void place_ask(struct loop *l);

int64_t place_due(const struct loop *l);
void place_tick(struct loop *l, int64_t now);
bool place_reaped(struct loop *l, pid_t pid, int status);
void place_stop(struct loop *l);

#endif
