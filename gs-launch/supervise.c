/* SPDX-License-Identifier: MIT */
/*
 * The event loop: signals, and the nearest of the deadlines of the time
 * limit, the sweep and the record.
 *
 * When the job's own process has ended, its status is read but the process is
 * left unreaped until the exit is on disk and nobody else is left: while it
 * is a zombie, its pid, group and session cannot become somebody else's.
 * That the tree is empty is then proved by wait(2), which knows no children.
 *
 * An end of its own is recorded at once; that it was stopped is recorded when
 * nobody is left, for only then it is true.
 */
#include "gs-launch/supervise.h"

#include <sys/signalfd.h>
#include <sys/wait.h>

#include <err.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "gs-launch/ending.h"
#include "gs-launch/entry.h"
#include "gs-launch/record.h"
#include "gs-launch/report.h"
#include "gs-launch/start.h"
#include "gs-launch/sweep.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/journal.h"

struct sup {
	const struct launch *l;
	int report; /* to the front; -1: it does not listen any more */
	int sigfd;
	pid_t leader; /* the job's own process */
	pid_t zombie; /* it again, once it ended, until it is reaped; else 0 */
	int exec_errno; /* not 0: it never executed anything */
	int64_t now; /* monotonic ms, once a turn */
	int64_t began;
	int64_t deadline; /* of the time limit; -1: none, or frozen */
	int64_t left; /* of the time limit while frozen; -1: none */
	enum exit_cause why; /* we stopped it; else CAUSE_NONE */
	bool frozen;
	bool ended; /* the leader; `end` says how */
	bool recorded; /* that it did, or it is being tried */
	bool noted; /* the survivors */
	struct ending end;
	struct record record;
	struct sweep sweep;
};

/* Reap whoever was orphaned and ended, but never the leader. */
static void
orphans_reap(const struct sup *s)
{
	pid_t *kids;
	size_t n, i;

	if (procfs_children(getpid(), &kids, &n) == -1)
		return;
	for (i = 0; i < n; i++)
		if (kids[i] != s->leader)
			waitpid(kids[i], NULL, WNOHANG);
	free(kids);
}

static void
end_record(struct sup *s)
{
	s->recorded = true;
	record_add(&s->record, entry_exit(s->l, &s->end), s->now);
}

static void
leader_look(struct sup *s)
{
	if (s->ended || ending_read(s->leader, &s->end) == 0)
		return;
	s->ended = true;
	s->zombie = s->leader;
	s->deadline = -1;
	s->end.wall_ms = s->now - s->began;
	if (s->exec_errno != 0)
		ending_noexec(&s->end, s->exec_errno);
	else if (s->why != CAUSE_NONE)
		ending_stopped(&s->end, s->why);
	if (s->sweep.stage == SWEEP_GAVE_UP)
		s->sweep.stage = SWEEP_IDLE; /* it was the leader that hung */
	s->noted = false;
	if (s->why == CAUSE_NONE)
		end_record(s);
}

static void
freeze(struct sup *s)
{
	cJSON *ev;
	int rv = 0;

	if (s->ended || s->frozen || s->why != CAUSE_NONE)
		return;
	if (s->l->journal != NULL) {
		ev = entry_plain(s->l, "freeze");
		rv = journal_append(s->l->journal, ev, true);
		cJSON_Delete(ev);
	}
	if (rv == -1) {
		warn("%s: not frozen", s->l->journal);
		return;
	}
	tree_freeze(&s->sweep.tree, s->zombie);
	s->frozen = true;
	s->left = s->deadline == -1 ? -1 : s->deadline - s->now;
	s->deadline = -1;
}

static void
thaw(struct sup *s)
{
	if (s->ended || !s->frozen)
		return;
	record_add(&s->record, entry_plain(s->l, "thaw"), s->now);
	tree_walk(&s->sweep.tree, s->zombie, 0);
	tree_signal_up(&s->sweep.tree, SIGCONT);
	s->frozen = false;
	s->deadline = s->left == -1 ? -1 : s->now + s->left;
}

static void
stop(struct sup *s, enum exit_cause why)
{
	thaw(s);
	if (s->why == CAUSE_NONE && !s->ended)
		s->why = why;
	s->deadline = -1;
	sweep_stop(&s->sweep, s->now, s->zombie);
}

