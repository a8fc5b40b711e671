/* SPDX-License-Identifier: MIT */
/*
 * A client may be behind several descriptors, and behind those of processes
 * that inherited one: it counts once, for the process with the lowest pid.
 */
#include "gs-probe/drmproc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/xalloc.h"
#include "gs-probe/drmcard.h"
#include "gs-probe/fdinfo.h"
#include "gs-probe/sysfile.h"

/* A client that was counted. */
struct client {
	size_t gpu;
	int64_t id;
};

struct scan {
	struct snap *s;
	struct client *seen;
	size_t nseen;
	int64_t *bytes; /* of the process at hand, a GPU each; -1: none */
};

static bool
counted(struct scan *sc, size_t gpu, int64_t id)
{
	size_t i;

	for (i = 0; i < sc->nseen; i++)
		if (sc->seen[i].gpu == gpu && sc->seen[i].id == id)
			return true;
	sc->seen = xreallocarray(sc->seen, sc->nseen + 1, sizeof(*sc->seen));
	sc->seen[sc->nseen++] = (struct client){gpu, id};
	return false;
}

/* Does the descriptor lead to a DRM device? */
static bool
is_drm(int64_t pid, int64_t fd)
{
	char *path =
	    sys_path("/proc/%lld/fd/%lld", (long long)pid, (long long)fd);
	char to[32];
	ssize_t n = readlink(path, to, sizeof(to) - 1);

	free(path);
	if (n <= 0)
		return false;
	to[n] = '\0';
	return strncmp(to, "/dev/dri/", 9) == 0;
}

static void
take_fd(struct scan *sc, int64_t pid, int64_t fd)
{
	struct buf text = {0};
	struct fdinfo f;
	ssize_t gpu;
	char *path;

	if (!is_drm(pid, fd))
		return;
	path =
	    sys_path("/proc/%lld/fdinfo/%lld", (long long)pid, (long long)fd);
	if (sys_text(path, &text) == 0 && text.len > 0) {
		fdinfo_parse(text.p, &f);
		gpu = drmcard_at(sc->s, f.pdev);
		if (gpu != -1 && f.vram > 0 &&
		    (f.client == -1 || !counted(sc, (size_t)gpu, f.client))) {
			if (sc->bytes[gpu] == -1)
				sc->bytes[gpu] = 0;
			sc->bytes[gpu] += f.vram;
		}
	}
	free(path);
	buf_free(&text);
}

/* The name of a process, for there may be no other. */
static char *
name_of(int64_t pid)
{
	char *path = sys_path("/proc/%lld/comm", (long long)pid), *name = NULL;
	struct buf b = {0};

	if (sys_text(path, &b) == 0 && b.len > 0)
		name = xstrdup(b.p);
	buf_free(&b);
	free(path);
	return name;
}

static void
take_process(struct scan *sc, int64_t pid)
{
	char *dir = sys_path("/proc/%lld/fd", (long long)pid);
	struct gproc *p;
	int64_t *fd;
	size_t n, i;

	for (i = 0; i < sc->s->ngpu; i++)
		sc->bytes[i] = -1;
	errno = 0;
	fd = sys_numbers(dir, &n);
	if (fd == NULL && errno == EACCES)
		sc->s->procs = PROCS_HIDDEN;
	for (i = 0; i < n; i++)
		take_fd(sc, pid, fd[i]);
	for (i = 0; i < sc->s->ngpu; i++) {
		if (sc->bytes[i] == -1)
			continue;
		p = snap_proc(sc->s, i, (pid_t)pid);
		p->used = sc->bytes[i] >> MIB_SHIFT;
		p->type = xstrdup("G");
	}
	free(fd);
	free(dir);
}

void
drmprocs(struct snap *s)
{
	struct scan sc = {.s = s};
	char *dir = sys_path("/proc");
	int64_t *pid;
	size_t n, i;

	sc.bytes = xcalloc(s->ngpu, sizeof(*sc.bytes));
	pid = sys_numbers(dir, &n);
	for (i = 0; i < n; i++)
		if (pid[i] > 0 && pid[i] <= INT32_MAX)
			take_process(&sc, pid[i]);
	free(pid);
	free(dir);
	free(sc.seen);
	free(sc.bytes);
}

void
drmprocs_name(struct snap *s)
{
	size_t i;

	for (i = 0; i < s->nproc; i++)
		if (s->proc[i].comm == NULL)
			s->proc[i].comm = name_of(s->proc[i].pid);
}
