/* SPDX-License-Identifier: MIT */
/*
 * Signals go through pidfds to single processes whose START was checked with
 * the pidfd open.  Nothing here ever takes a group, and so neither ours nor
 * one whose number was reused can be hit.
 *
 * Zombies are members: a process whose first thread has ended while others
 * run looks like one, and a real one counts only until it is reaped.
 */
#include "gs-launch/tree.h"

#include <sys/pidfd.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/procfs.h"
#include "lib/xalloc.h"

enum {
	FREEZE_ROUNDS = 100
};

static void
member_signal(const struct member *m, int sig)
{
	struct pstat st;
	int fd;

	if (m->pid <= 1 || m->pid == getpid())
		return;
	fd = pidfd_open(m->pid, 0);
	if (fd == -1)
		return;
	if (procfs_stat(m->pid, &st) == 0 && st.start == m->start)
		pidfd_send_signal(fd, sig, NULL, 0);
	close(fd);
}

static void
push(struct tree *t, const struct member *m)
{
	if (t->n == t->cap) {
		t->cap = t->cap > 0 ? 2 * t->cap : 16;
		t->v = xreallocarray(t->v, t->cap, sizeof(*t->v));
	}
	t->v[t->n++] = *m;
}

/*
 * A pid from a list of children.  It may have ended, and its number may be
 * someone else's by now: then it has another parent.  One whose parent died
 * has become our child.
 */
static void
meet(struct tree *t, pid_t pid, pid_t parent, int sig)
{
	struct member m;
	struct pstat st;

	if (procfs_stat(pid, &st) == -1 ||
	    (st.ppid != parent && st.ppid != getpid()))
		return;
	m = (struct member){.pid = pid, .start = st.start, .state = st.state};
	push(t, &m);
	if (sig != 0)
		member_signal(&m, sig);
}

void
tree_walk(struct tree *t, pid_t except, int sig)
{
	size_t next = 0, n, i;
	pid_t *kids, parent = getpid();

	t->n = 0;
	for (;;) {
		if (procfs_children(parent, &kids, &n) == 0) {
			for (i = 0; i < n; i++)
				if (kids[i] != except)
					meet(t, kids[i], parent, sig);
			free(kids);
		}
		if (next == t->n)
			return;
		parent = t->v[next++].pid;
	}
}

void
tree_signal(const struct tree *t, int sig)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		member_signal(&t->v[i], sig);
}

void
tree_signal_up(const struct tree *t, int sig)
{
	size_t i;

	for (i = t->n; i-- > 0;)
		member_signal(&t->v[i], sig);
}

/* Members that a SIGSTOP would still change something for. */
static size_t
running(const struct tree *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++)
		if (strchr("TtZX", t->v[i].state) == NULL)
			n++;
	return n;
}

void
tree_freeze(struct tree *t, pid_t except)
{
	struct timespec nap = {.tv_nsec = 2 * 1000 * 1000};
	int i;

	/*
	 * A stop takes a moment, longer in a system call that cannot be
	 * interrupted, and until then a process may fork.
	 */
	for (i = 0; i < FREEZE_ROUNDS; i++) {
		tree_walk(t, except, SIGSTOP);
		if (running(t) == 0)
			return;
		nanosleep(&nap, NULL);
	}
}

void
tree_free(struct tree *t)
{
	free(t->v);
	*t = (struct tree){0};
}
