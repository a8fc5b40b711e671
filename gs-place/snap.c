/* SPDX-License-Identifier: MIT */
/*
 * A frame of gpu, proc, run and job records, made into a snapshot.
 *
 * GPUs and runs come first, whatever their order in the frame, because the
 * processes refer to both.  Runs are sorted by id, so that 2000 processes find
 * theirs among 2000 runs at once; GPUs are few enough to be walked.
 *
 * A record that is wrong spoils the frame: what it would have said is not
 * known, and to place a job without knowing it is to guess.
 */
#include "gs-place/snap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rec.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

static const int64_t MIB_LIMIT = INT64_C(1) << 40;

/* A frame being read. */
struct reading {
	struct snap *s;
	char *err;
	size_t size;
};

static int fail(struct reading *r, const struct rec *rec, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int
fail(struct reading *r, const struct rec *rec, const char *fmt, ...)
{
	const char *id = rec_field(rec, 1);
	va_list ap;
	int n;

	n = snprintf(r->err, r->size, "%s %.64s: ", rec_field(rec, 0),
	    id != NULL ? id : "-");
	if (n < 0 || (size_t)n >= r->size)
		return -1;
	va_start(ap, fmt);
	vsnprintf(r->err + n, r->size - (size_t)n, fmt, ap);
	va_end(ap);
	return -1;
}

int64_t
gpu_number(const char *word)
{
	const char *errstr;
	int64_t v = unit_num(word, 0, INT64_MAX, &errstr);

	return errstr != NULL ? -1 : v;
}

bool
gpu_is(const struct gpu *g, const char *word, int64_t number)
{
	return g->index == number ||
	    (g->uuid != NULL && strcmp(g->uuid, word) == 0);
}

static struct gpu *
gpu_find(const struct snap *s, const char *word)
{
	int64_t number = gpu_number(word);
	size_t i;

	for (i = 0; i < s->ngpu; i++)
		if (gpu_is(&s->gpu[i], word, number))
			return &s->gpu[i];
	return NULL;
}

/* An amount of memory; -1 if it is unknown. */
static int
amount(struct reading *r, const struct rec *rec, const char *word, int64_t *v)
{
	const char *errstr;

	*v = -1;
	if (word == NULL)
		return 0;
	*v = unit_num(word, 0, MIB_LIMIT, &errstr);
	if (errstr == NULL)
		return 0;
	return fail(r, rec, "'%.64s': not an amount of memory", word);
}

static int
attributes(struct reading *r, const struct rec *rec, size_t i, struct attr *a)
{
	const char *word = rec_field(rec, i);
	struct attr_err e;

	attr_init(a);
	if (word == NULL || attr_parse_all(word, a, &e) == 0)
		return 0;
	return fail(r, rec, "'%s': %s", e.word, e.msg);
}

/* Are all positional fields there? */
static int
complete(struct reading *r, const struct rec *rec, size_t n)
{
	if (rec->n > n)
		return 0;
	return fail(r, rec, "%zu fields, %zu expected", rec->n - 1, n);
}

/* A word that is newer than this program must not lead to a placement. */
static enum place
place_of(const char *word)
{
	if (word != NULL && strcmp(word, "yes") == 0)
		return PLACE_YES;
	if (word != NULL && strcmp(word, "alone") == 0)
		return PLACE_ALONE;
	return PLACE_NO;
}

static int
take_gpu(struct reading *r, const struct rec *rec)
{
	struct gpu *g = &r->s->gpu[r->s->ngpu];
	size_t i;

	if (complete(r, rec, 6) == -1)
		return -1;
	*g = (struct gpu){
	    .index = rec_int(rec, 1),
	    .uuid = rec_field(rec, 2),
	    .name = rec_key(rec, "name"),
	    .parent = rec_key(rec, "parent"),
	    .env = rec_key(rec, "env"),
	    .why = rec_key(rec, "why"),
	    .place = place_of(rec_field(rec, 6)),
	};
	if (g->index < 0)
		return fail(r, rec, "not an index");
	for (i = 0; i < r->s->ngpu; i++)
		if (r->s->gpu[i].index == g->index)
			return fail(r, rec, "index given twice");
	r->s->ngpu++;
	if (amount(r, rec, rec_field(rec, 3), &g->total) == -1 ||
	    amount(r, rec, rec_field(rec, 4), &g->used) == -1 ||
	    amount(r, rec, rec_key(rec, "reserved"), &g->reserved) == -1)
		return -1;
	if (g->reserved == -1)
		g->reserved = 0;
	return 0;
}

/* The run's hold on a GPU, made if there is none. */
static struct hold *
hold_on(struct run *run, size_t gpu, bool given)
{
	struct hold *h;
	size_t i;

	for (i = 0; i < run->nhold; i++)
		if (run->hold[i].gpu == gpu)
			return &run->hold[i];
	run->hold = xreallocarray(run->hold, run->nhold + 1, sizeof(*h));
	h = &run->hold[run->nhold++];
	*h = (struct hold){.gpu = gpu, .given = given};
	return h;
}

/* "0,1" or "UUID,UUID".  GPUs that are not in the frame are left out. */
static int
run_gpus(struct reading *r, const struct rec *rec, struct run *run)
{
	char *copy, *rest, *word;
	struct gpu *g;
	int rv = 0;

	if (rec_field(rec, 2) == NULL)
		return 0;
	copy = rest = xstrdup(rec_field(rec, 2));
	while (rv == 0 && (word = strsep(&rest, ",")) != NULL) {
		if (word[0] == '\0')
			rv = fail(r, rec, "'%.64s': not a list of GPUs",
			    rec_field(rec, 2));
		else if ((g = gpu_find(r->s, word)) != NULL)
			hold_on(run, (size_t)(g - r->s->gpu), true);
	}
	free(copy);
	return rv;
}

/* One "GPU:MIB" of peak=. */
static int
run_peak(struct reading *r, const struct rec *rec, struct run *run, char *word)
{
	char *colon = strrchr(word, ':');
	struct hold *h;
	struct gpu *g;
	int64_t v;

	if (colon == NULL || colon == word || colon[1] == '\0')
		return fail(r, rec, "'%.64s': not GPU:MIB", word);
	*colon = '\0';
	if (amount(r, rec, colon + 1, &v) == -1)
		return -1;
	g = gpu_find(r->s, word);
	if (g == NULL)
		return 0;
	h = hold_on(run, (size_t)(g - r->s->gpu), false);
	if (h->peak < v)
		h->peak = v;
	return 0;
}

static int
run_peaks(struct reading *r, const struct rec *rec, struct run *run)
{
	const char *list = rec_key(rec, "peak");
	char *copy, *rest, *word;
	int rv = 0;

	if (list == NULL)
		return 0;
	copy = rest = xstrdup(list);
	while (rv == 0 && (word = strsep(&rest, ",")) != NULL)
		rv = run_peak(r, rec, run, word);
	free(copy);
	return rv;
}

static int
take_run(struct reading *r, const struct rec *rec)
{
	struct run *run = &r->s->run[r->s->nrun];

	if (complete(r, rec, 4) == -1)
		return -1;
	*run = (struct run){.id = rec_field(rec, 1)};
	if (run->id == NULL)
		return fail(r, rec, "no id");
	r->s->nrun++;
	if (attributes(r, rec, 4, &run->attr) == -1 ||
	    run_gpus(r, rec, run) == -1)
		return -1;
	return run_peaks(r, rec, run);
}

static int
take_job(struct reading *r, const struct rec *rec)
{
	struct job *j = &r->s->job[r->s->njob];

	if (complete(r, rec, 2) == -1)
		return -1;
	j->id = rec_field(rec, 1);
	if (j->id == NULL)
		return fail(r, rec, "no id");
	r->s->njob++;
	return attributes(r, rec, 2, &j->attr);
}

static int
by_id(const void *a, const void *b)
{
	return strcmp(((const struct run *)a)->id, ((const struct run *)b)->id);
}

/* Charge a process to the run that it belongs to, or to strangers. */
static int
take_proc(struct reading *r, const struct rec *rec)
{
	struct run key = {.id = rec_field(rec, 8)}, *run = NULL;
	int64_t used, peak;
	struct hold *h;
	struct gpu *g;

	if (complete(r, rec, 8) == -1)
		return -1;
	if (rec_int(rec, 1) < 0)
		return fail(r, rec, "not an index");
	if (amount(r, rec, rec_field(rec, 6), &used) == -1 ||
	    amount(r, rec, rec_field(rec, 7), &peak) == -1)
		return -1;
	g = gpu_find(r->s, rec_field(rec, 1));
	if (g == NULL)
		return 0;
	used = used > 0 ? used : 0;
	peak = peak > used ? peak : used;
	g->procs++;
	if (key.id != NULL && r->s->nrun > 0)
		run = bsearch(&key, r->s->run, r->s->nrun, sizeof(key), by_id);
	if (run == NULL) {
		g->foreign_peak += peak;
		return 0;
	}
	h = hold_on(run, (size_t)(g - r->s->gpu), false);
	h->used += used;
	h->proc_peak += peak;
	return 0;
}

static int
each(struct reading *r, const struct frame *f, const char *tag,
    int (*take)(struct reading *, const struct rec *))
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (rec_is(&f->rec[i], tag) && take(r, &f->rec[i]) == -1)
			return -1;
	return 0;
}

