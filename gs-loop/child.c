/* SPDX-License-Identifier: MIT */
#include "gs-loop/child.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
	    .in = SPAWN_PIPE, .out = SPAWN_PIPE, .err = SPAWN_KEEP};
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
