/* SPDX-License-Identifier: MIT */
/* The jobs of a fold, found by id or number in constant time.  For
 * lib/fold.c. */
#ifndef GS_JOBTAB_H
#define GS_JOBTAB_H

#include <stddef.h>
#include <stdint.h>

#include "lib/fold.h"

/* Chains through the jobs: positions, plus one; 0 ends one. */
struct joblink {
	uint32_t by_id;
	uint32_t by_no;
	uint32_t hash; /* of the id, so that growing need not look at it */
};

/* `{0}` is an empty one. */
struct jobtab {
	struct job_fold *job; /* in order of first sight */
	struct joblink *link; /* one for each job */
	size_t n;
	size_t cap;
	uint32_t *ids; /* heads of the chains */
	uint32_t *nos;
	size_t heads; /* a power of two, or 0 */
};

/* A new job; takes the string.  It must not be there yet. */
struct job_fold *jobtab_add(struct jobtab *t, char *id);

/* Give a job that has none its number. */
void jobtab_number(struct jobtab *t, struct job_fold *j, int64_t no);

/* NULL if there is none. */
struct job_fold *jobtab_id(const struct jobtab *t, const char *id);
struct job_fold *jobtab_no(const struct jobtab *t, int64_t no);

void jobtab_free(struct jobtab *t);

#endif