/* The next signal that has come; 0: there is none now. */
static uint32_t
signal_next(const struct sup *s)
{
	struct signalfd_siginfo si;

	if (read(s->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		return si.ssi_signo;
	return 0;
}

static void
signal_act(struct sup *s, uint32_t sig)
{
	if (sig == SIGTERM)
		stop(s, CAUSE_STOPPED);
	else if (sig == SIGTSTP)
		freeze(s);
	else if (sig == SIGCONT)
		thaw(s);
}

/* Those who do not die of KILL are named, and not waited for. */
static void
survivors_note(struct sup *s)
{
	if (s->sweep.stage != SWEEP_GAVE_UP || s->noted)
		return;
	s->noted = true;
	warnx("%zu processes of the job survived SIGKILL", s->sweep.tree.n);
	record_add(&s->record,
	    entry_tree(s->l, "survivors", &s->sweep.tree,
		"processes of the job survived SIGKILL"),
	    s->now);
}

/* A job that ends by itself should leave nothing behind.  Say so if it did. */
static void
leftovers_note(struct sup *s)
{
	const struct tree *t = &s->sweep.tree;

	if (t->n == 0)
		return;
	if (s->l->wait)
		warnx("the job left %zu process%s behind, to be stopped", t->n,
		    t->n == 1 ? "" : "es");
	record_add(&s->record,
	    entry_tree(
		s->l, "left", t, "left processes behind, which are stopped"),
	    s->now);
}

/* What is due by the clock. */
static void
deadlines_serve(struct sup *s)
{
	bool settled;

	if (s->deadline != -1 && s->now >= s->deadline)
		stop(s, CAUSE_TIMEOUT);
	settled = s->sweep.stage == SWEEP_SETTLE;
	sweep_step(&s->sweep, s->now, s->zombie);
	if (settled && s->sweep.stage == SWEEP_TERM)
		leftovers_note(s);
	survivors_note(s);
	record_step(&s->record, s->now);
}

/* 1 if there are children, whatever a walk says; the dead are reaped. */
static int
children(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

/* Is there nothing left to do?  If there is, see to it that it is done. */
static bool
finished(struct sup *s)
{
	bool leave = s->sweep.stage == SWEEP_GAVE_UP ||
	    (s->l->linger && s->why == CAUSE_NONE);

	if (!s->ended)
		return false;
	tree_walk(&s->sweep.tree, s->zombie, 0);
	if (s->sweep.tree.n > 0 && !leave)
		sweep_settle(&s->sweep, s->now);
	if (s->sweep.tree.n > 0 && !leave)
		return false;
	/* "Stopped" is said of a job when nobody of it is left. */
	if (!s->recorded)
		end_record(s);
	if (s->record.at != -1)
		return false;
	if (s->zombie != 0)
		waitpid(s->zombie, NULL, 0);
	s->zombie = 0;
	if (leave || !children())
		return true;
	sweep_settle(&s->sweep, s->now); /* born behind the walk's back */
	return false;
}

/* Until a signal comes or the nearest deadline is there. */
static void
turn_wait(const struct sup *s)
{
	const int64_t at[] = {s->deadline, s->sweep.at, s->record.at};
	struct pollfd p = {.fd = s->sigfd, .events = POLLIN};
	int64_t left, wait = -1;
	size_t i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (at[i] == -1)
			continue;
		left = at[i] > s->now ? at[i] - s->now : 0;
		if (wait == -1 || left < wait)
			wait = left;
	}
	poll(&p, 1, wait > INT_MAX ? INT_MAX : (int)wait);
}

static void
look(struct sup *s)
{
	s->now = clock_ms();
	orphans_reap(s);
	leader_look(s);
}

/*
 * Look, then act: a leader that ended by itself and was asked to stop a moment
 * later was not stopped.  And look once more when the last CHLD is taken: what
 * ends after that sends another one, and none is slept through.
 */
static void
serve(struct sup *s)
{
	uint32_t sig;

	for (;;) {
		while ((sig = signal_next(s)) != 0) {
			look(s);
			signal_act(s, sig);
		}
		look(s);
		deadlines_serve(s);
		if (finished(s))
			return;
		turn_wait(s);
	}
}

void
supervise(const struct launch *l, int report)
{
	struct sup s = {.l = l, .report = report, .left = -1};
	struct report r = {.kind = REPORT_REFUSED};
	struct started st;

	s.sweep = (struct sweep){.at = -1, .grace_ms = l->grace_ms};
	record_init(&s.record, l->journal);
	if (start(l, report, &st, &r.why) == -1) {
		report_send(report, &r);
		_exit(GS_FAILED);
	}
	record_bind(&s.record);
	s.sigfd = st.sigfd;
	s.leader = st.names.leader;
	s.exec_errno = st.exec_errno;
	s.now = s.began = clock_ms();
	s.deadline = l->timeout_ms == -1 ? -1 : s.began + l->timeout_ms;
	if (s.exec_errno == 0) {
		r = (struct report){REPORT_STARTED, .names = st.names};
		report_send(report, &r);
	}
	if (s.exec_errno == 0 && !l->wait) {
		close(report);
		s.report = -1;
	}
	serve(&s);
	r = (struct report){REPORT_ENDED, .end = s.end};
	report_send(s.report, &r);
	_exit(0);
}
