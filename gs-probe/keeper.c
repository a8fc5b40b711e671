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
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/rec.h"
#include "lib/xalloc.h"
#include "gs-probe/frame.h"
#include "gs-probe/run.h"

enum {
	KILL_WAIT_MS = 500 /* for it to be gone */
};

struct keeper {
	const struct keeper_work *work;
	int64_t timeout_ms; /* of its start, and of each look */
	pid_t pid; /* 0: there is none */
	int fd; /* a byte to it is a request, a frame from it the answer */
	struct frames in;
	pid_t stuck; /* one that outlived SIGKILL; 0 */
};

/* A frame of nothing but a reason, or of nothing at all: it is ready. */
static void
report(struct recw *w, const char *why)
{
	recw_frame(w, "gs-probe");
	recw_kstr(w, "why", why);
	recw_end(w);
}

static void
answer(const struct keeper_work *work, void *state, struct recw *w)
{
	struct frame_head h = {.time = time(NULL)};
	struct buf why = {0};
	struct snap s = {0};

	if (work->look(state, &s, &why) == 0)
		frame_add(w, &h, &s);
	else
		report(w, why.p);
	snap_free(&s);
	buf_free(&why);
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
	while (recw_flush(&w, fd) == 0 && state != NULL && read(fd, &c, 1) == 1)
		answer(work, state, &w);
	_exit(0);
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

static void
end(struct keeper *k)
{
	int status;

	if (k->pid > 0)
		let_go(k, &status);
}

/* It ended although nobody asked it to. */
static void
explain_end(struct keeper *k, struct buf *why)
{
	int status = 0;

	/* Its socket is closed, so its end is a matter of moments. */
	if (!let_go(k, &status))
		buf_str(why, "the helper hangs while it ends");
	else if (WIFSIGNALED(status))
		buf_printf(why, "crashed: signal %d, %s", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		buf_printf(
		    why, "the helper ended with %d", WEXITSTATUS(status));
}

/* Its next frame, which may be a reason. */
static int
hear(struct keeper *k, struct frame *f, struct buf *why)
{
	struct pollfd pfd = {.fd = k->fd, .events = POLLIN};
	int64_t deadline = clock_ms() + k->timeout_ms, left;
	const char *reason;
	int got;

	while ((got = frames_next(&k->in, f)) == 0) {
		left = deadline - clock_ms();
		if (left <= 0) {
			end(k);
			buf_printf(why, "timeout after %g s",
			    (double)k->timeout_ms / 1000);
			return -1;
		}
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
		k->pid = 0;
		close(pair[0]);
		return -1;
	}
	k->fd = pair[0];
	return 0;
}

/* Start it, if there is none, and wait until it is ready. */
static int
ensure(struct keeper *k, struct buf *why)
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
		return -1;
	}
	if (hear(k, &f, why) == -1) {
		end(k);
		return -1;
	}
	frame_free(&f);
	return 0;
}

void *
keeper_open(const struct keeper_work *work, const struct backend_conf *conf,
    struct buf *why)
{
	struct keeper *k;

	if (conf->arg != NULL) {
		buf_str(why, "takes no argument");
		return NULL;
	}
	k = xcalloc(1, sizeof(*k));
	k->work = work;
	k->timeout_ms = conf->timeout_ms;
	k->fd = -1;
	if (ensure(k, why) == 0)
		return k;
	free(k);
	return NULL;
}

int
keeper_look(void *keeper, struct snap *s, struct buf *why)
{
	struct keeper *k = keeper;
	struct frame f;
	size_t bad;
	int rv;

	if (ensure(k, why) == -1)
		return -1;
	if (send(k->fd, "", 1, MSG_NOSIGNAL) != 1) {
		explain_end(k, why);
		return -1;
	}
	if (hear(k, &f, why) == -1)
		return -1;
	rv = frame_take(s, &f, &bad);
	if (rv == -1)
		buf_printf(why, "record %zu of the helper is malformed", bad);
	frame_free(&f);
	return rv;
}

void
keeper_close(void *keeper)
{
	struct keeper *k = keeper;

	end(k);
	free(k);
}
