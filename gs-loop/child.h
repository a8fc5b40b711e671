/* SPDX-License-Identifier: MIT */
/*
 * Programs that gs-loop runs.  gs-probe and gs-place are kept: they read from
 * a pipe, answer in frames, and are started again, after growing pauses, when
 * they end or fall silent.
 */
#ifndef GS_LOOP_CHILD_H
#define GS_LOOP_CHILD_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "gs-loop/source.h"
#include "lib/rec.h"

struct loop;

enum {
	CHILD_PAUSE_MS = 1000, /* before the first restart, doubling */
	CHILD_PAUSE_MAX_MS = 30000,
	CHILD_WRITE_MS = 5000, /* to take a question */
};

/*
 * Start `cmd` (or the sibling program `name`, if cmd is NULL) with these
 * further words, stdin and stdout piped to us.  0, or an errno.
 */
int child_start(const char *cmd, const char *name, char *const *words,
    struct source *out, int *in, pid_t *pid);

/* Write to its stdin, but do not wait for ever.  -1 with errno. */
int child_write(int fd, const void *p, size_t n);

/* The pause after this one. */
int64_t child_longer(int64_t pause_ms);

/* One that is kept. */
struct child {
	struct source src; /* its stdout; fd -1: not connected */
	int in; /* its stdin; -1 */
	pid_t pid; /* -1: none */
	struct frames stream; /* what it says */
	int64_t start_at; /* not to be started before; INT64_MAX: it runs */
	int64_t pause_ms; /* before the next restart */
};

void child_init(struct child *c);

/* Start and watch it; -1 with the reason in *why, and a pause. */
int child_keep(struct loop *l, struct child *c, const char *cmd,
    const char *name, char *const *words, const char **why);

/* Read what there is into c->stream.  False if there is nothing to parse;
 * at the end of file it is disconnected, and SIGCHLD tells the rest. */
int child_hear(struct loop *l, struct child *c);

/* It is of no more use: end it, and start another one after the pause. */
void child_give_up(struct loop *l, struct child *c);

/* We end, so it does. */
void child_end(struct loop *l, struct child *c);

/* "exit status 2" or "signal 9", in a static buffer. */
const char *child_fate(int status);

#endif
