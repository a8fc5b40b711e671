/* SPDX-License-Identifier: MIT */
/*
 * The simulation: a directory with a file `gpus`, which says how large each
 * GPU is, and one claim file for each process and GPU.  gs-probe --sim makes
 * it, gs-simjob uses it.
 */
#ifndef GS_SIMDIR_H
#define GS_SIMDIR_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct claim {
	size_t gpu; /* index */
	pid_t pid;
	int64_t start; /* of the process, as in /proc */
	int64_t mib;
	int64_t util; /* percent */
};

/* GS_SIM_DIR, else /tmp/gs-sim-UID; to be freed. */
char *simdir_path(void);

/*
 * Open the directory; make it if `create`.  -1 with errno; EPERM if it is
 * not ours alone.
 */
int simdir_open(const char *path, bool create);

/* Say that there are n GPUs of `mib` each; -1 with errno. */
int simdir_set_gpus(int dir, size_t n, int64_t mib);

/* The sizes, to be freed; -1 with errno (ENOENT: there is no simulation). */
int simdir_gpus(int dir, int64_t **mib, size_t *n);

/*
 * The claims of processes that are alive, by GPU and pid, to be freed; -1
 * with errno.
 */
int simdir_claims(int dir, struct claim **list, size_t *n);

/* Record a claim in place of this process's earlier one; -1 with errno. */
int simdir_claim(int dir, const struct claim *c);
void simdir_unclaim(int dir, const struct claim *c);

/* Keep others from claiming.  A descriptor to close(2); -1 with errno. */
int simdir_lock(int dir);

#endif
