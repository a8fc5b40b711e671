/* SPDX-License-Identifier: MIT */
/*
 * The attempts in flight.  The journal knows how each began and ended; this
 * is what gs-loop needs meanwhile: whom to watch, and what was measured.
 *
 *	LAUNCHING   gs-launch was started and has not answered
 *	GUARDED     its supervisor lives; a pidfd tells when it ends
 *	ORPHAN      the supervisor is gone, the job's own process lives
 *
 * An attempt leaves the list when its supervisor has ended, which is when its
 * last process is gone, and its end has been judged.
 */
#ifndef GS_LOOP_RUN_H
#define GS_LOOP_RUN_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "gs-loop/source.h"
#include "lib/attr.h"
#include "lib/rec.h"

struct loop;

enum run_phase {
	RUN_LAUNCHING,
	RUN_GUARDED,
	RUN_ORPHAN
};

/* Memory of one job on one of its GPUs. */
struct gpu_use {
	char *uuid;
	int64_t index; /* when it started */
	int64_t now; /* MiB in the latest frame; -1: not seen */
	int64_t peak; /* -1: never seen */
	int64_t kept; /* the peak that the journal knows; -1: none */
	int64_t full_at; /* when the GPU was last seen nearly full; 0: never */
};

struct run {
	TAILQ_ENTRY(run) link;
	struct source src; /* gs-launch's stdout, then a pidfd */
	enum run_phase phase;
	struct frames report;
	char *id;
	int64_t no;
	int64_t attempt;
	char *cmd;
	struct attr attr; /* as it was launched */
	char *gpus; /* "0,1", NULL: CPU only */
	int64_t supervisor; /* pid; -1 */
	int64_t sup_start;
	int64_t pgid; /* the leader; -1 */
	int64_t start;
	double since; /* epoch seconds */
	struct gpu_use *use;
	size_t nuse;
	int64_t util_sum; /* of one sample per frame, over its GPUs */
	int64_t util_n;
	bool exceeded; /* the warnings were given */
	bool strayed;
	bool executed; /* gs-launch said so; else it may never have run */
	bool announced; /* its start was said */
	bool told; /* its end was judged and said */
	bool stop; /* to be stopped as soon as it has a supervisor */
	int64_t check_at; /* ORPHAN: look again then; else INT64_MAX */
	int64_t kill_at; /* ORPHAN being stopped: KILL at this time; 0 */
};

struct runs {
	TAILQ_HEAD(run_list, run) list;
	size_t n;
};

void runs_init(struct runs *rs);
struct run *runs_find(const struct runs *rs, const char *id);

/* An attempt on those GPUs ("0,1" and their UUIDs; NULL: none). */
struct run *run_new(
    struct loop *l, const char *id, const char *gpus, const char *uuids);
void run_free(struct loop *l, struct run *r);

/* It has a supervisor (or had one): watch it from here on. */
void run_guard(struct loop *l, struct run *r);

/*
 * Say which attempts have started.  gs-launch answers in any order, people
 * read in the order of the queue: a start is said when those before it are.
 */
void runs_announce(struct loop *l);

/* The cancel is in the journal already. */
void run_cancel(struct loop *l, struct run *r);

/* Stop it: a request to its supervisor, or TERM and KILL from us. */
void run_stop(struct loop *l, struct run *r);

/* Record that the attempt is (being) interrupted, and why.  -1: it is not. */
int run_interrupted(struct loop *l, const struct run *r, const char *why);

/* Stop it, so that it is pending again.  A second call hurries. */
void run_interrupt(struct loop *l, struct run *r);

/* Judge the ends that the journal has news of. */
void runs_settle(struct loop *l);

#endif