static int
runs_sort(struct reading *r)
{
	struct snap *s = r->s;
	size_t i;

	if (s->nrun > 1)
		qsort(s->run, s->nrun, sizeof(*s->run), by_id);
	for (i = 1; i < s->nrun; i++)
		if (strcmp(s->run[i - 1].id, s->run[i].id) == 0) {
			snprintf(r->err, r->size, "run %.64s: given twice",
			    s->run[i].id);
			return -1;
		}
	return 0;
}

/* Whatever was seen of a run in the past, it is no less than now. */
static void
peaks_merge(struct run *run)
{
	struct hold *h;
	size_t i;

	for (i = 0; i < run->nhold; i++) {
		h = &run->hold[i];
		if (h->peak < h->proc_peak)
			h->peak = h->proc_peak;
	}
}

static void
parents_mark(struct snap *s)
{
	struct gpu *g;
	size_t i;

	for (i = 0; i < s->ngpu; i++)
		if (s->gpu[i].parent != NULL &&
		    (g = gpu_find(s, s->gpu[i].parent)) != NULL)
			g->parted = true;
}

static size_t
count(const struct frame *f, const char *tag)
{
	size_t i, n = 0;

	for (i = 0; i < f->n; i++)
		n += rec_is(&f->rec[i], tag);
	return n;
}

