/* SPDX-License-Identifier: MIT */
/*
 * The one event loop.  Every module keeps its state in a part of struct loop
 * and is called from here: when one of its descriptors is ready, when its
 * deadline has come, and when the world changed (loop_step).
 */
#ifndef GS_LOOP_LOOP_H
#define GS_LOOP_LOOP_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stdint.h>

#include "gs-loop/held.h"
#include "gs-loop/jobsfile.h"
#include "gs-loop/ledger.h"
#include "gs-loop/opts.h"
#include "gs-loop/place.h"
#include "gs-loop/probe.h"
#include "gs-loop/queue.h"
#include "gs-loop/run.h"
#include "gs-loop/source.h"

enum loop_mode {
	LOOP_GOING,
	LOOP_DRAINING, /* too many jobs failed: nothing more is started */
	LOOP_STOPPING, /* INT: every job is being stopped */
	LOOP_LEAVING, /* TERM, HUP: we go, the jobs stay */
};

struct loop {
	const struct opts *o;
	char *log_dir; /* absolute */
	int epfd;
	struct source signals;
	struct source inotify;
	struct ledger ledger;
	struct jobsfile file;
	struct queue queue;
	struct probe probe;
	struct place place;
	struct runs runs;
	struct held held;
	enum loop_mode mode;
	int signal; /* that ends us; 0 */
	bool no_gpus; /* the end: what is left needs some, there are none */
	bool ask; /* something changed that may let a job start */
	bool settle; /* look whether a run has ended */
	int64_t hold_until; /* no launch before this: the last one failed in a
	    way that may pass */
	int64_t hold_ms; /* the pause after the next such failure */
	int64_t retry_at; /* try again what the journal did not take */
	int64_t look_at; /* the jobs file, without a hint of inotify */
	int64_t stray_at; /* look for attempts that nobody watches */
	int64_t board_at; /* the board is due; INT64_MAX: it is true */
	int64_t begun_ms;
	int64_t failures; /* jobs that failed since */
};

/* Watch a descriptor; its `ready` is called whenever there is something to
 * read.  It stays watched until loop_close. */
void loop_watch(struct loop *l, struct source *s);

/* Watch it no more, and close it if it is open. */
void loop_close(struct loop *l, struct source *s);

/* The journal could not be written: come back in a second. */
void loop_retry(struct loop *l);

/* The board is out of date. */
void loop_changed(struct loop *l);

/* A job is over.  After --max-fails failures nothing more is started. */
void loop_ended(struct loop *l, enum job_state state);

/* Run until there is nothing more to do or a signal ends it. */
void loop_run(struct loop *l);

#endif
