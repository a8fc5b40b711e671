/* SPDX-License-Identifier: MIT */
/*
 * What /proc says about whose a process is.  Only the process and its
 * ancestors are read.
 */
#ifndef GS_WITNESS_H
#define GS_WITNESS_H

#include "lib/procfs.h"

/*
 * The log directory whose jobs count, or NULL for all of them.  Two users may
 * run the same command and so have jobs of the same id.
 */
struct scope {
	const char *dir;
};

/*
 * The job whose gs-launch is an ancestor; to be freed.  NULL if there is none
 * within the scope.
 */
char *witness_tree(const struct pstat *st, const struct scope *sc);

/* GS_JOB of the process, or of the nearest ancestor that has it; likewise. */
char *witness_env(const struct pstat *st, const struct scope *sc);

#endif
