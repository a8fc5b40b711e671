/* SPDX-License-Identifier: MIT */
/* A look at the machine through NVML.  It may hang, and it may crash. */
#ifndef GS_NVMLLOOK_H
#define GS_NVMLLOOK_H

#include <stddef.h>

#include "lib/buf.h"
#include "gs-probe/nvmlapi.h"
#include "gs-probe/snap.h"

/* `{0}` and a loaded library before the first look. */
struct nvmllook {
	struct nvml api;
	struct snap last; /* GPUs of the latest look: a lost one is named */
	void *list; /* entries of a process list */
	unsigned int room; /* of them */
};

/* Look, into an empty *s.  -1 with the reason in *why. */
int nvmllook(struct nvmllook *m, struct snap *s, struct buf *why);

#endif
