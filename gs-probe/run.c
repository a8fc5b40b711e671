/* SPDX-License-Identifier: MIT */
/*
 * One helper in a process group of its own.
 *
 * - What ends the wait is the helper's end, not the end of its output: a
 *   process it left behind may hold the pipe open.
 * - At the deadline the whole group gets SIGKILL.  A process that the kernel
 *   holds in state D does not end of that; it is left alone, and as long as
 *   it lives no other helper is started, since it would get stuck as well.
 * - The helper dies with us.
 */
#include "gs-probe/run.h"

#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"

enum {
	OUT_MAX = 4 * 1024 * 1024,
	KILL_WAIT_MS = 500, /* for a killed helper to be gone */
	HELPER_FILES = 1024,
};

struct helper {
	pid_t pid;
	int pidfd;
	int out;
	int err;
};

static pid_t stuck; /* a helper that survived SIGKILL; 0: none */

/*
 * Some drivers' tools close every descriptor that the limit allows, which
 * takes half a minute where it is a billion.
 */
static void
limit_files(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		return;
	if (rl.rlim_max > HELPER_FILES)
		rl.rlim_max = HELPER_FILES;
	if (rl.rlim_cur > rl.rlim_max)
		rl.rlim_cur = rl.rlim_max;
	setrlimit(RLIMIT_NOFILE, &rl);
}

static void
default_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void
run_isolate(pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	default_signals();
	limit_files();
}

/* The child's part.  What goes wrong is reported through `report`. */
static void __attribute__((noreturn))
become(char *const *argv, pid_t parent, const int fd[3], int report)
{
	int saved;

	run_isolate(parent);
	if (dup2(fd[0], 0) != -1 && dup2(fd[1], 1) != -1 &&
	    dup2(fd[2], 2) != -1) {
		close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
		execvp(argv[0], argv);
	}
	saved = errno;
	if (write(report, &saved, sizeof(saved)) == -1)
		_exit(126);
	_exit(127);
}

/* Fork and see the exec through.  0, or an errno. */
static int
launch(struct helper *h, char *const *argv, const int fd[3])
{
	pid_t self = getpid();
	int report[2], failed = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) == -1)
		return errno;
	h->pid = fork();
	if (h->pid == 0)
		become(argv, self, fd, report[1]);
	if (h->pid == -1)
		failed = errno;
	close(report[1]);
	if (failed == 0) {
		setpgid(h->pid, h->pid); /* whoever of us two comes first */
		do
			n = read(report[0], &failed, sizeof(failed));
		while (n == -1 && errno == EINTR);
		if (n > 0)
			waitpid(h->pid, NULL, 0);
	}
	close(report[0]);
	return failed;
}

static int
helper_start(struct helper *h, char *const *argv)
{
	int null = -1, out[2] = {-1, -1}, err[2] = {-1, -1}, failed = 0;

	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null == -1 || pipe2(out, O_CLOEXEC) == -1 ||
	    pipe2(err, O_CLOEXEC) == -1)
		failed = errno;
	if (failed == 0)
		failed = launch(h, argv, (int[3]){null, out[1], err[1]});
	if (failed == 0) {
		h->pidfd = pidfd_open(h->pid, 0);
		if (h->pidfd == -1) {
			failed = errno;
			kill(-h->pid, SIGKILL);
			waitpid(h->pid, NULL, 0);
		}
	}
	close(null);
	close(out[1]);
	close(err[1]);
	h->out = out[0];
	h->err = err[0];
	if (failed != 0) {
		close(h->out);
		close(h->err);
	}
	return failed;
}

/* Read what is there, without waiting for more. */
static bool
drain(int fd, struct buf *b)
{
	ssize_t n;

	n = buf_read(b, fd, 64 * 1024);
	if (b->len > OUT_MAX) {
		b->len = OUT_MAX;
		b->p[b->len] = '\0';
	}
	return n > 0;
}

/* Until it ended or the deadline passed; did it end? */
static bool
attend(struct helper *h, struct run *r, int64_t deadline)
{
	struct pollfd pfd[3] = {
	    {.fd = h->pidfd, .events = POLLIN},
	    {.fd = h->out, .events = POLLIN},
	    {.fd = h->err, .events = POLLIN},
	};
	int64_t left;

	while (pfd[0].revents == 0) {
		left = deadline - clock_ms();
		if (left <= 0)
			return false;
		if (poll(pfd, 3, (int)left) == -1)
			continue;
		if (pfd[1].revents != 0 && !drain(h->out, &r->out))
			pfd[1].fd = -1;
		if (pfd[2].revents != 0 && !drain(h->err, &r->err))
			pfd[2].fd = -1;
	}
	return true;
}

/* What it had written when it ended. */
static void
drain_rest(int fd, struct buf *b)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (b->len < OUT_MAX && drain(fd, b))
		;
}

static void
reap(struct helper *h, struct run *r)
{
	int status;

	drain_rest(h->out, &r->out);
	drain_rest(h->err, &r->err);
	kill(-h->pid, SIGKILL); /* what it left behind, if anything */
	while (waitpid(h->pid, &status, 0) == -1 && errno == EINTR)
		;
	r->how = WIFSIGNALED(status) ? RUN_SIGNAL : RUN_EXIT;
	r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void
put_down(struct helper *h, struct run *r)
{
	struct pollfd pfd = {.fd = h->pidfd, .events = POLLIN};

	r->how = RUN_TIMEOUT;
	kill(-h->pid, SIGKILL);
	if (poll(&pfd, 1, KILL_WAIT_MS) == 1)
		waitpid(h->pid, NULL, 0);
	else
		stuck = h->pid;
}

void
run_helper(struct run *r, char *const *argv, int64_t timeout_ms)
{
	struct helper h = {0};

	buf_reset(&r->out);
	buf_reset(&r->err);
	if (stuck != 0 && waitpid(stuck, NULL, WNOHANG) != 0)
		stuck = 0;
	if (stuck != 0) {
		r->how = RUN_STUCK;
		r->code = (int)stuck;
		return;
	}
	r->how = RUN_ERROR;
	r->code = helper_start(&h, argv);
	if (r->code != 0)
		return;
	if (attend(&h, r, clock_ms() + timeout_ms))
		reap(&h, r);
	else
		put_down(&h, r);
	close(h.pidfd);
	close(h.out);
	close(h.err);
}

void
run_free(struct run *r)
{
	buf_free(&r->out);
	buf_free(&r->err);
}
