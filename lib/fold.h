/* SPDX-License-Identifier: MIT */
/*
 * The fold of the journal: what is known of each job after a list of events.
 * Pure: events in, states out.  The rules are the table in gs-journal(5).
 */
#ifndef GS_FOLD_H
#define GS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/json.h"

enum job_state {
	JOB_PENDING,
	JOB_RUNNING,
	JOB_FROZEN,
	/* terminal from here on */
	JOB_OK,
	JOB_FAILED,
	JOB_FAILED_OOM,
	JOB_TIMEOUT,
	JOB_INFEASIBLE,
	JOB_CANCELLED,
	JOB_SKIPPED,
};

/* How an attempt ended, as gs-launch saw it. */
enum exit_cause {
	CAUSE_NONE, /* it has not, or nobody saw it */
	CAUSE_EXIT, /* by itself, with a status */
	CAUSE_SIGNAL, /* of a signal that was not ours */
	CAUSE_TIMEOUT, /* stopped at its time limit */
	CAUSE_STOPPED, /* stopped because the supervisor was asked to */
	CAUSE_EXEC, /* never ran: could not be executed (126, 127) */
};

struct job_fold {
	int64_t no; /* number for people; -1: never queued by a gs-loop */
	char *id;
	char *cmd; /* NULL if no event said it */
	char *attrs; /* block, as queued; NULL unknown */
	char *tag;
	enum job_state state;
	int64_t attempt; /* the latest; 0: none yet */
	/* of the latest attempt */
	enum exit_cause cause;
	int64_t status; /* 0-255 as a shell has it; -1: none */
	char *gpus; /* indices "0,1" as they were at the start; NULL: none */
	char *uuids; /* the same GPUs by identity */
	char *log; /* path */
	char *boot; /* boot id */
	int64_t pgid; /* the leader's pid, which is its group and session; -1 */
	int64_t start; /* field 22 of the leader's stat; -1 */
	int64_t supervisor; /* pid; -1 */
	int64_t sup_start; /* field 22 of the supervisor's stat; -1 */
	int64_t wall; /* seconds; -1 */
	/* over all attempts */
	int64_t declared; /* by the line, MiB for each GPU; -1: nothing */
	int64_t vram; /* the same in force: a retry may have raised it */
	int64_t retries; /* after it ran out of GPU memory */
	int64_t peak; /* largest per-GPU peak seen in the latest attempt; -1 */
	double queued; /* epoch seconds; 0: unknown */
	double started;
	double ended;
	bool open; /* an attempt was started and no end of it is known */
	bool settled; /* its end was judged (done, retry, interrupted) */
	bool cancelling; /* a cancel was recorded while it ran */
	bool stopping; /* an interruption was recorded while it ran */
	size_t late; /* events ignored since it was settled and terminal */
};

struct fold;

struct fold *fold_new(void);
void fold_free(struct fold *f);

/* Take one event in; what is unknown or contradicts itself is ignored. */
void fold_event(struct fold *f, const cJSON *ev);

/* By id; by number or id or name as people write it; NULL if there is none.
 * Pointers are good until the next fold_event. */
struct job_fold *fold_find(const struct fold *f, const char *id);
struct job_fold *fold_lookup(const struct fold *f, const char *word);

/* In order of first sight. */
size_t fold_count(const struct fold *f);
struct job_fold *fold_at(const struct fold *f, size_t i);

/* The highest number given so far; 0: none. */
int64_t fold_last_no(const struct fold *f);

bool state_is_terminal(enum job_state s);
const char *state_name(enum job_state s);
int state_parse(const char *s); /* -1: no such state */
const char *cause_name(enum exit_cause c); /* NULL for CAUSE_NONE */
int cause_parse(const char *s); /* -1 */

#endif
