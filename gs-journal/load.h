/* SPDX-License-Identifier: MIT */
/* The journal as the verbs read it. */
#ifndef GS_JOURNAL_LOAD_H
#define GS_JOURNAL_LOAD_H

#include "gs-journal/verb.h"
#include "lib/fold.h"
#include "lib/journal.h"

/* Open the journal; ends the program with status 2 if there is none. */
void load_open(const struct opts *o, struct journal_reader *r);

/* Read on to its present end, into the fold. */
void load_more(struct journal_reader *r, struct fold *f);

/* Say once what damage was passed. */
void load_damage(const struct journal_reader *r);

/* All of the above, and close it: the fold of the whole journal. */
struct fold *load_fold(const struct opts *o);

/* The job of a word, or NULL after a message. */
struct job_fold *load_job(const struct fold *f, const char *word);

/* What to call a job in a message: its number, or its id.  To be freed. */
char *load_name(const struct job_fold *j);

#endif
