/* SPDX-License-Identifier: MIT */
#include "gs-probe/frame.h"

#include "lib/rec.h"
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
