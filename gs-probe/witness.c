/* SPDX-License-Identifier: MIT */
#include "gs-probe/witness.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"

/*
 * Go up to the parent.  A parent younger than its child is another process
 * that was given the number of a dead one.
 */
static bool
parent(struct pstat *st)
{
	struct pstat up;

	if (st->ppid <= 1 || procfs_stat(st->ppid, &up) == -1 ||
	    up.start > st->start)
		return false;
	*st = up;
	return true;
}

/* Do two paths lead to the same file?  `path` may be relative to pid's
 * working directory. */
static bool
same_path(pid_t pid, const char *path, const char *want)
{
	char a[PATH_MAX], b[PATH_MAX], *full;
	bool same;

	full = path[0] == '/' ? xstrdup(path)
			      : xasprintf("/proc/%d/cwd/%s", (int)pid, path);
	same = realpath(full, a) != NULL && realpath(want, b) != NULL &&
	    strcmp(a, b) == 0;
	free(full);
	return same;
}

/* The value of a long option among the words; NULL. */
static const char *
option(const struct buf *words, const char *name)
{
	const char *w, *end = words->p + words->len;
	size_t len = strlen(name);

	for (w = words->p; w != NULL && w < end; w += strlen(w) + 1) {
		if (strcmp(w, "--") == 0)
			break;
		if (strncmp(w, name, len) != 0)
			continue;
		if (w[len] == '=')
			return w + len + 1;
		if (w[len] == '\0' && w + len + 1 < end)
			return w + len + 1;
	}
	return NULL;
}

/* The job that this gs-launch looks after. */
static char *
supervised(const struct pstat *st, const struct scope *sc)
{
	struct buf words = {0};
	const char *id = NULL, *journal;
	char *job = NULL, *want;

	if (procfs_cmdline(st->pid, &words) == 0 && words.len > 0)
		id = option(&words, "--id");
	if (id != NULL && sc->dir != NULL) {
		want = xasprintf("%s/journal.jsonl", sc->dir);
		journal = option(&words, "--journal");
		if (journal == NULL || !same_path(st->pid, journal, want))
			id = NULL;
		free(want);
	}
	if (id != NULL && *id != '\0')
		job = xstrdup(id);
	buf_free(&words);
	return job;
}

char *
witness_tree(const struct pstat *st, const struct scope *sc)
{
	struct pstat up = *st;
	char *job;

	while (parent(&up)) {
		if (strcmp(up.comm, "gs-launch") != 0)
			continue;
		job = supervised(&up, sc);
		if (job != NULL)
			return job;
	}
	return NULL;
}

static bool
env_in_scope(pid_t pid, const struct scope *sc)
{
	char *dir;
	bool in;

	if (sc->dir == NULL)
		return true;
	dir = procfs_env(pid, "GS_LOG_DIR");
	in = dir != NULL && same_path(pid, dir, sc->dir);
	free(dir);
	return in;
}

char *
witness_env(const struct pstat *st, const struct scope *sc)
{
	struct pstat up = *st;
	char *job;

	do {
		job = procfs_env(up.pid, "GS_JOB");
		if (job != NULL && *job != '\0' && env_in_scope(up.pid, sc))
			return job;
		free(job);
	} while (parent(&up));
	return NULL;
}
