/* SPDX-License-Identifier: MIT */
/* Processes that hold DRM devices open, by what their descriptors say. */
#ifndef GS_DRMPROC_H
#define GS_DRMPROC_H

#include "gs-probe/snap.h"

/*
 * Add them.  Descriptors of other users' processes cannot be read; then the
 * list is marked as hiding some.
 */
void drmprocs(struct snap *s);

/* Name those that have no name yet, and are still there. */
void drmprocs_name(struct snap *s);

#endif
