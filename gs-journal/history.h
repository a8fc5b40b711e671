/* SPDX-License-Identifier: MIT */
/* The attempts of one job; the fold keeps only the latest. */
#ifndef GS_JOURNAL_HISTORY_H
#define GS_JOURNAL_HISTORY_H

#include "gs-journal/verb.h"
#include "lib/json.h"

struct attempt {
	int64_t no;
	double started; /* epoch seconds; 0: unknown */
	double ended;
	char *cause; /* the strings are NULL if unknown */
	int64_t status; /* numbers -1 */
	int64_t peak;
	char *gpus;
	char *log;
	char *note; /* what was said of its end: a verdict, a reason */
};

struct history {
	char *id; /* of the job */
	struct attempt *v;
	size_t n;
};

/* Take one event in, if it is of the job. */
void history_event(struct history *h, const cJSON *ev);

/* Read it all from the journal. */
void history_read(struct history *h, const struct opts *o, const char *id);

/* NULL if there is none with that number. */
struct attempt *history_find(const struct history *h, int64_t no);

void history_free(struct history *h);

#endif
