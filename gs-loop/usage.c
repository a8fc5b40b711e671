/* SPDX-License-Identifier: MIT */
#include "gs-loop/usage.h"

#include <string.h>

#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "lib/clock.h"
#include "lib/unit.h"

enum {
	FULL_PCT = 95, /* in use: nearly full */
	/* A program that failed gives its memory back before it ends. */
	FULL_MS = 10000,
};

static struct gpu_use *
use_of(struct run *r, const char *uuid)
{
	size_t i;

	for (i = 0; i < r->nuse; i++)
		if (strcmp(r->use[i].uuid, uuid) == 0)
			return &r->use[i];
	return NULL;
}

/*
 * One process of a job.  Its own peak may be above what it uses now; the
 * peaks of several were not reached at one time, so they are not added.
 */
static void
take_proc(struct loop *l, const struct rec *p)
{
	const char *job = rec_field(p, 8), *index = rec_field(p, 1);
	const struct rec *gpu = index ? probe_gpu(&l->probe, index) : NULL;
	struct run *r = job ? runs_find(&l->runs, job) : NULL;
	struct gpu_use *u;

	if (r == NULL || gpu == NULL || rec_field(gpu, 2) == NULL)
		return;
	u = use_of(r, rec_field(gpu, 2));
	if (u == NULL) {
		if (!r->strayed)
			say("WARN job %lld runs on gpu %s, but was given [%s]",
			    (long long)r->no, index, r->gpus ? r->gpus : "");
		r->strayed = true;
		return;
	}
	if (rec_int(p, 6) >= 0)
		u->now = (u->now > 0 ? u->now : 0) + rec_int(p, 6);
	if (rec_int(p, 7) > u->peak)
		u->peak = rec_int(p, 7);
}

static void
keep(struct loop *l, struct run *r)
{
	cJSON *ev = ledger_event("usage", r->id, r->attempt);
	size_t i;

	usage_peaks(ev, r, true);
	if (ledger_append(&l->ledger, ev, false) == 0)
		for (i = 0; i < r->nuse; i++)
			r->use[i].kept = r->use[i].peak;
}

static void
warn_exceeds(struct run *r, const struct gpu_use *u, int64_t tolerance)
{
	int64_t declared = r->attr.vram_mib;

	if (r->exceeded || declared < 0 ||
	    u->peak <= unit_grow(declared, tolerance))
		return;
	say("WARN job %lld EXCEEDS declared VRAM on gpu %lld: %lld MiB used, "
	    "%lld MiB declared; neighbors may OOM",
	    (long long)r->no, (long long)u->index, (long long)u->peak,
	    (long long)declared);
	r->exceeded = true;
}

/* What is known of the GPU as a whole. NULL: it is missing. */
static void
take_gpu(struct run *r, struct gpu_use *u, const struct rec *gpu)
{
	if (gpu == NULL)
		return;
	if (rec_int(gpu, 3) > 0 &&
	    rec_int(gpu, 4) >= rec_int(gpu, 3) * FULL_PCT / 100)
		u->full_at = clock_ms();
	if (rec_int(gpu, 5) >= 0) {
		r->util_sum += rec_int(gpu, 5);
		r->util_n++;
	}
}

/* The totals of a run after all its processes were taken in. */
static void
take_run(struct loop *l, struct run *r)
{
	bool grown = false, worth = false;
	struct gpu_use *u;
	size_t i;

	for (i = 0; i < r->nuse; i++) {
		u = &r->use[i];
		if (u->now > u->peak)
			u->peak = u->now;
		/* Each growth is said; the journal takes steps of 5%. */
		grown |= u->peak > u->kept;
		worth |= u->peak > u->kept + (u->kept > 0 ? u->kept / 20 : 0);
		warn_exceeds(r, u, l->o->tolerance_ppm);
		take_gpu(r, u, probe_gpu(&l->probe, u->uuid));
	}
	if (grown && l->o->verbose)
		say_usage(r);
	if (worth)
		keep(l, r);
}

