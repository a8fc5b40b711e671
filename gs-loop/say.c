/* SPDX-License-Identifier: MIT */
#include "gs-loop/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gs-loop/loop.h"
#include "gs-loop/retry.h"
#include "gs-loop/usage.h"
#include "lib/clock.h"
#include "lib/esc.h"
#include "lib/unit.h"

enum {
	CMD_COLS = 160
}; /* of a command in a message */

static const struct signs utf8_signs = {
    .dash = "\xe2\x80\x94",
    .arrow = "\xe2\x86\x92",
    .plus_minus = "\xc2\xb1",
    .running = "\xe2\x96\xb6",
    .pending = "\xc2\xb7",
    .retrying = "\xe2\x86\xbb",
    .ok = "\xe2\x9c\x93",
    .failed = "\xe2\x9c\x97",
    .cancelled = "\xe2\x8a\x98",
};

static const struct signs ascii_signs = {
    .dash = "--",
    .arrow = "->",
    .plus_minus = "+-",
    .running = ">",
    .pending = ".",
    .retrying = "~",
    .ok = "+",
    .failed = "!",
    .cancelled = "x",
};

/* The first of the three that is set and not empty decides, as POSIX says. */
static int
locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *v;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		v = getenv(names[i]);
		if (v != NULL && v[0] != '\0')
			return strcasestr(v, "utf-8") != NULL ||
			    strcasestr(v, "utf8") != NULL;
	}
	return 0;
}

const struct signs *
signs(void)
{
	static const struct signs *chosen;

	if (chosen == NULL)
		chosen = locale_is_utf8() ? &utf8_signs : &ascii_signs;
	return chosen;
}

void
say(const char *fmt, ...)
{
	time_t now = time(NULL);
	char stamp[16];
	struct tm tm;
	va_list ap;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "[%H:%M:%S]", &tm);
	printf("%s ", stamp);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* "job 3": by number, or by id if it never got one. */
static void
name_job(struct buf *b, int64_t no, const char *id)
{
	if (no >= 0)
		buf_printf(b, "job %lld", (long long)no);
	else
		buf_printf(b, "job %s", id);
}

static void
add_cmd(struct buf *b, const char *cmd)
{
	buf_printf(b, " %s ", signs()->dash);
	esc_show(b, cmd != NULL ? cmd : "", CMD_COLS);
}

static void
flush(struct buf *b)
{
	say("%s", b->p);
	buf_free(b);
}

void
say_started(struct loop *l, const struct run *r)
{
	struct buf b = {0};

	name_job(&b, r->no, r->id);
	if (r->gpus != NULL)
		buf_printf(&b, " started on gpu [%s]", r->gpus);
	else
		buf_str(&b, " started on cpu");
	buf_printf(&b, " (%zu/%zu dispatched", l->queue.dispatched, l->queue.n);
	if (r->gpus != NULL && r->attr.vram_mib >= 0)
		buf_printf(
		    &b, ", declared %lld MiB/gpu", (long long)r->attr.vram_mib);
	else if (r->gpus != NULL)
		buf_str(&b, ", undeclared");
	if (r->attempt > 1)
		buf_printf(&b, ", attempt %lld", (long long)r->attempt);
	buf_char(&b, ')');
	add_cmd(&b, r->cmd);
	flush(&b);
}

void
say_attached(const struct run *r)
{
	struct buf b = {0};

	name_job(&b, r->no, r->id);
	buf_printf(&b, " is still running on %s [%s], watched again",
	    r->gpus != NULL ? "gpu" : "cpu", r->gpus != NULL ? r->gpus : "");
	add_cmd(&b, r->cmd);
	flush(&b);
}

void
say_usage(const struct run *r)
{
	struct buf b = {0};
	size_t i;

	name_job(&b, r->no, r->id);
	buf_str(&b, " peak vram");
	for (i = 0; i < r->nuse; i++)
		if (r->use[i].peak >= 0)
			buf_printf(&b, " gpu%lld:%lld MiB",
			    (long long)r->use[i].index,
			    (long long)r->use[i].peak);
	if (r->attr.vram_mib >= 0)
		buf_printf(
		    &b, " of %lld MiB declared", (long long)r->attr.vram_mib);
	flush(&b);
}

/* "[FAILED exit 3]" */
static void
add_outcome(struct buf *b, const struct job_fold *j)
{
	switch (j->state) {
	case JOB_OK:
		buf_str(b, "[OK]");
		break;
	case JOB_TIMEOUT:
		buf_str(b, "[TIMEOUT]");
		break;
	case JOB_CANCELLED:
		buf_str(b, "[CANCELLED]");
		break;
	case JOB_FAILED_OOM:
		buf_printf(b, "[FAILED out of GPU memory, exit %lld]",
		    (long long)j->status);
		break;
	default:
		if (j->cause == CAUSE_SIGNAL)
			buf_printf(b, "[FAILED signal %lld]",
			    (long long)j->status - 128);
		else
			buf_printf(
			    b, "[FAILED exit %lld]", (long long)j->status);
	}
}

