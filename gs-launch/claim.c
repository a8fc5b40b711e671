/* SPDX-License-Identifier: MIT */
#include "gs-launch/claim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gs-launch/entry.h"
#include "lib/fold.h"
#include "lib/journal.h"

/* Take the event in if it is about our job. */
static void
take(struct fold *f, const struct launch *l, const cJSON *ev)
{
	char *id = json_get_str(ev, "id");

	if (id != NULL && strcmp(id, l->id) == 0)
		fold_event(f, ev);
	free(id);
}

/*
 * What the journal says of our job from byte `from` on.  The caller knows the
 * job, even if it was queued before that byte; the fold has to, too, or it
 * would ignore a cancel.
 */
static int
read_on(struct fold *f, const struct launch *l, off_t from)
{
	struct journal_reader r;
	cJSON *ev;

	if (from > 0) {
		ev = entry_plain(l, "queued");
		fold_event(f, ev);
		cJSON_Delete(ev);
	}
	if (journal_reader_open(&r, l->journal, from) == -1)
		return -1;
	while ((ev = journal_next(&r)) != NULL) {
		take(f, l, ev);
		cJSON_Delete(ev);
	}
	journal_reader_close(&r);
	return 0;
}

/* May it start, given what is known of it? */
static int
judge(const struct launch *l, const struct job_fold *j, struct refusal *why)
{
	if (j == NULL)
		return 0;
	if (state_is_terminal(j->state) && j->settled)
		return refuse(
		    why, "claimed", "it has ended: %s", state_name(j->state));
	if (j->attempt >= l->attempt)
		return refuse(why, "claimed",
		    "attempt %" PRId64 " was started already", j->attempt);
	if (j->open)
		return refuse(why, "claimed",
		    "attempt %" PRId64 " has not ended", j->attempt);
	return 0;
}

static int
unwritable(const struct launch *l, struct refusal *why)
{
	return refuse(why, "record", "%s: %s", l->journal, strerror(errno));
}

static int
judge_all(const struct launch *l, off_t end, struct refusal *why)
{
	struct fold *f = fold_new();
	off_t from = 0;
	int rv;

	/* An offset behind the end is one into a file that was here before. */
	if (l->seen > 0 && l->seen <= end)
		from = (off_t)l->seen;
	if (read_on(f, l, from) == -1)
		rv = unwritable(l, why);
	else
		rv = judge(l, fold_find(f, l->id), why);
	fold_free(f);
	return rv;
}

int
claim(const struct launch *l, const struct names *n, struct refusal *why)
{
	struct buf line = {0};
	struct journal j;
	cJSON *ev;
	int rv;

	if (journal_lock(&j, l->journal) == -1)
		return unwritable(l, why);
	rv = judge_all(l, j.end, why);
	if (rv == 0) {
		ev = entry_start(l, n);
		event_line(&line, ev);
		cJSON_Delete(ev);
		rv = journal_write(&j, &line, true);
		if (rv == -1)
			unwritable(l, why);
		buf_free(&line);
	}
	journal_unlock(&j);
	return rv;
}
