/* SPDX-License-Identifier: MIT */
#include "gs-loop/held.h"

#include <stdlib.h>
#include <string.h>

#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "lib/xalloc.h"

enum {
	PATIENCE = 3 /* frames; the first comes right after the end */
};

static struct holder *
find(struct held *h, const char *id, int64_t pid)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->v[i].pid == pid && strcmp(h->v[i].id, id) == 0)
			return &h->v[i];
	h->v = xreallocarray(h->v, h->n + 1, sizeof(*h->v));
	h->v[h->n] = (struct holder){.id = xstrdup(id), .pid = pid};
	return &h->v[h->n++];
}

static void
take_proc(struct loop *l, const struct rec *p)
{
	const char *id = rec_field(p, 8);
	const struct job_fold *j = id ? fold_find(l->ledger.fold, id) : NULL;
	struct holder *h;

	if (j == NULL || j->open || runs_find(&l->runs, id) != NULL)
		return;
	h = find(&l->held, id, rec_int(p, 2));
	if (h->shown)
		return; /* on another GPU */
	h->shown = true;
	if (++h->frames == PATIENCE)
		say("WARN job %lld has ended, but pid %lld still holds %s MiB "
		    "on gpu %s",
		    (long long)j->no, (long long)h->pid,
		    rec_field(p, 6) ? rec_field(p, 6) : "unknown",
		    rec_field(p, 1) ? rec_field(p, 1) : "-");
}

static void
forget_gone(struct held *h)
{
	size_t i, kept = 0;

	for (i = 0; i < h->n; i++) {
		if (h->v[i].shown)
			h->v[kept++] = h->v[i];
		else
			free(h->v[i].id);
	}
	h->n = kept;
}

void
held_frame(struct loop *l)
{
	const struct frame *f = &l->probe.frame;
	size_t i;

	for (i = 0; i < l->held.n; i++)
		l->held.v[i].shown = false;
	for (i = 0; i < f->n; i++)
		if (rec_is(&f->rec[i], "proc"))
			take_proc(l, &f->rec[i]);
	forget_gone(&l->held);
}
