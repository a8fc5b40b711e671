/* SPDX-License-Identifier: MIT */
#include "gs-probe/prom.h"

#include <stdlib.h>
#include <string.h>

#include "lib/fold.h"

#define MIB 1048576LL

/* A gauge of every GPU. */
static const struct gauge {
	const char *name;
	const char *help;
	size_t at; /* in struct gpu */
	int64_t times;
} gauges[] = {
    {"gs_gpu_memory_total_bytes", "Memory of the GPU.",
	offsetof(struct gpu, total), MIB},
    {"gs_gpu_memory_used_bytes", "Memory in use, by whomever.",
	offsetof(struct gpu, used), MIB},
    {"gs_gpu_memory_free_bytes", "Memory that the driver calls free.",
	offsetof(struct gpu, free), MIB},
    {"gs_gpu_utilization_percent", "Utilisation, as the driver samples it.",
	offsetof(struct gpu, util), 1},
    {"gs_gpu_temperature_celsius", "Temperature of the GPU.",
	offsetof(struct gpu, temp), 1},
};

/* Fields of a state record. */
enum {
	STATE_NO = 1,
	STATE_ID,
	STATE_STATE,
	STATE_VRAM = 7,
	STATE_PEAK,
	STATE_STARTED = 10,
};

static void
head(struct buf *b, const char *name, const char *help)
{
	buf_printf(b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* name="value", with what would end it escaped. */
static void
label(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, "%s%s=\"", b->p[b->len - 1] == '{' ? "" : ",", name);
	for (; value != NULL && *value != '\0'; value++) {
		if (*value == '\n') {
			buf_str(b, "\\n");
			continue;
		}
		if (*value == '"' || *value == '\\')
			buf_char(b, '\\');
		buf_char(b, *value);
	}
	buf_char(b, '"');
}

static void
label_int(struct buf *b, const char *name, int64_t v)
{
	buf_printf(b, "%s%s=\"%lld\"", b->p[b->len - 1] == '{' ? "" : ",", name,
	    (long long)v);
}

static void
gpu_labels(struct buf *b, const struct gpu *g)
{
	label_int(b, "gpu", g->index);
	label(b, "uuid", g->uuid);
	label(b, "name", g->name);
}

static void
value(struct buf *b, int64_t v)
{
	buf_printf(b, "} %lld\n", (long long)v);
}

static void
gauge_add(struct buf *b, const struct gauge *m, const struct snap *s)
{
	int64_t v;
	size_t i;

	head(b, m->name, m->help);
	for (i = 0; i < s->ngpu; i++) {
		memcpy(&v, (const char *)&s->gpu[i] + m->at, sizeof(v));
		if (v == -1)
			continue;
		buf_printf(b, "%s{", m->name);
		gpu_labels(b, &s->gpu[i]);
		value(b, v * m->times);
	}
}

static void
places_add(struct buf *b, const struct snap *s)
{
	size_t i;

	head(b, "gs_gpu_placeable",
	    "1: jobs may be placed there, 0: none, with the reason.");
	for (i = 0; i < s->ngpu; i++) {
		buf_str(b, "gs_gpu_placeable{");
		gpu_labels(b, &s->gpu[i]);
		label(b, "place", place_name(s->gpu[i].place));
		if (s->gpu[i].place == PLACE_NO)
			label(b, "why", s->gpu[i].why);
		value(b, s->gpu[i].place != PLACE_NO);
	}
}

static void
procs_add(struct buf *b, const struct snap *s)
{
	const struct gproc *p;
	size_t i;

	head(b, "gs_process_memory_bytes",
	    "Memory of a process on a GPU, and whose job it is.");
	for (i = 0; i < s->nproc; i++) {
		p = &s->proc[i];
		if (p->used == -1)
			continue;
		buf_str(b, "gs_process_memory_bytes{");
		label_int(b, "gpu", s->gpu[p->gpu].index);
		label_int(b, "pid", p->pid);
		label(b, "job", p->job);
		value(b, p->used * MIB);
	}
}

void
prom_gpus(struct buf *b, const struct snap *s, int64_t now)
{
	size_t i;

	for (i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		gauge_add(b, &gauges[i], s);
	places_add(b, s);
	procs_add(b, s);
	head(b, "gs_snapshot_timestamp_seconds", "When this was looked at.");
	buf_printf(b, "gs_snapshot_timestamp_seconds %lld\n", (long long)now);
}

static void
counts_add(struct buf *b, const struct frame *f)
{
	size_t count[JOB_SKIPPED + 1] = {0}, i;
	const char *word;
	int s;

	for (i = 0; i < f->n; i++) {
		word = rec_field(&f->rec[i], STATE_STATE);
		s = rec_is(&f->rec[i], "state") && word ? state_parse(word)
							: -1;
		if (s != -1)
			count[s]++;
	}
	head(b, "gs_jobs", "Jobs that the journal knows, by state.");
	for (s = JOB_PENDING; s <= JOB_SKIPPED; s++)
		buf_printf(b, "gs_jobs{state=\"%s\"} %zu\n",
		    state_name((enum job_state)s), count[s]);
}

/* A number of every job that is at work; `times` makes it the unit. */
static void
running_add(struct buf *b, const struct frame *f, const char *name,
    const char *help, size_t field, int64_t times)
{
	const struct rec *r;
	const char *state;
	size_t i;

	head(b, name, help);
	for (i = 0; i < f->n; i++) {
		r = &f->rec[i];
		state = rec_field(r, STATE_STATE);
		if (!rec_is(r, "state") || state == NULL ||
		    (strcmp(state, "running") != 0 &&
			strcmp(state, "frozen") != 0) ||
		    rec_int(r, field) < 0)
			continue;
		buf_printf(b, "%s{", name);
		label_int(b, "no", rec_int(r, STATE_NO));
		label(b, "job", rec_field(r, STATE_ID));
		label(b, "tag", rec_key(r, "tag"));
		value(b, rec_int(r, field) * times);
	}
}

void
prom_jobs(struct buf *b, const struct frame *f)
{
	counts_add(b, f);
	running_add(b, f, "gs_job_declared_bytes",
	    "Memory that the job declares for each GPU.", STATE_VRAM, MIB);
	running_add(b, f, "gs_job_peak_bytes",
	    "The most memory it was seen to use on a GPU.", STATE_PEAK, MIB);
	running_add(b, f, "gs_job_start_timestamp_seconds",
	    "When its latest attempt began.", STATE_STARTED, 1);
}
