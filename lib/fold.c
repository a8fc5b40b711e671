/* SPDX-License-Identifier: MIT */
/*
 * The fold.  An event of a job is looked up in a table of what it does in each
 * phase of the job's life; the table is the one in gs-journal(5).  Two rules
 * come before it:
 *
 *  - an event of an attempt earlier than the latest is ignored;
 *  - an event of a later attempt says that a start was lost to damage, so the
 *    attempt is taken as started.
 *
 * Neither may lead to a second run of what has run already.
 */
#include "lib/fold.h"

#include <stdlib.h>
#include <string.h>

#include "lib/jobtab.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

struct fold {
	struct jobtab tab;
	int64_t last_no;
};

enum phase {
	PENDING,
	RUNNING,
	FROZEN,
	ENDED, /* it has ended, but nobody has judged that yet */
	SETTLED, /* for ever */
	PHASES
};

enum kind {
	QUEUED,
	START,
	EXIT,
	USAGE,
	DONE,
	RETRY,
	CANCEL,
	INTERRUPTED,
	FREEZE,
	THAW,
	KINDS
};

/* What an event does to a job. */
typedef void action(struct job_fold *, const cJSON *);

static enum phase
phase_of(const struct job_fold *j)
{
	if (state_is_terminal(j->state))
		return j->settled ? SETTLED : ENDED;
	if (j->state == JOB_PENDING)
		return PENDING;
	return j->state == JOB_FROZEN ? FROZEN : RUNNING;
}

static void
take_str(char **field, const cJSON *ev, const char *key)
{
	char *s = json_get_str(ev, key);

	if (s == NULL)
		return;
	free(*field);
	*field = s;
}

static void
take_list(char **field, const cJSON *ev, const char *key)
{
	free(*field);
	*field = json_get_list(ev, key);
}

static void
take_vram(struct job_fold *j, const cJSON *ev)
{
	int64_t v = json_get_int(ev, "vram");

	if (v >= 0)
		j->vram = v;
}

static double
stamp(const cJSON *ev)
{
	double t = json_get_real(ev, "t", 0);

	return t > 0 && t < 1e12 ? t : 0;
}

static void
end_with(
    struct job_fold *j, const cJSON *ev, enum job_state state, bool settled)
{
	j->state = state;
	j->settled = settled;
	if (j->ended == 0)
		j->ended = stamp(ev);
	j->open = j->stopping = false;
	if (settled)
		j->cancelling = false;
}

/* Pending once more, unless that was not to be. */
static void
reopen(struct job_fold *j, const cJSON *ev)
{
	if (j->cancelling) {
		end_with(j, ev, JOB_CANCELLED, true);
		return;
	}
	j->state = JOB_PENDING;
	j->settled = true;
	j->open = j->stopping = false;
	j->ended = 0;
}

/* A new attempt, of which nothing is known but its number. */
static void
attempt_new(struct job_fold *j, int64_t attempt)
{
	j->attempt = attempt;
	j->state = JOB_RUNNING;
	j->open = true;
	j->settled = j->stopping = false;
	j->cause = CAUSE_NONE;
	j->status = j->wall = j->peak = -1;
	j->pgid = j->start = j->supervisor = j->sup_start = -1;
	j->started = j->ended = 0;
	free(j->gpus);
	free(j->uuids);
	free(j->log);
	free(j->boot);
	j->gpus = j->uuids = j->log = j->boot = NULL;
}

static void
do_describe(struct job_fold *j, const cJSON *ev)
{
	int64_t declared = json_get_int(ev, "vram");

	if (j->queued == 0)
		j->queued = stamp(ev);
	if (j->cmd == NULL)
		take_str(&j->cmd, ev, "cmd");
	take_str(&j->attrs, ev, "attrs");
	take_str(&j->tag, ev, "tag");
	/* Only another declaration undoes what a retry made of the last. */
	if (declared >= 0 && declared != j->declared)
		j->declared = j->vram = declared;
}

