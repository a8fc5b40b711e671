/* SPDX-License-Identifier: MIT */
/*
 * The event loop itself: what wakes it, and in which order the modules get
 * their turn.  Every step is safe to repeat, so whatever could not be done
 * (a full disk, a helper that died) is done by a later turn.
 */
#include "gs-loop/loop.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <err.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-loop/board.h"
#include "gs-loop/orphan.h"
#include "gs-loop/say.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/xalloc.h"

enum {
	RETRY_MS = 1000, /* after the journal could not be written */
	BOARD_MS = 100, /* changes within it make one board */
};

void
loop_watch(struct loop *l, struct source *s)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = s};

	if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, s->fd, &ev) == -1)
		err(GS_BAD, "epoll");
}

void
loop_close(struct loop *l, struct source *s)
{
	if (s->fd == -1)
		return;
	epoll_ctl(l->epfd, EPOLL_CTL_DEL, s->fd, NULL);
	close(s->fd);
	s->fd = -1;
}

void
loop_retry(struct loop *l)
{
	l->retry_at = clock_ms() + RETRY_MS;
}

void
loop_changed(struct loop *l)
{
	if (l->board_at == INT64_MAX)
		l->board_at = clock_ms() + BOARD_MS;
}

void
loop_ended(struct loop *l, enum job_state state)
{
	if (state != JOB_FAILED && state != JOB_FAILED_OOM &&
	    state != JOB_TIMEOUT)
		return;
	l->failures++;
	if (l->o->max_fails == 0 || l->failures < l->o->max_fails ||
	    l->mode != LOOP_GOING)
		return;
	l->mode = LOOP_DRAINING;
	say("%lld job%s failed: nothing more is started",
	    (long long)l->failures, l->failures == 1 ? "" : "s");
}

/*
 * Reap what ended: helpers, gs-launch after its answer, supervisors, and, when
 * a supervisor was killed, its job.  A job's leader is recorded first and
 * reaped then; if it cannot be recorded it stays a zombie until it can.
 */
static void
reap(struct loop *l)
{
	siginfo_t si = {0};
	int status;

	while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    si.si_pid != 0) {
		if (!orphan_child(l, si.si_pid)) {
			loop_retry(l);
			return;
		}
		if (waitpid(si.si_pid, &status, WNOHANG) != si.si_pid)
			return;
		if (!probe_reaped(l, si.si_pid, status))
			place_reaped(l, si.si_pid, status);
		si.si_pid = 0;
	}
}

/* INT: every job is stopped, and is pending again for the next gs-loop. */
static void
stop_all(struct loop *l)
{
	struct run *r;

	if (l->mode != LOOP_STOPPING)
		say("stopping what runs (%zu); once more hurries", l->runs.n);
	l->mode = LOOP_STOPPING;
	l->signal = SIGINT;
	TAILQ_FOREACH(r, &l->runs.list, link)
		run_interrupt(l, r);
}

static void
signals_ready(struct loop *l, void *arg)
{
	struct signalfd_siginfo si;

	(void)arg;
	while (read(l->signals.fd, &si, sizeof(si)) == sizeof(si))
		switch (si.ssi_signo) {
		case SIGCHLD:
			reap(l);
			break;
		case SIGINT:
			stop_all(l);
			break;
		case SIGTERM:
		case SIGHUP:
			l->mode = LOOP_LEAVING;
			l->signal = (int)si.ssi_signo;
			break;
		}
}

static void
signals_open(struct loop *l)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of write */
	signal(SIGCHLD, SIG_DFL); /* an ignored one would lose statuses */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	l->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals.fd == -1)
		err(GS_BAD, "signalfd");
	l->signals.ready = signals_ready;
	loop_watch(l, &l->signals);
}

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void
look_at_file(struct loop *l)
{
	int64_t now = clock_ms();
	struct jobs jobs;

	if (jobsfile_look(&l->file, now, &jobs) == 1)
		queue_take(l, &jobs);
	l->look_at = sooner(now + l->o->poll_ms, jobsfile_due(&l->file, now));
}

/* The folder of a path; the path as it is written, and where it leads. */
static void
watch_folder(struct loop *l, const char *path)
{
	char *copy = xstrdup(path);

	inotify_add_watch(l->inotify.fd, dirname(copy),
	    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
		IN_MOVED_TO | IN_ATTRIB);
	free(copy);
}

