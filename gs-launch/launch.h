/* SPDX-License-Identifier: MIT */
/* What gs-launch was asked to do. */
#ifndef GS_LAUNCH_LAUNCH_H
#define GS_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

/* Strings are NULL where nothing was said. */
struct launch {
	char **argv; /* NULL-terminated */
	char *cmd; /* argv as text; freed by main */
	const char *id;
	int64_t attempt; /* from 1 */
	int64_t no; /* number for people; -1: none */
	const char *gpus; /* "0,1"; "": none may be seen */
	const char *uuids; /* the same GPUs */
	const char *mask; /* NAME=LIST that shows them to programs; NULL: gpus
	    in CUDA_VISIBLE_DEVICES */
	int64_t vram_mib; /* for each GPU; -1: undeclared */
	const char *log;
	const char *journal; /* then id is there, too */
	int64_t seen; /* bytes of it the caller has read; -1: not said */
	int64_t timeout_ms; /* -1: none */
	int64_t grace_ms; /* between TERM and KILL */
	const char *cwd;
	const char *env; /* file that replaces the environment */
	bool linger; /* leftovers may stay */
	bool wait; /* stay until the end */
};

#endif
