/* SPDX-License-Identifier: MIT */
/*
 * Which GPUs are shown, and in which order.  Numbers are turned into UUIDs
 * when GPUs are first seen: if a card drops out the driver renumbers the
 * others, and number 1 would quietly be another card.
 */
#ifndef GS_SELECT_H
#define GS_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

struct snap;

struct chosen {
	int64_t index;
	char *uuid; /* NULL: unknown, the index has to do */
};

/* `{0}` shows all. */
struct select {
	const char *gpus; /* --gpus, or NULL */
	const char *visible; /* CUDA_VISIBLE_DEVICES, or NULL */
	bool done; /* chosen is filled in */
	struct chosen *chosen;
	size_t n;
};

/* Is it a list of distinct numbers?  The offending word in *word if not. */
bool select_valid(const char *gpus, struct buf *word);

/*
 * Leave only the chosen ones in s.  -1 with the reason in *why if --gpus
 * names one that is not there at the first time; later that is only said.
 */
int select_apply(struct select *sel, struct snap *s, struct buf *why);

void select_free(struct select *sel);

#endif
