/* SPDX-License-Identifier: MIT */
#include "gs-probe/frame.h"

#include <string.h>

#include "lib/rec.h"
#include "lib/xalloc.h"
#include "gs-probe/snap.h"

static void
gpu_add(struct recw *w, const struct gpu *g)
{
	recw_rec(w, "gpu");
	recw_int(w, g->index);
	recw_str(w, g->uuid);
	recw_int(w, g->total);
	recw_int(w, g->used);
	recw_int(w, g->util);
	recw_str(w, place_name(g->place));
	recw_kstr(w, "name", g->name);
	recw_kint(w, "free", g->free);
	recw_kint(w, "reserved", g->reserved);
	recw_kstr(w, "bus", g->bus);
	recw_kint(w, "temp", g->temp);
	recw_kstr(w, "mode", g->mode);
	recw_kint(w, "parent", g->parent);
	recw_kstr(w, "env", g->env);
	recw_kstr(w, "why", g->why);
}

static void
proc_add(struct recw *w, const struct snap *s, const struct gproc *p)
{
	recw_rec(w, "proc");
	recw_int(w, s->gpu[p->gpu].index);
	recw_int(w, p->pid);
	recw_int(w, p->pgid);
	recw_int(w, p->sid);
	recw_int(w, p->start);
	recw_int(w, p->used);
	recw_int(w, p->peak);
	recw_str(w, p->job);
	recw_kstr(w, "type", p->type);
	recw_kstr(w, "user", p->user);
	recw_kstr(w, "comm", p->comm);
}

void
frame_add(struct recw *w, const struct frame_head *h, const struct snap *s)
{
	size_t i;

	recw_frame(w, "gs-probe");
	recw_kint(w, "time", h->time);
	recw_kstr(w, "backend", h->backend);
	recw_kstr(w, "boot", h->boot);
	recw_kstr(w, "procs", procs_name(s->procs));
	for (i = 0; i < s->ngpu; i++)
		gpu_add(w, &s->gpu[i]);
	for (i = 0; i < s->nproc; i++)
		proc_add(w, s, &s->proc[i]);
	recw_end(w);
}

static char *
copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

/* -1 where a number is no number. */
static int
gpu_take(struct snap *s, const struct rec *r)
{
	struct gpu *g = snap_gpu(s);
	const char *place = rec_field(r, 6);
	int word = place != NULL ? place_parse(place) : -1;

	g->index = rec_int(r, 1);
	g->uuid = copy(rec_field(r, 2));
	g->total = rec_int(r, 3);
	g->used = rec_int(r, 4);
	g->util = rec_int(r, 5);
	g->place = word != -1 ? (enum place)word : PLACE_NO;
	g->name = copy(rec_key(r, "name"));
	g->bus = copy(rec_key(r, "bus"));
	g->mode = copy(rec_key(r, "mode"));
	g->env = copy(rec_key(r, "env"));
	g->why = copy(rec_key(r, "why"));
	g->temp = rec_key_int(r, "temp");
	g->free = rec_key_int(r, "free");
	g->reserved = rec_key_int(r, "reserved");
	g->parent = rec_key_int(r, "parent");
	if (word == -1 || g->index < 0 || g->total < -1 || g->used < -1 ||
	    g->util < -1 || g->temp < -1 || g->free < -1 || g->reserved < -1 ||
	    g->parent < -1)
		return -1;
	return 0;
}

static int
proc_take(struct snap *s, const struct rec *r)
{
	ssize_t gpu = snap_by_index(s, rec_int(r, 1));
	int64_t pid = rec_int(r, 2);
	struct gproc *p;

	if (gpu == -1 || pid <= 0 || pid > INT32_MAX)
		return -1;
	p = snap_proc(s, (size_t)gpu, (pid_t)pid);
	if (p->job != NULL || p->comm != NULL || p->used != -1)
		return -1; /* that process on that GPU for the second time */
	p->pgid = rec_int(r, 3);
	p->sid = rec_int(r, 4);
	p->start = rec_int(r, 5);
	p->used = rec_int(r, 6);
	p->peak = rec_int(r, 7);
	p->job = copy(rec_field(r, 8));
	p->type = copy(rec_key(r, "type"));
	p->user = copy(rec_key(r, "user"));
	p->comm = copy(rec_key(r, "comm"));
	if (p->pgid < -1 || p->sid < -1 || p->start < -1 || p->used < -1 ||
	    p->peak < -1)
		return -1;
	return 0;
}

int
frame_take(struct snap *s, const struct frame *f, size_t *bad)
{
	int procs = procs_parse(rec_key(&f->head, "procs"));
	const struct rec *r;
	int rv = 0;

	s->procs = procs != -1 ? (enum procs)procs : PROCS_UNKNOWN;
	for (*bad = 0; *bad < f->n; (*bad)++) {
		r = &f->rec[*bad];
		if (rec_is(r, "gpu"))
			rv = gpu_take(s, r);
		else if (rec_is(r, "proc"))
			rv = proc_take(s, r);
		if (rv == -1)
			return -1;
	}
	return 0;
}
