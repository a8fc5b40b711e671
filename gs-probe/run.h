/* SPDX-License-Identifier: MIT */
/*
 * Running a helper that may hang, crash or refuse: within a deadline, one at
 * a time.
 */
#ifndef GS_RUN_H
#define GS_RUN_H

#include <sys/types.h>

#include <stdint.h>

#include "lib/buf.h"

enum run_how {
	RUN_EXIT, /* it ended; code is its status */
	RUN_SIGNAL, /* it was killed by signal `code` */
	RUN_TIMEOUT, /* it did not end in time and was killed */
	RUN_STUCK, /* not started: an earlier one, pid `code`, lives on */
	RUN_ERROR, /* not started: errno `code` */
};

/* `{0}` before the first use. */
struct run {
	enum run_how how;
	int code;
	struct buf out; /* what it wrote to stdout and stderr, cut at 4 MiB */
	struct buf err;
};

void run_helper(struct run *r, char *const *argv, int64_t timeout_ms);
/*
 * For a fork of ours that calls into a driver: a process group of its own,
 * signals as they are by default, few descriptors, and an end with `parent`.
 */
void run_isolate(pid_t parent);

void run_free(struct run *r);

#endif
