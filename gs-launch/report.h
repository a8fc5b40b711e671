/* SPDX-License-Identifier: MIT */
/*
 * What the supervisor tells the process that the caller started: one struct a
 * message, through a pipe, small enough to be written whole or not at all.
 */
#ifndef GS_LAUNCH_REPORT_H
#define GS_LAUNCH_REPORT_H

#include <sys/types.h>

#include <stdint.h>

#include "gs-launch/ending.h"
#include "lib/procfs.h"

/* Why nothing was started. */
struct refusal {
	char reason[16]; /* a word of gs-records(5) */
	char text[256]; /* for people */
};

/* The two processes, named for ever. */
struct names {
	pid_t leader; /* its group and session, too */
	int64_t start; /* field 22 of stat */
	pid_t supervisor;
	int64_t sup_start;
	char boot[BOOT_ID_MAX];
};

enum report_kind {
	REPORT_REFUSED, /* why */
	REPORT_STARTED, /* names */
	REPORT_ENDED, /* end; without a REPORT_STARTED if it never ran */
};

struct report {
	enum report_kind kind;
	union {
		struct refusal why;
		struct names names;
		struct ending end;
	};
};

/* Fill in a refusal.  Returns -1, to be returned on. */
int refuse(struct refusal *why, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Send; a reader that is gone is no error. */
void report_send(int fd, const struct report *r);

/* Receive, blocking.  1; 0 if the writer is gone; -1 with errno. */
int report_recv(int fd, struct report *r);

#endif
