/* SPDX-License-Identifier: MIT */
/*
 * A fork of ours that calls into a driver's library and is kept: it loads the
 * library once and answers each request with a frame.  The calls may hang, in
 * a way that no signal ends, crash, or print; none of that reaches us.
 */
#ifndef GS_KEEPER_H
#define GS_KEEPER_H

#include <sys/types.h>

#include <stdint.h>

#include "lib/buf.h"
#include "lib/rec.h"

/* What it does in the child. */
struct keeper_work {
	/* Get ready; NULL with the reason in *why if that cannot be. */
	void *(*begin)(struct buf *why);
	/* Append a frame; -1 with the reason in *why. */
	int (*look)(void *state, struct recw *w, struct buf *why);
};

struct keeper {
	const struct keeper_work *work;
	pid_t pid; /* 0: there is none */
	int fd; /* a byte to it is a request, a frame from it the answer */
	struct frames in;
	pid_t stuck; /* one that outlived SIGKILL; 0 */
};

void keeper_init(struct keeper *k, const struct keeper_work *work);

/*
 * Start it, if there is none, and wait until it is ready.  -1 with the reason
 * in *why: it could not begin, crashed, took longer, or an earlier one cannot
 * be killed.
 */
int keeper_start(struct keeper *k, int64_t timeout_ms, struct buf *why);

/* Ask for a frame, to be freed by the caller.  It is started if need be. */
int keeper_ask(
    struct keeper *k, int64_t timeout_ms, struct frame *f, struct buf *why);

void keeper_end(struct keeper *k);

#endif
