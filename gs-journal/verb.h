/* SPDX-License-Identifier: MIT */
/*
 * The verbs of gs-journal.  Each is one function, which gets the options and
 * operands and returns the exit status.
 */
#ifndef GS_JOURNAL_VERB_H
#define GS_JOURNAL_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opts {
	const char *journal; /* -j, or NULL */
	const char *logdir; /* -l, or NULL */
	int64_t lines; /* -n; -1: all */
	int64_t attempt; /* --attempt; -1: the latest */
	int64_t timeout_ms; /* -t; -1: none */
	bool follow; /* -f */
	bool compact; /* -c */
	bool raw; /* -r */
	bool slurp; /* -s */
	char *path; /* of the journal, by the above and the environment */
	char **word; /* the verb and its operands, allocated */
	char **arg; /* operands of the verb */
	size_t narg;
};

int verb_append(const struct opts *);
int verb_state(const struct opts *);
int verb_query(const struct opts *);
int verb_show(const struct opts *);
int verb_log(const struct opts *);
int verb_wait(const struct opts *);
int verb_check(const struct opts *);

/* One line about what is wrong, one with the usage; status 2. */
_Noreturn void bad_use(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

#endif
