/* SPDX-License-Identifier: MIT */
/*
 * The processes that descend from this one.  As the child subreaper of all of
 * them it sees every one that a walk over the children can see; a process
 * born behind the walk's back is met by the next walk.
 */
#ifndef GS_LAUNCH_TREE_H
#define GS_LAUNCH_TREE_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

struct member {
	pid_t pid;
	int64_t start; /* with pid: this process and no other */
	char state; /* as in stat */
};

struct tree {
	struct member *v; /* parents before their children */
	size_t n;
	size_t cap;
};

/*
 * Walk anew, and send `sig` to each process as it is met, before its children
 * are looked for (0: send nothing).  `except` is left out (0: nobody).
 */
void tree_walk(struct tree *t, pid_t except, int sig);

/* Send `sig` to what the last walk met: parents first, or children first. */
void tree_signal(const struct tree *t, int sig);
void tree_signal_up(const struct tree *t, int sig);

/* Stop all of it, parents first, until a walk meets nobody who still runs (or
 * some tenths of a second have passed). */
void tree_freeze(struct tree *t, pid_t except);

void tree_free(struct tree *t);

#endif
