/* SPDX-License-Identifier: MIT */
/*
 * The operator's word for how much memory a GPU has, where the driver tells
 * none: on machines whose memory is one for processor and GPU.
 */
#ifndef GS_GPUMEM_H
#define GS_GPUMEM_H

#include <stddef.h>
#include <stdint.h>

#include "gs-probe/snap.h"

struct gpumem_one {
	char *gpu; /* index or UUID */
	int64_t mib;
};

struct gpumem {
	struct gpumem_one *v;
	size_t n;
};

/* Take "GPU=SIZE".  -1 with *errstr if it is not that. */
int gpumem_add(struct gpumem *m, const char *word, const char **errstr);

/*
 * Give the GPUs their totals.  What is used is then what the processes use, if
 * nobody says more; a GPU that takes no job only because its memory is the
 * machine's takes some now.
 */
void gpumem_apply(const struct gpumem *m, struct snap *s);

void gpumem_free(struct gpumem *m);

#endif
