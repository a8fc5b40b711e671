/* SPDX-License-Identifier: MIT */
/* state: one record for each job. */
#include <err.h>
#include <unistd.h>

#include "gs-journal/load.h"
#include "lib/attr.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/rec.h"

/* Whole epoch seconds; the fold has 0 for unknown, the records -1. */
static int64_t
seconds(double t)
{
	return t > 0 ? (int64_t)t : -1;
}

static int64_t
eta_of(const struct job_fold *j)
{
	struct attr_err e;
	int64_t eta = -1;
	struct attr a;

	if (j->attrs == NULL || attr_parse_all(j->attrs, &a, &e) == -1)
		return -1;
	if (a.eta_ms >= 0)
		eta = a.eta_ms / 1000;
	attr_free(&a);
	return eta;
}

static void
print(struct recw *w, const struct job_fold *j)
{
	recw_rec(w, "state");
	recw_int(w, j->no);
	recw_str(w, j->id);
	recw_str(w, state_name(j->state));
	recw_int(w, j->attempt);
	recw_int(w, j->status);
	recw_str(w, j->gpus);
	recw_int(w, j->vram);
	recw_int(w, j->peak);
	recw_int(w, seconds(j->queued));
	recw_int(w, seconds(j->started));
	recw_int(w, seconds(j->ended));
	recw_str(w, j->cmd);
	recw_kstr(w, "tag", j->tag);
	recw_kint(w, "eta", eta_of(j));
}

/* The named jobs; an unknown one does not keep the others back. */
static int
print_named(struct recw *w, const struct fold *f, const struct opts *o)
{
	const struct job_fold *j;
	int status = GS_OK;
	size_t i;

	for (i = 0; i < o->narg; i++) {
		j = load_job(f, o->arg[i]);
		if (j == NULL)
			status = GS_NO;
		else
			print(w, j);
	}
	return status;
}

int
verb_state(const struct opts *o)
{
	struct fold *f = load_fold(o);
	struct recw w = {0};
	int status = GS_OK;
	size_t i;

	recw_frame(&w, "gs-journal");
	recw_kint(&w, "time", (int64_t)clock_wall());
	if (o->narg > 0)
		status = print_named(&w, f, o);
	else
		for (i = 0; i < fold_count(f); i++)
			print(&w, fold_at(f, i));
	recw_end(&w);
	if (recw_flush(&w, STDOUT_FILENO) == -1)
		err(GS_BAD, "stdout");
	recw_free(&w);
	fold_free(f);
	return status;
}