static void
do_start(struct job_fold *j, const cJSON *ev)
{
	j->started = stamp(ev);
	j->pgid = json_get_int(ev, "pgid");
	j->start = json_get_int(ev, "start");
	j->supervisor = json_get_int(ev, "supervisor");
	j->sup_start = json_get_int(ev, "sup_start");
	take_list(&j->gpus, ev, "gpus");
	take_list(&j->uuids, ev, "uuids");
	take_str(&j->log, ev, "log");
	take_str(&j->boot, ev, "boot");
	if (j->cmd == NULL)
		take_str(&j->cmd, ev, "cmd");
	take_vram(j, ev);
}

/* An end without a cause that we know is told by its status alone. */
static enum exit_cause
cause_of(const cJSON *ev)
{
	char *word = json_get_str(ev, "cause");
	int c = word == NULL ? -1 : cause_parse(word);

	free(word);
	return c == -1 ? CAUSE_EXIT : (enum exit_cause)c;
}

static enum job_state
state_of(const struct job_fold *j)
{
	switch (j->cause) {
	case CAUSE_TIMEOUT:
		return JOB_TIMEOUT;
	case CAUSE_STOPPED:
		return JOB_FAILED;
	case CAUSE_NONE:
	case CAUSE_EXIT:
	case CAUSE_SIGNAL:
	case CAUSE_EXEC:
		break;
	}
	return j->status == 0 ? JOB_OK : JOB_FAILED;
}

static void
take_status(struct job_fold *j, const cJSON *ev)
{
	int64_t v = json_get_int(ev, "status");

	if (v >= 0 && v <= 255)
		j->status = v;
}

static void
do_exit(struct job_fold *j, const cJSON *ev)
{
	double wall = json_get_real(ev, "wall", -1);
	bool asked;

	j->cause = cause_of(ev);
	j->ended = stamp(ev);
	j->wall = wall >= 0 && wall < 1e12 ? (int64_t)wall : -1;
	take_status(j, ev);
	asked = j->cause == CAUSE_STOPPED && (j->cancelling || j->stopping);
	if (asked)
		reopen(j, ev);
	else
		end_with(j, ev, state_of(j), false);
}

static void
do_usage(struct job_fold *j, const cJSON *ev)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(ev, "peak"))
		if (cJSON_IsNumber(item) && item->valuedouble >= 0 &&
		    item->valuedouble < 1e12 &&
		    (int64_t)item->valuedouble > j->peak)
			j->peak = (int64_t)item->valuedouble;
}

static void
do_done(struct job_fold *j, const cJSON *ev)
{
	char *word = json_get_str(ev, "state");
	int state = word == NULL ? -1 : state_parse(word);

	free(word);
	if (state == -1 || !state_is_terminal((enum job_state)state))
		return;
	take_status(j, ev);
	do_usage(j, ev);
	end_with(j, ev, (enum job_state)state, true);
}

static void
do_declare(struct job_fold *j, const cJSON *ev)
{
	take_vram(j, ev);
}

static void
do_retry(struct job_fold *j, const cJSON *ev)
{
	take_vram(j, ev);
	j->retries++;
	reopen(j, ev);
}

static void
do_drop(struct job_fold *j, const cJSON *ev)
{
	end_with(j, ev, JOB_CANCELLED, true);
}

static void
do_cancel(struct job_fold *j, const cJSON *ev)
{
	(void)ev;
	j->cancelling = true;
}

static void
do_interrupt(struct job_fold *j, const cJSON *ev)
{
	char *why = json_get_str(ev, "why");

	if (why != NULL && strcmp(why, "stop") == 0)
		j->stopping = true;
	else
		reopen(j, ev);
	free(why);
}

static void
do_freeze(struct job_fold *j, const cJSON *ev)
{
	(void)ev;
	j->state = JOB_FROZEN;
}

static void
do_thaw(struct job_fold *j, const cJSON *ev)
{
	(void)ev;
	j->state = JOB_RUNNING;
}

/* Which attempt an event of the kind speaks of. */
enum about {
	JOB, /* none */
	ATTEMPT, /* the one it names */
	EITHER, /* the one it names, or a pending job */
};

