/* SPDX-License-Identifier: MIT */
/*
 * gs-loop's side of the journal: what we append comes back through the same
 * reader as what others append, so there is one way into the fold.
 */
#ifndef GS_LOOP_LEDGER_H
#define GS_LOOP_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/fold.h"
#include "lib/journal.h"

struct ledger {
	char *path; /* absolute */
	struct journal_reader reader;
	struct fold *fold;
	void (*note)(void *, const cJSON *); /* called with each note; NULL */
	void *arg;
	bool news; /* events were taken in since this was last cleared */
	bool failing; /* the last append failed, and that was said */
	bool told_damage;
};

/* Open and read everything there is.  Ends the program if it cannot. */
void ledger_open(struct ledger *g, const char *path);

/* Read what is new. */
void ledger_pull(struct ledger *g);

/* A new event about a job; attempt 0 is left out. */
cJSON *ledger_event(const char *name, const char *id, int64_t attempt);

/*
 * Append (and free) an event, then pull.  -1 if it could not be written,
 * which is said once; the caller tries again later.
 */
int ledger_append(struct ledger *g, cJSON *ev, bool sync);

/*
 * Record that a job is over without having run: a `done` event.  A status
 * below 0 is left out.
 */
int ledger_done(struct ledger *g, const char *id, int64_t attempt,
    enum job_state state, int64_t status, const char *reason);

/* Append whole lines made by event_line. */
int ledger_append_lines(struct ledger *g, const struct buf *lines, bool sync);

#endif
