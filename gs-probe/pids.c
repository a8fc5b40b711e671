/* SPDX-License-Identifier: MIT */
#include "gs-probe/pids.h"

#include <sys/pidfd.h>

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/xalloc.h"

enum {
	KNOWN_MAX = 256, /* each is a descriptor */
	AGE_MAX = 16, /* looks until it is read anew */
};

static bool
lives(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 0;
}

static struct pid_known *
find(struct pids *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->v[i].st.pid == pid)
			return &p->v[i];
	return NULL;
}

static void
drop(struct pids *p, struct pid_known *k)
{
	close(k->fd);
	*k = p->v[--p->n];
}

/* Remember it, if the pidfd is of the very process that was read. */
static void
keep(struct pids *p, const struct pstat *st, int fd)
{
	if (p->n == KNOWN_MAX || !lives(fd)) {
		close(fd);
		return;
	}
	p->v = xreallocarray(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct pid_known){.st = *st, .fd = fd, .used = true};
}

bool
pids_stat(struct pids *p, pid_t pid, struct pstat *st)
{
	struct pid_known *k = find(p, pid);
	bool there;
	int fd;

	if (k != NULL && k->age++ < AGE_MAX && lives(k->fd)) {
		k->used = true;
		*st = k->st;
		return true;
	}
	if (k != NULL)
		drop(p, k);
	/* In this order: what lives afterwards was there all the time. */
	fd = pidfd_open(pid, 0);
	there = procfs_stat(pid, st) == 0;
	if (fd != -1 && there)
		keep(p, st, fd);
	else if (fd != -1)
		close(fd);
	return there;
}

void
pids_forget(struct pids *p)
{
	size_t i;

	for (i = p->n; i-- > 0;)
		if (!p->v[i].used)
			drop(p, &p->v[i]);
	for (i = 0; i < p->n; i++)
		p->v[i].used = false;
}

void
pids_free(struct pids *p)
{
	while (p->n > 0)
		drop(p, &p->v[p->n - 1]);
	free(p->v);
	*p = (struct pids){0};
}