static const struct row {
	const char *name;
	enum about about;
	action *in[PHASES]; /* NULL: ignored */
} rows[KINDS] = {
    [QUEUED] = {"queued", JOB,
	{do_describe, do_describe, do_describe, do_describe, NULL}},
    [START] = {"start", ATTEMPT,
	{do_start, do_start, do_start, do_start, NULL}},
    [EXIT] = {"exit", ATTEMPT, {NULL, do_exit, do_exit, NULL, NULL}},
    [USAGE] = {"usage", ATTEMPT,
	{do_usage, do_usage, do_usage, do_usage, NULL}},
    [DONE] = {"done", EITHER, {do_done, do_done, do_done, do_done, NULL}},
    [RETRY] = {"retry", ATTEMPT,
	{do_declare, do_retry, do_retry, do_retry, NULL}},
    [CANCEL] = {"cancel", JOB,
	{do_drop, do_cancel, do_cancel, do_cancel, NULL}},
    [INTERRUPTED] = {"interrupted", ATTEMPT,
	{NULL, do_interrupt, do_interrupt, NULL, NULL}},
    [FREEZE] = {"freeze", ATTEMPT, {NULL, do_freeze, NULL, NULL, NULL}},
    [THAW] = {"thaw", ATTEMPT, {NULL, NULL, do_thaw, NULL, NULL}},
};

static const struct row *
row_of(const cJSON *ev)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(ev, "event");
	const struct row *row;

	if (!cJSON_IsString(name))
		return NULL;
	for (row = rows; row < rows + KINDS; row++)
		if (strcmp(row->name, name->valuestring) == 0)
			return row;
	return NULL;
}

/* Bring the job to the attempt the event speaks of.  False: not for us. */
static bool
attempt_match(struct job_fold *j, const struct row *row, const cJSON *ev)
{
	int64_t a = json_get_int(ev, "attempt");

	if (row->about == JOB)
		return true;
	if (a <= 0)
		return row->about == EITHER && j->state == JOB_PENDING;
	if (row == &rows[START] ? a <= j->attempt : a < j->attempt)
		return false;
	if (a > j->attempt)
		attempt_new(j, a);
	return true;
}

static void
number(struct fold *f, struct job_fold *j, const cJSON *ev)
{
	int64_t no = json_get_int(ev, "no");

	if (no > f->last_no)
		f->last_no = no;
	if (no > 0 && j->no == -1)
		jobtab_number(&f->tab, j, no);
}

/*
 * The job an event speaks of, seen for the first time perhaps.  An event that
 * should name an attempt and does not makes no job.
 */
static struct job_fold *
job_of(struct fold *f, const struct row *row, const cJSON *ev)
{
	char *id = json_get_str(ev, "id");
	struct job_fold *j;

	if (id == NULL)
		return NULL;
	j = jobtab_id(&f->tab, id);
	if (j == NULL && *id != '\0' &&
	    (row->about != ATTEMPT || json_get_int(ev, "attempt") > 0))
		return jobtab_add(&f->tab, id);
	free(id);
	return j;
}

void
fold_event(struct fold *f, const cJSON *ev)
{
	const struct row *row = row_of(ev);
	struct job_fold *j;
	action *act;

	if (row == NULL || (j = job_of(f, row, ev)) == NULL)
		return;
	number(f, j, ev);
	if (phase_of(j) == SETTLED) {
		j->late++;
		return;
	}
	if (!attempt_match(j, row, ev))
		return;
	act = row->in[phase_of(j)];
	if (act != NULL)
		act(j, ev);
}

struct fold *
fold_new(void)
{
	return xcalloc(1, sizeof(struct fold));
}

void
fold_free(struct fold *f)
{
	if (f == NULL)
		return;
	jobtab_free(&f->tab);
	free(f);
}

struct job_fold *
fold_find(const struct fold *f, const char *id)
{
	return jobtab_id(&f->tab, id);
}

struct job_fold *
fold_lookup(const struct fold *f, const char *word)
{
	struct job_fold *j = NULL;
	const char *errstr;
	int64_t no = unit_num(word, 1, INT64_MAX, &errstr);

	if (errstr == NULL)
		j = jobtab_no(&f->tab, no);
	return j != NULL ? j : fold_find(f, word);
}

size_t
fold_count(const struct fold *f)
{
	return f->tab.n;
}

struct job_fold *
fold_at(const struct fold *f, size_t i)
{
	return &f->tab.job[i];
}

int64_t
fold_last_no(const struct fold *f)
{
	return f->last_no;
}