/*
 * Watches are a hint that saves waiting: where they cannot be had (network
 * file systems, limits), the --poll period finds changes too.
 */
static void
watch_files(struct loop *l)
{
	char real[PATH_MAX];

	watch_folder(l, l->file.path);
	if (realpath(l->file.path, real) != NULL)
		watch_folder(l, real);
	inotify_add_watch(l->inotify.fd, l->file.path, IN_MODIFY);
	inotify_add_watch(l->inotify.fd, l->ledger.path, IN_MODIFY);
}

static void
inotify_ready(struct loop *l, void *arg)
{
	_Alignas(struct inotify_event) char events[4096];

	(void)arg;
	/* What happened is of no interest, only that something did. */
	while (read(l->inotify.fd, events, sizeof(events)) > 0)
		continue;
	look_at_file(l);
	ledger_pull(&l->ledger);
	/* A save by rename leaves the old inode watched. */
	inotify_add_watch(l->inotify.fd, l->file.path, IN_MODIFY);
}

static void
inotify_open(struct loop *l)
{
	l->inotify.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (l->inotify.fd == -1) {
		warn("inotify; changes are seen every --poll seconds");
		return;
	}
	l->inotify.ready = inotify_ready;
	watch_files(l);
	loop_watch(l, &l->inotify);
}

static int64_t
next_due(const struct loop *l)
{
	int64_t due = sooner(l->look_at, probe_due(l));

	due = sooner(due, place_due(l));
	due = sooner(due, orphans_due(l));
	due = sooner(due, l->retry_at);
	return sooner(due, l->board_at);
}

/* Whatever is due by time. */
static void
tick(struct loop *l)
{
	int64_t now = clock_ms();

	probe_tick(l, now);
	place_tick(l, now);
	orphans_tick(l, now);
	if (now >= l->look_at)
		look_at_file(l);
	if (now >= l->retry_at) {
		l->retry_at = INT64_MAX;
		l->queue.news = true;
		l->settle = true;
		reap(l);
	}
	if (now >= l->stray_at) {
		l->stray_at = now + l->o->poll_ms;
		orphans_attach(l);
	}
	if (now >= l->board_at) {
		l->board_at = INT64_MAX;
		board_write(l);
	}
}

/* Whatever follows from what was learned. */
static void
step(struct loop *l)
{
	/* Whoever read it, and for whatever reason. */
	if (l->ledger.news)
		loop_changed(l);
	while ((l->queue.news || l->ledger.news || l->settle) &&
	    l->retry_at == INT64_MAX) {
		if (l->ledger.news || l->settle)
			runs_settle(l);
		if (l->queue.news)
			queue_settle(l);
	}
	if (l->ask)
		place_ask(l);
}

static bool
finished(struct loop *l)
{
	if (l->mode == LOOP_LEAVING)
		return true;
	if (l->runs.n > 0 || l->retry_at != INT64_MAX)
		return false;
	if (l->mode != LOOP_GOING)
		return true;
	if (l->o->watch || l->place.waiting)
		return false;
	/* gs-probe said on stderr why.  Waiting is what --watch is for. */
	l->no_gpus = l->probe.hopeless && queue_wants_gpus(l);
	return l->no_gpus || (jobsfile_settled(&l->file) && !queue_alive(l));
}

static void
wait_for_event(struct loop *l)
{
	int64_t ms = next_due(l) - clock_ms();
	struct epoll_event ev;
	struct source *s;
	int n;

	/*
	 * One event at a time: what it does may close the descriptor that
	 * another one of the same batch belongs to.
	 */
	if (ms < 0)
		ms = 0;
	else if (ms > INT_MAX)
		ms = INT_MAX;
	n = epoll_wait(l->epfd, &ev, 1, (int)ms);
	if (n == 1) {
		s = ev.data.ptr;
		s->ready(l, s->arg);
	} else if (n == 0) {
		ledger_pull(&l->ledger); /* where there is no inotify */
	}
}

void
loop_run(struct loop *l)
{
	signals_open(l);
	inotify_open(l);
	loop_changed(l);
	for (;;) {
		tick(l);
		step(l);
		if (finished(l))
			break;
		wait_for_event(l);
	}
	board_write(l);
	probe_stop(l);
	place_stop(l);
}
