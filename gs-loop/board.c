/* SPDX-License-Identifier: MIT */
#include "gs-loop/board.h"

#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "gs-loop/usage.h"
#include "lib/esc.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	CMD_COLS = 100,
	STATES = JOB_SKIPPED + 1,
};

/* One line of the jobs file as the board shows it. */
struct entry {
	const struct jobline *job;
	const struct job_fold *fold; /* NULL: not in the journal yet */
	const struct run *run; /* NULL: not in flight */
	const char *reason; /* of a pending one; NULL */
	const char *text;
	int64_t vram; /* MiB that it needs on each GPU; -1: it does not say */
	enum job_state state;
};

/* What a pending line waits for, in the words of gs-place or our own. */
static void
set_reason(struct loop *l, struct line *line, struct entry *e)
{
	const struct shape *s = &l->queue.shape[line->shape];

	switch (queue_line(l, line)) {
	case LINE_HELD:
		e->reason = "held";
		break;
	case LINE_AFTER:
	case LINE_STUCK:
	case LINE_DOOMED:
		e->reason = "after";
		break;
	case LINE_READY:
		e->reason = s->reason;
		e->text = s->text;
		if (line->job.attr.gpus > 0 && !probe_fresh(l)) {
			e->reason = "gpus";
			e->text = "no good snapshot of the GPUs";
		}
		break;
	case LINE_NEW:
	case LINE_OVER:
	case LINE_RUNNING:
		break;
	}
}

static struct entry
entry_of(struct loop *l, struct line *line)
{
	struct entry e = {
	    .job = &line->job,
	    .vram = queue_vram(l, line),
	    .state = JOB_PENDING,
	};

	e.fold = fold_find(l->ledger.fold, line->job.id);
	if (e.fold != NULL)
		e.state = e.fold->state;
	if (!state_is_terminal(e.state))
		e.run = runs_find(&l->runs, line->job.id);
	if (e.run != NULL && e.state == JOB_PENDING)
		e.state = JOB_RUNNING; /* being launched */
	if (e.state == JOB_PENDING)
		set_reason(l, line, &e);
	return e;
}

static const char *
mark(const struct entry *e)
{
	const struct signs *s = signs();

	switch (e->state) {
	case JOB_RUNNING:
	case JOB_FROZEN:
		return s->running;
	case JOB_PENDING:
		return e->fold != NULL && e->fold->attempt > 0 ? s->retrying
							       : s->pending;
	case JOB_OK:
		return s->ok;
	case JOB_CANCELLED:
	case JOB_SKIPPED:
		return s->cancelled;
	default:
		return s->failed;
	}
}

static void
text_use(struct buf *b, const struct run *r)
{
	if (r->gpus == NULL) {
		buf_str(b, "  cpu");
		return;
	}
	buf_printf(b, "  gpu %s  ", r->gpus);
	if (usage_now(r) >= 0)
		buf_printf(b, "%lld", (long long)usage_now(r));
	else
		buf_char(b, '-');
	if (r->attr.vram_mib >= 0)
		buf_printf(b, "/%lld", (long long)r->attr.vram_mib);
	buf_str(b, " MiB");
}

static void
text_entry(struct buf *b, const struct entry *e, double now)
{
	char age[32];

	buf_printf(b, "  %s %4lld  %-10s", mark(e),
	    e->fold != NULL ? (long long)e->fold->no : 0, state_name(e->state));
	if (e->run != NULL) {
		unit_age(age, sizeof(age), (int64_t)(now - e->run->since));
		buf_printf(b, "  %5s", age);
		text_use(b, e->run);
	} else if (e->state == JOB_PENDING) {
		buf_printf(b, "  %s", e->reason != NULL ? e->reason : "-");
		if (e->text != NULL)
			buf_printf(b, ": %s", e->text);
	} else if (e->fold->status > 0) {
		buf_printf(b, "  exit %lld", (long long)e->fold->status);
	}
	if (state_is_terminal(e->state) && e->fold->wall >= 0) {
		unit_age(age, sizeof(age), e->fold->wall);
		buf_printf(b, "  %s", age);
	}
	buf_printf(b, "  %s ", signs()->dash);
	esc_show(b, e->job->cmd, CMD_COLS);
	buf_char(b, '\n');
}

static void
text_gpus(struct loop *l, struct buf *b)
{
	const struct frame *f = &l->probe.frame;
	const struct rec *g;
	size_t i;

	for (i = 0; i < f->n; i++) {
		g = &f->rec[i];
		if (!rec_is(g, "gpu"))
			continue;
		buf_printf(b, "  gpu %s  %s/%s MiB  %s%%", rec_field(g, 1),
		    rec_field(g, 4) ? rec_field(g, 4) : "-",
		    rec_field(g, 3) ? rec_field(g, 3) : "-",
		    rec_field(g, 5) ? rec_field(g, 5) : "-");
		if (rec_field(g, 6) && rec_field(g, 6)[0] != 'y') {
			buf_printf(b, "  %s ", rec_field(g, 6));
			esc_show(
			    b, rec_key(g, "why") ? rec_key(g, "why") : "", 40);
		}
		buf_char(b, '\n');
	}
	if (f->n > 0 && !probe_fresh(l))
		buf_str(b, "  (this snapshot is too old to place by)\n");
}

