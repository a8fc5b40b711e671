/* SPDX-License-Identifier: MIT */
/*
 * What /proc says of processes.  (pid, start, boot id) names a process for
 * ever; a pid alone names nothing.  Processes come and go while we look, so
 * "it is not there any more" is an ordinary answer (-1, ESRCH).
 */
#ifndef GS_PROCFS_H
#define GS_PROCFS_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

struct pstat {
	pid_t pid;
	pid_t ppid;
	pid_t pgid;
	pid_t sid;
	int64_t start; /* clock ticks after boot: field 22 of stat */
	uid_t uid; /* effective, owner of /proc/PID */
	char state; /* R S D T t Z X I */
	char comm[64]; /* between the outer parentheses */
};

enum {
	BOOT_ID_MAX = 37
};

/* -1 with errno (ESRCH if there is no such process). */
int procfs_stat(pid_t pid, struct pstat *st);

/* Is exactly this process there, and not a zombie? */
bool procfs_alive(pid_t pid, int64_t start);

/* The value of `name` in the process's environment at its last exec, to be
 * freed; NULL if there is none or it may not be read. */
char *procfs_env(pid_t pid, const char *name);

/* The words of its command line, each ended by a NUL; -1 with errno. */
int procfs_cmdline(pid_t pid, struct buf *b);

/* All processes, sorted by pid, to be freed; -1 with errno. */
int procfs_list(struct pstat **list, size_t *n);

/* Its children, to be freed; -1 with errno. */
int procfs_children(pid_t pid, pid_t **list, size_t *n);

/* The id of this boot; "-" if the kernel does not say. */
void procfs_boot(char out[BOOT_ID_MAX]);

#endif