void
say_ended(struct loop *l, const struct run *r, const struct job_fold *j)
{
	struct buf b = {0}, verdict = {0};
	int64_t wall = j->wall;

	if (wall < 0)
		wall = (int64_t)(event_now() - r->since);
	name_job(&b, r->no, r->id);
	if (!state_is_terminal(j->state)) {
		buf_str(&b, " interrupted");
		if (r->since > 0)
			buf_printf(&b, " after %llds", (long long)wall);
		buf_str(&b, ", pending again");
		flush(&b);
		return;
	}
	buf_str(&b, " finished ");
	add_outcome(&b, j);
	buf_printf(&b, " in %llds", (long long)wall);
	usage_verdict(&verdict, r, l->o->tolerance_ppm);
	if (verdict.len > 0)
		buf_printf(&b, " %s %s", signs()->dash, verdict.p);
	if (j->state != JOB_OK && j->state != JOB_CANCELLED && j->log != NULL)
		buf_printf(&b, " | log %s", j->log);
	flush(&b);
	buf_free(&verdict);
}

void
say_retry(struct loop *l, const struct run *r, const struct job_fold *j)
{
	struct buf b = {0}, verdict = {0};

	name_job(&b, r->no, r->id);
	buf_printf(
	    &b, " ran out of GPU memory [exit %lld]", (long long)j->status);
	if (j->wall >= 0)
		buf_printf(&b, " in %llds", (long long)j->wall);
	usage_verdict(&verdict, r, l->o->tolerance_ppm);
	buf_printf(&b, " %s %s | retry %lld/%lld", signs()->dash, verdict.p,
	    (long long)j->retries, (long long)retry_limit(l, r));
	if (j->vram >= 0)
		buf_printf(&b, " with %lld MiB/gpu", (long long)j->vram);
	flush(&b);
	buf_free(&verdict);
}

/* A fact about a job that is in the journal. */
static void
say_fact(struct loop *l, const char *id, const char *fact)
{
	const struct job_fold *j = fold_find(l->ledger.fold, id);
	struct buf b = {0};

	name_job(&b, j != NULL ? j->no : -1, id);
	buf_printf(&b, " %s", fact);
	add_cmd(&b, j != NULL ? j->cmd : NULL);
	flush(&b);
}

void
say_cancelling(struct loop *l, const struct run *r)
{
	say_fact(l, r->id, "is being cancelled");
}

void
say_cancelled(struct loop *l, const char *id)
{
	say_fact(l, id, "cancelled before it started");
}

void
say_skipped(struct loop *l, const char *id)
{
	say_fact(l, id, "skipped: a job it waits for did not end ok");
}

void
say_infeasible(struct loop *l, const char *id, const char *text)
{
	const struct job_fold *j = fold_find(l->ledger.fold, id);
	struct buf b = {0};

	if (j != NULL && j->state == JOB_FAILED_OOM)
		buf_str(&b, "[FAILED out of GPU memory], and a retry is ");
	buf_printf(
	    &b, "INFEASIBLE: %s", text != NULL ? text : "it can never fit");
	say_fact(l, id, b.p);
	buf_free(&b);
}

/* The pids that a note names. */
static void
add_pids(struct buf *b, const cJSON *ev, const char *key)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(ev, key), *pid;

	if (cJSON_GetArraySize(list) == 0)
		return;
	buf_str(b, ": pid");
	cJSON_ArrayForEach(pid, list)
		if (cJSON_IsNumber(pid))
			buf_printf(b, " %.0f", pid->valuedouble);
}

void
say_note(struct loop *l, const cJSON *ev)
{
	char *id = json_get_str(ev, "id"), *text = json_get_str(ev, "text");
	const struct job_fold *j = id ? fold_find(l->ledger.fold, id) : NULL;
	struct buf b = {0};

	buf_str(&b, j != NULL ? "WARN " : "note: ");
	if (j != NULL) {
		name_job(&b, j->no, id);
		buf_char(&b, ' ');
	}
	esc_show(&b, text != NULL ? text : "", CMD_COLS);
	add_pids(&b, ev, "left");
	add_pids(&b, ev, "survivors");
	flush(&b);
	free(id);
	free(text);
}

static void
count_states(struct loop *l, size_t count[JOB_SKIPPED + 1])
{
	const struct job_fold *j;
	size_t i;

	memset(count, 0, (JOB_SKIPPED + 1) * sizeof(*count));
	for (i = 0; i < l->queue.n; i++) {
		j = fold_find(l->ledger.fold, l->queue.v[i].job.id);
		count[j != NULL ? j->state : JOB_PENDING]++;
	}
}

void
say_summary(struct loop *l)
{
	size_t count[JOB_SKIPPED + 1];
	struct buf b = {0};
	char age[32];
	int s;

	count_states(l, count);
	unit_age(age, sizeof(age), (clock_ms() - l->begun_ms) / 1000);
	buf_printf(&b, "%zu job%s:", l->queue.n, l->queue.n == 1 ? "" : "s");
	for (s = JOB_PENDING; s <= JOB_SKIPPED; s++)
		if (count[s] > 0)
			buf_printf(&b, " %zu %s,", count[s],
			    state_name((enum job_state)s));
	if (b.p[b.len - 1] == ',')
		b.len--;
	b.p[b.len] = '\0';
	buf_printf(&b, " after %s", age);
	flush(&b);
}
