/* SPDX-License-Identifier: MIT */
/*
 * What /proc says of processes that are looked at again and again.  A pidfd
 * tells at no cost that a process still is the one it was; only its group and
 * session may change, so they are read anew now and then.
 */
#ifndef GS_PIDS_H
#define GS_PIDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/procfs.h"

struct pid_known {
	struct pstat st;
	int fd;
	unsigned int age; /* looks since it was read */
	bool used; /* since the last pids_forget */
};

struct pids {
	struct pid_known *v;
	size_t n;
};

/* As procfs_stat, of which the state may be an old one.  False: not there. */
bool pids_stat(struct pids *p, pid_t pid, struct pstat *st);

/* Forget those that were not asked for since the last time. */
void pids_forget(struct pids *p);

void pids_free(struct pids *p);

#endif
