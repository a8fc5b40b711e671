/* SPDX-License-Identifier: MIT */
/* What the gs-probe and gs-place children have in common. */
#ifndef GS_LOOP_CHILD_H
#define GS_LOOP_CHILD_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "gs-loop/source.h"

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

/* "exit status 2" or "signal 9", in a static buffer. */
const char *child_fate(int status);

#endif
