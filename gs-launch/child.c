/* SPDX-License-Identifier: MIT */
#include "gs-launch/child.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/gs.h"

enum stage {
	STAGE_READY,
	STAGE_CWD, /* the folder could not be entered */
	STAGE_STREAMS, /* session or descriptors */
	STAGE_EXEC,
};

struct news {
	enum stage stage;
	int err; /* errno of what failed */
};

/* Does not return if there is bad news, as nothing is left to do then. */
static void
tell(int fd, enum stage stage, int err)
{
	struct news n = {.stage = stage, .err = err};

	if (fd_write(fd, &n, sizeof(n)) == -1 || stage != STAGE_READY)
		_exit(err == ENOENT ? GS_NOTFOUND : GS_NOEXEC);
}

static _Noreturn void
child_run(const struct launch *l, int gate, int news)
{
	sigset_t none;
	ssize_t n;
	char go;

	if (setsid() == -1 || dup2(STDERR_FILENO, STDOUT_FILENO) == -1)
		tell(news, STAGE_STREAMS, errno);
	if (l->cwd != NULL && chdir(l->cwd) == -1)
		tell(news, STAGE_CWD, errno);
	tell(news, STAGE_READY, 0);
	do
		n = read(gate, &go, 1);
	while (n == -1 && errno == EINTR);
	if (n != 1)
		_exit(GS_FAILED);
	/* Dispositions are the defaults already: the supervisor set them. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(l->argv[0], l->argv);
	tell(news, STAGE_EXEC, errno);
	abort();
}

/* 1; 0 at the end of file. */
static int
hear(int fd, struct news *n)
{
	ssize_t got;

	do
		got = read(fd, n, sizeof(*n));
	while (got == -1 && errno == EINTR);
	return got == (ssize_t)sizeof(*n);
}

/* Two pipes, both ends of each; -1 with errno and none of them. */
static int
pipes(int gate[2], int news[2])
{
	int saved;

	if (pipe2(gate, O_CLOEXEC) == -1)
		return -1;
	if (pipe2(news, O_CLOEXEC) == 0)
		return 0;
	saved = errno;
	close(gate[0]);
	close(gate[1]);
	errno = saved;
	return -1;
}

static int
ready(struct child *c, const struct launch *l, struct refusal *why)
{
	struct news n;

	if (hear(c->news, &n) == 1 && n.stage == STAGE_READY)
		return 0;
	if (n.stage == STAGE_CWD)
		refuse(why, "cwd", "%s: %s", l->cwd, strerror(n.err));
	else
		refuse(why, "fork", "the new process: %s", strerror(n.err));
	child_drop(c);
	return -1;
}

int
child_start(
    struct child *c, const struct launch *l, int report, struct refusal *why)
{
	int gate[2], news[2];

	if (pipes(gate, news) == -1)
		return refuse(why, "fork", "pipe: %s", strerror(errno));
	c->pid = fork();
	if (c->pid == 0) {
		/* Else none of these pipes would ever be at its end. */
		close(report);
		close(gate[1]);
		close(news[0]);
		child_run(l, gate[0], news[1]);
	}
	if (c->pid == -1)
		refuse(why, "fork", "fork: %s", strerror(errno));
	close(gate[0]);
	close(news[1]);
	c->gate = gate[1];
	c->news = news[0];
	if (c->pid != -1)
		return ready(c, l, why);
	close(c->gate);
	close(c->news);
	return -1;
}

int
child_release(struct child *c)
{
	struct news n = {.err = 0};

	(void)fd_write(c->gate, "", 1); /* dead: it shows as any death does */
	close(c->gate);
	if (hear(c->news, &n) == 0)
		n.err = 0;
	close(c->news);
	return n.err;
}

void
child_drop(struct child *c)
{
	close(c->gate);
	close(c->news);
	while (waitpid(c->pid, NULL, 0) == -1 && errno == EINTR)
		;
}