/* "3 running, 2 pending, 1 ok" */
static void
text_counts(struct buf *b, const size_t count[STATES])
{
	const char *comma = "";
	int s;

	for (s = JOB_PENDING; s < STATES; s++) {
		if (count[s] == 0)
			continue;
		buf_printf(b, "%s%zu %s", comma, count[s],
		    state_name((enum job_state)s));
		comma = ", ";
	}
}

static void
count_entries(struct buf *b, const struct entry *e, size_t n)
{
	size_t count[STATES] = {0}, i;

	for (i = 0; i < n; i++)
		count[e[i].state]++;
	text_counts(b, count);
}

/* In the order of the file; of every state the first so many. */
static void
text_jobs(struct loop *l, struct buf *b, const struct entry *e, double now)
{
	size_t shown[STATES] = {0}, left = 0, i;

	for (i = 0; i < l->queue.n; i++) {
		if (e[i].run == NULL &&
		    shown[e[i].state] >= (size_t)l->o->board_lines) {
			left++;
			continue;
		}
		shown[e[i].state]++;
		text_entry(b, &e[i], now);
	}
	if (left > 0)
		buf_printf(b, "  ... and %zu more\n", left);
}

static void
render_text(struct loop *l, struct buf *b, const struct entry *e)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
	buf_printf(b, "%s  ", stamp);
	esc_show(b, l->o->jobs, CMD_COLS);
	buf_str(b, "  ");
	count_entries(b, e, l->queue.n);
	buf_str(b, "\n\n");
	text_gpus(l, b);
	buf_char(b, '\n');
	text_jobs(l, b, e, event_now());
}

static cJSON *
json_entry(const struct entry *e)
{
	cJSON *o = cJSON_CreateObject();
	const struct job_fold *j = e->fold;

	json_str(o, "id", e->job->id);
	json_str(o, "state", state_name(e->state));
	json_str(o, "cmd", e->job->cmd);
	json_str(o, "tag", e->job->attr.tag);
	json_int(o, "vram", e->vram);
	json_str(o, "reason", e->reason);
	json_str(o, "text", e->text);
	if (j == NULL)
		return o;
	json_int(o, "no", j->no);
	json_int(o, "attempt", j->attempt);
	if (state_is_terminal(e->state))
		json_int(o, "status", j->status);
	if (j->attempt > 0) {
		json_list(o, "gpus", j->gpus);
		json_str(o, "log", j->log);
		json_int(o, "started", (int64_t)j->started);
		json_int(o, "peak", j->peak);
	}
	if (e->run != NULL)
		json_int(o, "used", usage_now(e->run));
	return o;
}

static cJSON *
json_gpu(const struct rec *g)
{
	cJSON *o = cJSON_CreateObject();

	json_int(o, "index", rec_int(g, 1));
	json_str(o, "uuid", rec_field(g, 2));
	json_int(o, "total", rec_int(g, 3));
	json_int(o, "used", rec_int(g, 4));
	json_int(o, "util", rec_int(g, 5));
	json_str(o, "place", rec_field(g, 6));
	json_str(o, "why", rec_key(g, "why"));
	return o;
}

/* Everything, without the limit of the text. */
static void
render_json(struct loop *l, struct buf *b, const struct entry *e)
{
	cJSON *o = cJSON_CreateObject(), *gpus, *jobs;
	const struct frame *f = &l->probe.frame;
	size_t i;
	char *text;

	json_int(o, "schema", 1);
	json_int(o, "time", time(NULL));
	json_str(o, "jobs_file", l->o->jobs);
	gpus = cJSON_AddArrayToObject(o, "gpus");
	for (i = 0; i < f->n; i++)
		if (rec_is(&f->rec[i], "gpu"))
			cJSON_AddItemToArray(gpus, json_gpu(&f->rec[i]));
	jobs = cJSON_AddArrayToObject(o, "jobs");
	for (i = 0; i < l->queue.n; i++)
		cJSON_AddItemToArray(jobs, json_entry(&e[i]));
	text = cJSON_PrintUnformatted(o);
	if (text == NULL)
		errx(xalloc_status, "memory");
	buf_str(b, text);
	buf_char(b, '\n');
	free(text);
	cJSON_Delete(o);
}

/*
 * Replace DIR/NAME.  A board that cannot be written costs nothing but the
 * board, so this is silent: the journal says the same.
 */
static void
replace(const char *dir, const char *name, const struct buf *b)
{
	char *path = xasprintf("%s/%s", dir, name);
	char *tmp = xasprintf("%s.tmp", path);
	int fd;

	/* Whatever bears that name is a leftover, or was planted. */
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd != -1) {
		if (fd_write(fd, b->p, b->len) == 0)
			rename(tmp, path);
		else
			unlink(tmp);
		close(fd);
	}
	free(tmp);
	free(path);
}

void
board_write(struct loop *l)
{
	struct entry *e = xcalloc(l->queue.n, sizeof(*e));
	struct buf b = {0};
	size_t i;

	for (i = 0; i < l->queue.n; i++)
		e[i] = entry_of(l, &l->queue.v[i]);
	render_text(l, &b, e);
	replace(l->log_dir, "status.txt", &b);
	buf_reset(&b);
	render_json(l, &b, e);
	replace(l->log_dir, "status.json", &b);
	buf_free(&b);
	free(e);
}
