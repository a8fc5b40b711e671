/* SPDX-License-Identifier: MIT */
/*
 * The seam between gs-probe and a source of snapshots.  A new backend is one
 * file with these functions and one line in backend.c.
 */
#ifndef GS_BACKEND_H
#define GS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

struct snap;

struct backend_conf {
	const char *arg; /* what follows its name, or NULL */
	int64_t timeout_ms; /* of each single call of the driver's tool */
};

struct backend {
	const char *name;
	bool tells_all; /* snapshots come with starts, peaks and jobs */
	bool on_request; /* never chosen, only asked for */
	/*
	 * Get ready; NULL, with the reason in *why, if it can never work as
	 * asked for.
	 */
	void *(*open)(const struct backend_conf *conf, struct buf *why);
	/*
	 * Look once, within bounded time, into an empty *s.  -1 with the
	 * reason in *why, and then nothing in *s is to be used.
	 */
	int (*look)(void *state, struct snap *s, struct buf *why);
	void (*close)(void *state);
	/* What a user can do about that reason; NULL: nothing special. */
	const char *(*advice)(const char *why);
};

/* NULL behind the last one; in the order in which they are tried. */
extern const struct backend *const backends[];

/*
 * The backend that `spec`, NAME or NAME:ARG, asks for, with its argument in
 * *arg; NULL if there is no such.
 */
const struct backend *backend_find(const char *spec, const char **arg);

#endif
