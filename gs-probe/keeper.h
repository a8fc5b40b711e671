/* SPDX-License-Identifier: MIT */
/*
 * A fork of ours that looks in our place and is kept: it loads what it needs
 * once, and answers each request with a frame.  Calls into a driver may hang,
 * in a way that no signal ends, crash, or print; none of that reaches us.
 */
#ifndef GS_KEEPER_H
#define GS_KEEPER_H

#include "lib/buf.h"
#include "gs-probe/backend.h"
#include "gs-probe/snap.h"

/* What it does in the child. */
struct keeper_work {
	/* Get ready; NULL with the reason in *why if that cannot be. */
	void *(*begin)(struct buf *why);
	/* Look, into an empty *s; -1 with the reason in *why. */
	int (*look)(void *state, struct snap *s, struct buf *why);
};

/*
 * These three are what a backend needs.  A look starts the child again if the
 * last one failed.  The reason of a failure is the child's own, or that it
 * crashed, took longer than allowed, or an earlier one cannot be killed.
 */
void *keeper_open(const struct keeper_work *work,
    const struct backend_conf *conf, struct buf *why);
int keeper_look(void *keeper, struct snap *s, struct buf *why);
void keeper_close(void *keeper);

#endif
