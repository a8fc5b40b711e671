/* SPDX-License-Identifier: MIT */
#include "gs-probe/keeper.h"

#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "gs-probe/run.h"

enum {
	KILL_WAIT_MS = 500 /* for it to be gone */
};

/* A frame of nothing but a reason, or of nothing at all: it is ready. */
static void
report(struct recw *w, const char *why)
{
	recw_frame(w, "gs-probe");
	recw_kstr(w, "why", why);
	recw_end(w);
}

/* The child's part: until nobody asks any more. */
static void __attribute__((noreturn))
serve(const struct keeper_work *work, pid_t parent, int fd)
{
	struct buf why = {0};
	struct recw w = {0};
	void *state;
	int null;
	char c;

	run_isolate(parent);
	/* Some libraries print, and our stdout is for frames. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null == -1 || dup2(null, STDIN_FILENO) == -1 ||
	    dup2(null, STDOUT_FILENO) == -1)
		_exit(1);
	state = work->begin(&why);
	report(&w, state == NULL ? why.p : NULL);
	while (
	    recw_flush(&w, fd) == 0 && state != NULL && read(fd, &c, 1) == 1) {
		buf_reset(&why);
		if (work->look(state, &w, &why) == -1) {
			recw_free(&w);
			w = (struct recw){0};
			report(&w, why.p);
		}
	}
	_exit(0);
}

void
keeper_init(struct keeper *k, const struct keeper_work *work)
{
	*k = (struct keeper){.work = work, .fd = -1};
}

/* Close our end; true if it is gone, false if it cannot be killed. */
static bool
let_go(struct keeper *k, int *status)
{
	int fd = pidfd_open(k->pid, 0);
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	bool gone;

	close(k->fd);
	k->fd = -1;
	frames_free(&k->in);
	kill(k->pid, SIGKILL);
	gone = fd == -1 || poll(&pfd, 1, KILL_WAIT_MS) == 1;
	if (fd != -1)
		close(fd);
	if (gone)
		while (waitpid(k->pid, status, 0) == -1 && errno == EINTR)
			;
	else
		k->stuck = k->pid;
	k->pid = 0;
	return gone;
}

/* It ended although nobody asked it to. */
static void
explain_end(struct keeper *k, struct buf *why)
{
	int status = 0;

	/* Its pipe is closed, so its end is a matter of moments. */
	if (!let_go(k, &status))
		buf_str(why, "the helper hangs while it ends");
	else if (WIFSIGNALED(status))
		buf_printf(why, "crashed: signal %d, %s", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		buf_printf(
		    why, "the helper ended with %d", WEXITSTATUS(status));
}

static int
timed_out(struct keeper *k, int64_t timeout_ms, struct buf *why)
{
	int status;

	let_go(k, &status);
	buf_printf(why, "timeout after %g s", (double)timeout_ms / 1000);
	return -1;
}

/* Its next frame, which may be a reason. */
static int
hear(struct keeper *k, int64_t timeout_ms, struct frame *f, struct buf *why)
{
	struct pollfd pfd = {.fd = k->fd, .events = POLLIN};
	int64_t deadline = clock_ms() + timeout_ms, left;
	const char *reason;
	int got;

	while ((got = frames_next(&k->in, f)) == 0) {
		left = deadline - clock_ms();
		if (left <= 0)
			return timed_out(k, timeout_ms, why);
		if (poll(&pfd, 1, (int)left) != 1)
			continue;
		if (buf_read(&k->in.in, k->fd, 64 * 1024) <= 0) {
			explain_end(k, why);
			return -1;
		}
	}
	reason = got == 1 ? rec_key(&f->head, "why") : k->in.err;
	if (reason == NULL)
		return 0;
	buf_str(why, reason);
	if (got == 1)
		frame_free(f);
	return -1;
}

static int
start(struct keeper *k)
{
	pid_t self = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return -1;
	k->pid = fork();
	if (k->pid == 0) {
		close(pair[0]);
		serve(k->work, self, pair[1]);
	}
	close(pair[1]);
	if (k->pid == -1) {
		close(pair[0]);
		return -1;
	}
	k->fd = pair[0];
	return 0;
}

int
keeper_start(struct keeper *k, int64_t timeout_ms, struct buf *why)
{
	struct frame f;

	if (k->pid > 0)
		return 0;
	if (k->stuck != 0 && waitpid(k->stuck, NULL, WNOHANG) != 0)
		k->stuck = 0;
	if (k->stuck != 0) {
		buf_printf(why, "an earlier helper (pid %d) cannot be killed",
		    (int)k->stuck);
		return -1;
	}
	if (start(k) == -1) {
		buf_str(why, strerror(errno));
		k->pid = 0;
		return -1;
	}
	if (hear(k, timeout_ms, &f, why) == -1) {
		keeper_end(k);
		return -1;
	}
	frame_free(&f);
	return 0;
}

int
keeper_ask(
    struct keeper *k, int64_t timeout_ms, struct frame *f, struct buf *why)
{
	if (keeper_start(k, timeout_ms, why) == -1)
		return -1;
	if (send(k->fd, "", 1, MSG_NOSIGNAL) != 1) {
		explain_end(k, why);
		return -1;
	}
	return hear(k, timeout_ms, f, why);
}

void
keeper_end(struct keeper *k)
{
	int status;

	if (k->pid > 0)
		let_go(k, &status);
}
