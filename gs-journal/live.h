/* SPDX-License-Identifier: MIT */
/* A journal that is followed while others write it. */
#ifndef GS_JOURNAL_LIVE_H
#define GS_JOURNAL_LIVE_H

#include <stdbool.h>

#include "lib/fold.h"
#include "lib/journal.h"

struct opts;

struct live {
	struct journal_reader r;
	struct fold *f;
	char *lock; /* the lock file of the log directory's gs-loop */
	int watch;
};

void live_open(struct live *l, const struct opts *o);

/* Read what is new.  Ends the program with status 2 if another journal has
 * taken the place of the one that is being read. */
void live_read(struct live *l);

/*
 * Has the job ended for good?  An end that nobody has judged yet may be
 * followed by another attempt, but only while there is a gs-loop.
 */
bool live_over(const struct live *l, const struct job_fold *j);

void live_close(struct live *l);

#endif
