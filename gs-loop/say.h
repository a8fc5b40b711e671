/* SPDX-License-Identifier: MIT */
/*
 * What gs-loop tells: lines on stdout, each with the time of day.  In a UTF-8
 * locale they hold a few signs beyond ASCII.
 */
#ifndef GS_LOOP_SAY_H
#define GS_LOOP_SAY_H

#include <stdint.h>

#include "lib/json.h"

struct loop;
struct run;
struct job_fold;

/* The signs, chosen once from LC_ALL, LC_CTYPE and LANG. */
struct signs {
	const char *dash; /* before a command */
	const char *arrow; /* before a verdict */
	const char *plus_minus;
	const char *running; /* marks of the board */
	const char *pending;
	const char *retrying;
	const char *ok;
	const char *failed;
	const char *cancelled;
};

const struct signs *signs(void);

/* One line, with the time of day before it. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void say_started(struct loop *l, const struct run *r);
void say_attached(const struct run *r);
void say_usage(const struct run *r); /* with --verbose */
void say_ended(struct loop *l, const struct run *r, const struct job_fold *j);
/* It ran out of GPU memory and is pending again. */
void say_retry(struct loop *l, const struct run *r, const struct job_fold *j);
void say_cancelling(struct loop *l, const struct run *r);
void say_cancelled(struct loop *l, const char *id);
void say_skipped(struct loop *l, const char *id);
void say_infeasible(struct loop *l, const char *id, const char *text);
void say_note(struct loop *l, const cJSON *ev); /* about a job, or about all */
void say_summary(struct loop *l);

#endif
