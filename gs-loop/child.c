/* SPDX-License-Identifier: MIT */
#include "gs-loop/child.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-loop/loop.h"
#include "lib/clock.h"
#include "lib/spawn.h"

/*
 * The argv of a sibling is built as a list: its path may hold blanks, which
 * in a command that a person gave separate words.
 */
static char **
child_argv(const char *cmd, const char *name, char *const *words)
{
	char **argv;

	if (cmd != NULL)
		return spawn_argv(cmd, words);
	argv = spawn_argv(name, words);
	free(argv[0]);
	argv[0] = spawn_sibling(name);
	return argv;
}

int
child_start(const char *cmd, const char *name, char *const *words,
    struct source *out, int *in, pid_t *pid)
{
	struct spawn s = {
	    .in = SPAWN_PIPE,
	    .out = SPAWN_PIPE,
	    .err = SPAWN_KEEP,
	    .group = true,
	};
	char **argv = child_argv(cmd, name, words);
	int rv;

	s.argv = argv;
	rv = spawn_start(&s);
	if (rv == 0) {
		out->fd = s.out;
		*in = s.in;
		*pid = s.pid;
		fcntl(out->fd, F_SETFL, O_NONBLOCK);
		fcntl(*in, F_SETFL, O_NONBLOCK);
	}
	spawn_argv_free(argv);
	return rv;
}

int
child_write(int fd, const void *p, size_t n)
{
	int64_t end = clock_ms() + CHILD_WRITE_MS;
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	const char *s = p;
	ssize_t w;

	while (n > 0) {
		w = write(fd, s, n);
		if (w > 0) {
			s += w;
			n -= (size_t)w;
		} else if (w == -1 && errno != EAGAIN && errno != EINTR) {
			return -1;
		} else if (clock_ms() >= end) {
			errno = ETIMEDOUT;
			return -1;
		} else {
			poll(&pfd, 1, 100);
		}
	}
	return 0;
}

int64_t
child_longer(int64_t pause_ms)
{
	return pause_ms * 2 < CHILD_PAUSE_MAX_MS ? pause_ms * 2
						 : CHILD_PAUSE_MAX_MS;
}

const char *
child_fate(int status)
{
	static char fate[64];

	if (WIFSIGNALED(status))
		snprintf(fate, sizeof(fate), "signal %d", WTERMSIG(status));
	else
		snprintf(
		    fate, sizeof(fate), "exit status %d", WEXITSTATUS(status));
	return fate;
}

void
child_init(struct child *c)
{
	c->src.fd = c->in = -1;
	c->pid = -1;
	c->start_at = 0;
	c->pause_ms = CHILD_PAUSE_MS;
}

static void
disconnect(struct loop *l, struct child *c)
{
	loop_close(l, &c->src);
	if (c->in != -1)
		close(c->in);
	c->in = -1;
	frames_free(&c->stream);
}

int
child_keep(struct loop *l, struct child *c, const char *cmd, const char *name,
    char *const *words, const char **why)
{
	int e = child_start(cmd, name, words, &c->src, &c->in, &c->pid);

	if (e != 0) {
		*why = strerror(e);
		return -1;
	}
	c->start_at = INT64_MAX;
	loop_watch(l, &c->src);
	return 0;
}

int
child_hear(struct loop *l, struct child *c)
{
	ssize_t n = buf_read(&c->stream.in, c->src.fd, 64 * 1024);

	if (n > 0)
		return 1;
	if (n == 0 || errno != EAGAIN)
		disconnect(l, c);
	return 0;
}

void
child_give_up(struct loop *l, struct child *c)
{
	disconnect(l, c);
	if (c->pid != -1)
		kill(c->pid, SIGKILL);
	c->pid = -1; /* reaped with the strangers */
	c->start_at = clock_ms() + c->pause_ms;
	c->pause_ms = child_longer(c->pause_ms);
}

void
child_end(struct loop *l, struct child *c)
{
	disconnect(l, c);
	if (c->pid != -1)
		kill(c->pid, SIGTERM);
}
