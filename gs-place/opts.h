/* SPDX-License-Identifier: MIT */
/* The command line of gs-place. */
#ifndef GS_PLACE_OPTS_H
#define GS_PLACE_OPTS_H

#include <stdbool.h>
#include <stddef.h>

#include "gs-place/alloc.h"
#include "gs-place/snap.h"

struct opts {
	struct rules rules;
	struct job *job; /* of --job; ids are "1", "2", ... */
	size_t njob;
	bool gpus_only;
	bool wait;
};

/* Ends the program on wrong use, --help and --version. */
void opts_parse(int argc, char *argv[], struct opts *o);
void opts_free(struct opts *o);

#endif
