/* SPDX-License-Identifier: MIT */
/*
 * Starting the other programs of the toolkit, and helpers such as nvidia-smi.
 * (A job is started by gs-launch, whose needs are of another kind.)
 */
#ifndef GS_SPAWN_H
#define GS_SPAWN_H

#include <sys/types.h>

#include <stdbool.h>

enum {
	SPAWN_KEEP = -1, /* the child gets ours */
	SPAWN_NULL = -2, /* /dev/null */
	SPAWN_PIPE = -3, /* a new pipe; our end comes back close-on-exec */
};

/* in, out, err: one of the above, or a descriptor to hand down. */
struct spawn {
	char *const *argv; /* argv[0] is looked up in PATH unless it has a / */
	char *const *envp; /* NULL: ours */
	int in;
	int out;
	int err;
	bool group; /* in a process group of its own: ^C is not for it */
	pid_t pid;
};

/*
 * Start it with default signal dispositions and an empty mask; nothing but
 * 0, 1, 2 is inherited.  Where SPAWN_PIPE was asked for, the field is
 * replaced by our end.  Returns 0, or an errno: whether the exec worked is
 * known at return.
 */
int spawn_start(struct spawn *s);

/*
 * The path of a sibling program: beside this executable if it is there, else
 * the name alone, for PATH.  To be freed.
 */
char *spawn_sibling(const char *name);

/*
 * A command an option or variable gave ("--probe CMD"): split at blanks
 * unless it holds shell characters, in which case it is run by sh -c "exec
 * CMD".  Returns a NULL-terminated argv; the extra words go behind it.  To be
 * freed with spawn_argv_free.
 */
char **spawn_argv(const char *cmd, char *const *extra);
void spawn_argv_free(char **argv);

#endif
