/* SPDX-License-Identifier: MIT */
/*
 * The front holds what it inherited and the supervisor none of it, so that a
 * caller that waits for the end of a pipe is not kept waiting by a job.
 */
#include "gs-launch/front.h"

#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "gs-launch/answer.h"
#include "gs-launch/report.h"
#include "gs-launch/supervise.h"
#include "lib/gs.h"

enum {
	WAKE_MS = 100 /* between looks at a supervisor that says nothing */
};

struct front {
	const struct launch *l;
	pid_t pid; /* the supervisor */
	int pidfd; /* of it; -1 unless we wait */
	int sigfd; /* of the signals that stop the job; -1 */
	int report; /* what the supervisor says */
};

static int
refused(const struct launch *l, const struct refusal *why)
{
	answer_refused(l, why);
	warnx("%s: refused: %s", l->id != NULL ? l->id : l->argv[0], why->text);
	return GS_FAILED;
}

static bool
is_ignored(int sig)
{
	struct sigaction sa;

	return sigaction(sig, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN;
}

/*
 * Who waits must not be ended by just any signal, or the caller would lose
 * the job's status: all but those of job control stay blocked, and those that
 * mean "stop" are read from sigfd.  nohup's HUP, and the INT and QUIT of a
 * shell's background, were ignored on purpose.
 */
static void
signals_wait(struct front *f)
{
	static const int maybe[] = {SIGINT, SIGHUP, SIGQUIT};
	sigset_t stops, control;
	size_t i;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	for (i = 0; i < sizeof(maybe) / sizeof(maybe[0]); i++)
		if (!is_ignored(maybe[i]))
			sigaddset(&stops, maybe[i]);
	f->sigfd = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
	f->pidfd = pidfd_open(f->pid, 0);
	if (f->sigfd == -1 || f->pidfd == -1)
		err(GS_FAILED, "signals");
	sigemptyset(&control);
	sigaddset(&control, SIGTSTP);
	sigaddset(&control, SIGTTIN);
	sigaddset(&control, SIGTTOU);
	sigprocmask(SIG_UNBLOCK, &control, NULL);
}

static void
signals_pass_on(const struct front *f)
{
	struct signalfd_siginfo si;

	while (read(f->sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		pidfd_send_signal(f->pidfd, SIGTERM, NULL, 0);
}

/* A job may stop its supervisor before that has reported the start. */
static void
wake(const struct front *f)
{
	siginfo_t si = {0};

	if (waitid(P_PID, (id_t)f->pid, &si, WSTOPPED | WNOHANG) == 0 &&
	    si.si_pid == f->pid)
		kill(f->pid, SIGCONT);
}

/*
 * The next report; there always is one, unless somebody kills.  Once the job
 * is known to have started, its supervisor may be stopped for good reason.
 */
static void
hear(const struct front *f, struct report *r, bool started)
{
	struct pollfd p[2] = {
	    {.fd = f->report, .events = POLLIN},
	    {.fd = f->sigfd, .events = POLLIN}, /* -1 is skipped */
	};
	int n;

	for (;;) {
		n = poll(p, 2, started ? -1 : WAKE_MS);
		if (n == -1 && errno != EINTR)
			err(GS_FAILED, "poll");
		if (n == 0)
			wake(f);
		if (n <= 0)
			continue;
		if (p[1].revents != 0)
			signals_pass_on(f);
		if (p[0].revents != 0)
			break;
	}
	if (report_recv(f->report, r) != 1)
		errx(GS_FAILED, "supervisor %d: died; the job may still run",
		    (int)f->pid);
}

static int
ended(const struct front *f, const struct ending *e)
{
	while (waitpid(f->pid, NULL, 0) == -1 && errno == EINTR)
		;
	answer_exit(f->l, e);
	if (e->cause == CAUSE_EXEC)
		warnc(e->exec_errno, "%s", f->l->argv[0]);
	return e->status;
}

static int
conversation(const struct front *f)
{
	struct report r;

	hear(f, &r, false);
	if (r.kind == REPORT_REFUSED)
		return refused(f->l, &r.why);
	if (r.kind == REPORT_STARTED) {
		answer_start(f->l, &r.names);
		if (!f->l->wait)
			return GS_OK;
		hear(f, &r, true);
	}
	return ended(f, &r.end);
}

int
front(const struct launch *l)
{
	struct front f = {.l = l, .pidfd = -1, .sigfd = -1};
	struct refusal why;
	sigset_t all, before;
	int p[2];

	if (pipe2(p, O_CLOEXEC) == -1)
		err(GS_FAILED, "pipe");
	/* So that none is taken by a supervisor that is not one yet. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	f.pid = fork();
	if (f.pid == 0) {
		close(p[0]);
		supervise(l, p[1]);
	}
	if (f.pid == -1) {
		refuse(&why, "fork", "fork: %s", strerror(errno));
		return refused(l, &why);
	}
	close(p[1]);
	f.report = p[0];
	if (l->wait)
		signals_wait(&f);
	else
		sigprocmask(SIG_SETMASK, &before, NULL);
	return conversation(&f);
}
