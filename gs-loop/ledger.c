/* SPDX-License-Identifier: MIT */
#include "gs-loop/ledger.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <string.h>

#include "lib/gs.h"
#include "lib/xalloc.h"

void
ledger_open(struct ledger *g, const char *path)
{
	struct journal j;

	g->path = xstrdup(path);
	g->fold = fold_new();
	/* A journal that cannot be locked now never could: say so at once. */
	if (journal_lock(&j, g->path) == -1)
		err(GS_BAD, "%s", path);
	journal_unlock(&j);
	if (journal_reader_open(&g->reader, g->path, 0) == -1)
		err(GS_BAD, "%s", path);
	ledger_pull(g);
}

/*
 * If the journal was removed or replaced, what we know is not what the others
 * write: going on could only record what is false.  The jobs go on.
 */
static void
check_place(const struct ledger *g)
{
	struct stat ours, there;

	if (stat(g->path, &there) == -1) {
		if (errno != ENOENT && errno != ENOTDIR)
			return; /* perhaps it can be reached later */
	} else if (fstat(g->reader.fd, &ours) == -1 ||
	    (ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)) {
		return;
	}
	errx(GS_BAD,
	    "%s: was removed or replaced; the jobs go on, but nothing "
	    "can be recorded",
	    g->path);
}

static bool
is_note(const cJSON *ev)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(ev, "event");

	return cJSON_IsString(name) && strcmp(name->valuestring, "note") == 0;
}

void
ledger_pull(struct ledger *g)
{
	cJSON *ev;

	check_place(g);
	while ((ev = journal_next(&g->reader)) != NULL) {
		fold_event(g->fold, ev);
		if (g->note != NULL && is_note(ev))
			g->note(g->arg, ev);
		cJSON_Delete(ev);
		g->news = true;
	}
	if (g->reader.damaged > 0 && !g->told_damage) {
		warnx("%s: %zu damaged lines skipped, the first is line %zu",
		    g->path, g->reader.damaged, g->reader.first_damaged);
		g->told_damage = true;
	}
}

cJSON *
ledger_event(const char *name, const char *id, int64_t attempt)
{
	cJSON *ev = event_new(name, event_now());

	json_str(ev, "id", id);
	if (attempt > 0)
		json_int(ev, "attempt", attempt);
	return ev;
}

int
ledger_append_lines(struct ledger *g, const struct buf *lines, bool sync)
{
	if (journal_append_lines(g->path, lines, sync) == -1) {
		if (!g->failing)
			warn("%s: nothing new is started until it can be "
			     "written",
			    g->path);
		g->failing = true;
		return -1;
	}
	if (g->failing)
		warnx("%s: can be written again", g->path);
	g->failing = false;
	ledger_pull(g);
	return 0;
}

int
ledger_append(struct ledger *g, cJSON *ev, bool sync)
{
	struct buf line = {0};
	int rv;

	event_line(&line, ev);
	cJSON_Delete(ev);
	rv = ledger_append_lines(g, &line, sync);
	buf_free(&line);
	return rv;
}

int
ledger_done(struct ledger *g, const char *id, int64_t attempt,
    enum job_state state, int64_t status, const char *reason)
{
	cJSON *ev = ledger_event("done", id, attempt);

	json_str(ev, "state", state_name(state));
	json_int(ev, "status", status);
	json_str(ev, "reason", reason);
	return ledger_append(g, ev, true);
}
