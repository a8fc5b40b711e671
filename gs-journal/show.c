/* SPDX-License-Identifier: MIT */
/* show: the facts of a job, for people. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gs-journal/history.h"
#include "gs-journal/load.h"
#include "lib/esc.h"
#include "lib/gs.h"
#include "lib/unit.h"

static void
line_str(const char *label, const char *s)
{
	struct buf b = {0};

	if (s == NULL)
		return;
	esc_show(&b, s, 0);
	printf("  %-9s %s\n", label, b.p == NULL ? "" : b.p);
	buf_free(&b);
}

static void
line_mib(const char *label, int64_t mib)
{
	if (mib >= 0)
		printf("  %-9s %lld MiB\n", label, (long long)mib);
}

static const char *
when(double t, char *out, size_t size)
{
	time_t s = (time_t)t;
	struct tm tm;

	if (t <= 0 || localtime_r(&s, &tm) == NULL ||
	    strftime(out, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		return "?";
	return out;
}

static void
line_time(const char *label, double t)
{
	char text[32];

	if (t > 0)
		printf("  %-9s %s\n", label, when(t, text, sizeof(text)));
}

static void
print_end(const struct attempt *a)
{
	char text[32], age[32];

	if (a->ended > 0) {
		printf(" to %s", when(a->ended, text, sizeof(text)));
		if (a->started > 0 && a->ended >= a->started) {
			unit_age(
			    age, sizeof(age), (int64_t)(a->ended - a->started));
			printf(" (%s)", age);
		}
	}
	if (a->cause != NULL)
		printf(", %s", a->cause);
	if (a->status >= 0)
		printf(", status %lld", (long long)a->status);
}

static void
print_attempt(const struct attempt *a)
{
	char text[32];

	printf("  attempt %lld\n", (long long)a->no);
	printf("    %-7s %s", "ran", when(a->started, text, sizeof(text)));
	print_end(a);
	printf("\n");
	if (a->gpus != NULL)
		printf("    %-7s %s\n", "gpus", a->gpus);
	if (a->peak >= 0)
		printf("    %-7s %lld MiB\n", "peak", (long long)a->peak);
	line_str("  log", a->log);
	line_str("  note", a->note);
}

static void
print_head(const struct job_fold *j)
{
	if (j->no >= 0)
		printf("job %lld: %s%s%s\n", (long long)j->no,
		    state_name(j->state), j->cancelling ? ", cancelling" : "",
		    j->stopping ? ", stopping" : "");
	else
		printf("job %s: %s\n", j->id, state_name(j->state));
	line_str("id", j->id);
	line_str("command", j->cmd);
	line_str("attrs", j->attrs);
	line_str("tag", j->tag);
	line_mib("declared", j->vram);
	line_time("queued", j->queued);
}

static void
print_job(const struct opts *o, const struct job_fold *j)
{
	struct history h;
	size_t i;

	print_head(j);
	history_read(&h, o, j->id);
	for (i = 0; i < h.n; i++)
		print_attempt(&h.v[i]);
	history_free(&h);
}

int
verb_show(const struct opts *o)
{
	struct fold *f = load_fold(o);
	const struct job_fold *j;
	int status = GS_OK;
	size_t i;

	for (i = 0; i < o->narg; i++) {
		j = load_job(f, o->arg[i]);
		if (j == NULL)
			status = GS_NO;
		else
			print_job(o, j);
	}
	fold_free(f);
	return status;
}
