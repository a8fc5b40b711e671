/* SPDX-License-Identifier: MIT */
/* The events that may be appended, and the types of their members. */
#ifndef GS_JOURNAL_VOCAB_H
#define GS_JOURNAL_VOCAB_H

#include <stdbool.h>

struct vocab_event {
	const char *name;
	const char *needs[4]; /* members it must have, up to a NULL */
	bool sync; /* it must be on the disk before anything acts on it */
};

enum vocab_type {
	VOCAB_ANY, /* a number if it looks like one */
	VOCAB_STRING, /* whatever it looks like */
	VOCAB_LIST, /* strings, joined by commas */
	VOCAB_COUNT, /* a whole number */
	VOCAB_OURS, /* not for the user to give */
};

/* NULL: no such event. */
const struct vocab_event *vocab_find(const char *name);

/* The names of all events, joined by blanks. */
const char *vocab_names(void);

enum vocab_type vocab_type(const char *key);

#endif