int
snap_read(const struct frame *f, struct snap *s, char *err, size_t size)
{
	struct reading r = {.s = s, .err = err, .size = size};
	size_t i;

	*s = (struct snap){
	    .gpu = xcalloc(count(f, "gpu"), sizeof(*s->gpu)),
	    .run = xcalloc(count(f, "run"), sizeof(*s->run)),
	    .job = xcalloc(count(f, "job"), sizeof(*s->job)),
	};
	if (each(&r, f, "gpu", take_gpu) == 0 &&
	    each(&r, f, "run", take_run) == 0 && runs_sort(&r) == 0 &&
	    each(&r, f, "proc", take_proc) == 0 &&
	    each(&r, f, "job", take_job) == 0) {
		for (i = 0; i < s->nrun; i++)
			peaks_merge(&s->run[i]);
		parents_mark(s);
		return 0;
	}
	snap_free(s);
	return -1;
}

void
snap_free(struct snap *s)
{
	size_t i;

	for (i = 0; i < s->nrun; i++) {
		attr_free(&s->run[i].attr);
		free(s->run[i].hold);
	}
	for (i = 0; i < s->njob; i++)
		attr_free(&s->job[i].attr);
	free(s->gpu);
	free(s->run);
	free(s->job);
	*s = (struct snap){0};
}
