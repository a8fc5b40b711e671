/* SPDX-License-Identifier: MIT */
/*
 * query: jq over the events.
 *
 * jq runs once and gets on its stdin the states of the jobs, as the one value
 * that becomes $state, and then the undamaged lines of the journal as they
 * are.  (They could not go on its command line, which is limited.)
 */
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-journal/load.h"
#include "lib/gs.h"
#include "lib/spawn.h"
#include "lib/xalloc.h"

#ifndef GS_DATADIR
#define GS_DATADIR "/usr/local/share/gs"
#endif

enum {
	CHUNK = 64 * 1024
};

/* Is DIR/gs.jq there?  The folder, to be freed, or NULL. */
static char *
lib_in(const char *dir, const char *below)
{
	char *path = xasprintf("%s%s/gs.jq", dir, below);
	int there = access(path, R_OK);

	if (there == 0) {
		*strrchr(path, '/') = '\0';
		return path;
	}
	free(path);
	return NULL;
}

/*
 * The folder of our jq library: where GS_JQ_LIB says; or in the source that
 * this program was built in, of which it sits two or three levels below; or
 * where it was installed.
 */
static char *
lib_find(void)
{
	const char *env = getenv("GS_JQ_LIB");
	char self[PATH_MAX], *dir, *found;
	ssize_t n;

	if (env != NULL && *env != '\0') {
		if ((found = lib_in(env, "")) == NULL)
			err(GS_BAD, "%s/gs.jq", env);
		return found;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	dir = dirname(self);
	if ((found = lib_in(dir, "/../../gs-journal")) != NULL ||
	    (found = lib_in(dir, "/../../../gs-journal")) != NULL ||
	    (found = lib_in(GS_DATADIR, "")) != NULL)
		return found;
	err(GS_BAD, "%s/gs.jq", GS_DATADIR);
}

static char *
program(const struct opts *o)
{
	/* The newline ends a comment that the filter may end in. */
	return xasprintf("include \"gs\"; input as $state | %s | (%s\n)",
	    o->slurp ? "[inputs]" : "inputs", o->arg[0]);
}

static void
jq_start(const struct opts *o, struct spawn *jq)
{
	static char name[] = "jq", null[] = "-n", path[] = "-L";
	static char compact[] = "-c", raw[] = "-r";
	char *lib = lib_find(), *text = program(o), *argv[8];
	size_t n = 0;
	int rv;

	argv[n++] = name;
	argv[n++] = null;
	if (o->compact)
		argv[n++] = compact;
	if (o->raw)
		argv[n++] = raw;
	argv[n++] = path;
	argv[n++] = lib;
	argv[n++] = text;
	argv[n] = NULL;
	*jq = (struct spawn){.argv = argv,
	    .in = SPAWN_PIPE,
	    .out = SPAWN_KEEP,
	    .err = SPAWN_KEEP};
	rv = spawn_start(jq);
	if (rv == ENOENT)
		errx(GS_BAD, "jq: it is not installed, and query needs it");
	if (rv != 0)
		errc(GS_BAD, rv, "jq");
	free(lib);
	free(text);
}

static void
add_state(struct buf *b, const struct job_fold *j)
{
	cJSON *o = cJSON_CreateObject();
	char *text;

	if (o == NULL)
		err(GS_BAD, "memory");
	json_int(o, "no", j->no);
	json_str(o, "id", j->id);
	json_str(o, "state", state_name(j->state));
	json_int(o, "attempt", j->attempt);
	json_str(o, "cause", cause_name(j->cause));
	json_int(o, "status", j->status);
	json_int(o, "vram", j->vram);
	json_int(o, "peak", j->peak);
	json_int(o, "wall", j->wall);
	json_real(o, "queued", j->queued > 0 ? j->queued : -1);
	json_real(o, "started", j->started > 0 ? j->started : -1);
	json_real(o, "ended", j->ended > 0 ? j->ended : -1);
	json_str(o, "cmd", j->cmd);
	json_str(o, "attrs", j->attrs);
	json_str(o, "tag", j->tag);
	json_str(o, "log", j->log);
	cJSON_AddBoolToObject(o, "settled", j->settled);
	text = cJSON_PrintUnformatted(o);
	if (text == NULL)
		err(GS_BAD, "memory");
	buf_str(b, text);
	free(text);
	cJSON_Delete(o);
}

/* {ID: {...}, ...} */
static void
add_states(struct buf *b, const struct fold *f)
{
	const struct job_fold *j;
	cJSON *key;
	char *text;
	size_t i;

	buf_char(b, '{');
	for (i = 0; i < fold_count(f); i++) {
		j = fold_at(f, i);
		key = cJSON_CreateString(j->id);
		text = key == NULL ? NULL : cJSON_PrintUnformatted(key);
		if (text == NULL)
			err(GS_BAD, "memory");
		buf_printf(b, "%s%s:", i > 0 ? "," : "", text);
		free(text);
		cJSON_Delete(key);
		add_state(b, j);
	}
	buf_str(b, "}\n");
}

/* False: jq wants no more, which its status will explain. */
static bool
feed(int fd, struct buf *b)
{
	int rv = fd_write(fd, b->p, b->len);

	buf_reset(b);
	if (rv == -1 && errno != EPIPE)
		err(GS_BAD, "jq");
	return rv == 0;
}

/* The states are those at `end`; nothing behind it is told. */
static void
feed_all(int fd, const struct opts *o, const struct fold *f, off_t end)
{
	struct journal_reader r;
	struct buf b = {0};
	bool going;
	cJSON *ev;

	add_states(&b, f);
	going = feed(fd, &b);
	load_open(o, &r);
	while (going && r.off < end && (ev = journal_next(&r)) != NULL) {
		cJSON_Delete(ev);
		buf_add(&b, r.text, r.len);
		buf_char(&b, '\n');
		if (b.len >= CHUNK)
			going = feed(fd, &b);
	}
	if (going)
		feed(fd, &b);
	load_damage(&r);
	journal_reader_close(&r);
	buf_free(&b);
}

int
verb_query(const struct opts *o)
{
	struct fold *f = fold_new();
	struct journal_reader r;
	struct spawn jq;
	int status;

	load_open(o, &r);
	load_more(&r, f);
	jq_start(o, &jq);
	signal(SIGPIPE, SIG_IGN);
	feed_all(jq.in, o, f, r.off);
	close(jq.in);
	journal_reader_close(&r);
	fold_free(f);
	while (waitpid(jq.pid, &status, 0) == -1)
		if (errno != EINTR)
			err(GS_BAD, "jq");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? GS_OK : GS_BAD;
}
