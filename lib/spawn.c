/* SPDX-License-Identifier: MIT */
#include "lib/spawn.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/xalloc.h"

/* A pipe for one of the child's streams: theirs to hand down, ours to keep. */
static int
stream_open(int *want, int fd, int *theirs)
{
	int p[2];

	*theirs = *want;
	if (*want == SPAWN_NULL) {
		*theirs = open(
		    "/dev/null", (fd == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
		return *theirs == -1 ? -1 : 0;
	}
	if (*want != SPAWN_PIPE)
		return 0;
	if (pipe2(p, O_CLOEXEC) == -1)
		return -1;
	*want = fd == 0 ? p[1] : p[0];
	*theirs = fd == 0 ? p[0] : p[1];
	return 0;
}

/* Default dispositions, an empty mask, and the three streams in place. */
static int
child_shape(posix_spawn_file_actions_t *fa, posix_spawnattr_t *at,
    const int theirs[3], bool group)
{
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t all, none;
	int i, rv = 0;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(at, &all);
	posix_spawnattr_setsigmask(at, &none);
	if (group)
		flags |= POSIX_SPAWN_SETPGROUP; /* pgroup is 0: its own */
	posix_spawnattr_setflags(at, flags);
	/* dup2 onto itself clears close-on-exec here, as POSIX asks. */
	for (i = 0; i < 3 && rv == 0; i++)
		if (theirs[i] >= 0)
			rv = posix_spawn_file_actions_adddup2(fa, theirs[i], i);
	if (rv == 0)
		rv = posix_spawn_file_actions_addclosefrom_np(fa, 3);
	return rv;
}

int
spawn_start(struct spawn *s)
{
	int *const want[3] = {&s->in, &s->out, &s->err};
	int was[3], theirs[3] = {-1, -1, -1}, i, rv = 0;
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;

	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	for (i = 0; i < 3; i++)
		was[i] = *want[i];
	for (i = 0; i < 3 && rv == 0; i++)
		if (stream_open(want[i], i, &theirs[i]) == -1)
			rv = errno;
	if (rv == 0)
		rv = child_shape(&fa, &at, theirs, s->group);
	if (rv == 0)
		rv = posix_spawnp(&s->pid, s->argv[0], &fa, &at, s->argv,
		    s->envp != NULL ? s->envp : environ);
	for (i = 0; i < 3; i++) {
		if (theirs[i] >= 0 && theirs[i] != was[i])
			close(theirs[i]);
		if (rv != 0 && *want[i] != was[i]) {
			close(*want[i]);
			*want[i] = was[i];
		}
	}
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	return rv;
}

char *
spawn_sibling(const char *name)
{
	char self[PATH_MAX], *slash, *path;
	ssize_t n;

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		*slash = '\0';
		path = xasprintf("%s/%s", self, name);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return xstrdup(name);
}

char **
spawn_argv(const char *cmd, char *const *extra)
{
	char **argv, *copy, *word, *rest;
	size_t n = 0, nextra = 0;

	while (extra != NULL && extra[nextra] != NULL)
		nextra++;
	argv = xcalloc(strlen(cmd) / 2 + nextra + 6, sizeof(*argv));
	if (cmd[strcspn(cmd, "\"'\\$`|&;<>()*?[]{}~#!")] != '\0') {
		argv[n++] = xstrdup("/bin/sh");
		argv[n++] = xstrdup("-c");
		argv[n++] = xasprintf("exec %s \"$@\"", cmd);
		argv[n++] = xstrdup("sh");
	} else {
		copy = rest = xstrdup(cmd);
		while ((word = strsep(&rest, " \t")) != NULL)
			if (*word != '\0')
				argv[n++] = xstrdup(word);
		free(copy);
	}
	while (nextra-- > 0)
		argv[n++] = xstrdup(*extra++);
	return argv;
}

void
spawn_argv_free(char **argv)
{
	size_t i;

	for (i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}