void
usage_frame(struct loop *l)
{
	const struct frame *f = &l->probe.frame;
	struct run *r, *next;
	size_t i;

	TAILQ_FOREACH(r, &l->runs.list, link)
		for (i = 0; i < r->nuse; i++)
			r->use[i].now = -1;
	for (i = 0; i < f->n; i++)
		if (rec_is(&f->rec[i], "proc"))
			take_proc(l, &f->rec[i]);
	TAILQ_FOREACH_SAFE(r, &l->runs.list, link, next)
		if (r->phase != RUN_LAUNCHING && !r->told)
			take_run(l, r);
}

void
usage_peaks(cJSON *ev, const struct run *r, bool fresh)
{
	cJSON *peak = NULL;
	size_t i;

	for (i = 0; i < r->nuse; i++) {
		if (r->use[i].peak < 0 ||
		    (fresh && r->use[i].peak <= r->use[i].kept))
			continue;
		if (peak == NULL)
			peak = cJSON_AddObjectToObject(ev, "peak");
		json_int(peak, r->use[i].uuid, r->use[i].peak);
	}
}

int64_t
usage_util(const struct run *r)
{
	if (r->util_n == 0)
		return -1;
	return (r->util_sum + r->util_n / 2) / r->util_n;
}

int64_t
usage_peak(const struct run *r)
{
	int64_t most = -1;
	size_t i;

	for (i = 0; i < r->nuse; i++)
		if (r->use[i].peak > most)
			most = r->use[i].peak;
	return most;
}

int64_t
usage_now(const struct run *r)
{
	int64_t most = -1;
	size_t i;

	for (i = 0; i < r->nuse; i++)
		if (r->use[i].now > most)
			most = r->use[i].now;
	return most;
}

bool
usage_full(const struct run *r)
{
	size_t i;

	for (i = 0; i < r->nuse; i++)
		if (r->use[i].full_at != 0 &&
		    clock_ms() - r->use[i].full_at <= FULL_MS)
			return true;
	return false;
}

/* "declared 8192 MiB → over-declared (-59%); ..." */
static void
compare(struct buf *b, int64_t declared, int64_t peak, int64_t tolerance)
{
	const struct signs *s = signs();
	int64_t pct = (peak - declared) * 100 / declared;

	buf_printf(
	    b, " | declared %lld MiB %s ", (long long)declared, s->arrow);
	if (peak > unit_grow(declared, tolerance))
		buf_printf(b,
		    "UNDER-declared (+%lld%%); raise it, or "
		    "neighbors may OOM",
		    (long long)pct);
	else if (peak < declared - declared * tolerance / 1000000)
		buf_printf(b,
		    "over-declared (%lld%%); lowering it frees "
		    "packing headroom",
		    (long long)pct);
	else
		buf_printf(b, "within %s%lld%%", s->plus_minus,
		    (long long)(tolerance / 10000));
}

void
usage_verdict(struct buf *b, const struct run *r, int64_t tolerance_ppm)
{
	int64_t declared = r->attr.vram_mib, peak = usage_peak(r);
	size_t i;

	if (r->nuse == 0)
		return;
	buf_str(b, "peak vram");
	for (i = 0; i < r->nuse && peak >= 0; i++)
		buf_printf(b, "%s gpu%lld:%lld MiB", i > 0 ? "," : "",
		    (long long)r->use[i].index,
		    (long long)(r->use[i].peak < 0 ? 0 : r->use[i].peak));
	if (peak < 0)
		buf_str(b, " n/a");
	if (declared < 0)
		buf_str(b, " | undeclared");
	else if (peak < 0)
		buf_printf(b, " | declared %lld MiB", (long long)declared);
	else
		compare(b, declared, peak, tolerance_ppm);
	if (usage_util(r) < 0)
		buf_str(b, " | avg gpu util n/a");
	else
		buf_printf(
		    b, " | avg gpu util %lld%%", (long long)usage_util(r));
}
