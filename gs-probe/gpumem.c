/* SPDX-License-Identifier: MIT */
#include "gs-probe/gpumem.h"

#include <stdlib.h>
#include <string.h>

#include "lib/unit.h"
#include "lib/xalloc.h"
#include "gs-probe/say.h"

int
gpumem_add(struct gpumem *m, const char *word, const char **errstr)
{
	const char *eq = strrchr(word, '=');
	int64_t mib = -1;

	*errstr = "not GPU=SIZE";
	if (eq == NULL || eq == word)
		return -1;
	mib = unit_mib(eq + 1, errstr);
	if (*errstr == NULL && mib == 0)
		*errstr = "too small";
	if (*errstr != NULL)
		return -1;
	m->v = xreallocarray(m->v, m->n + 1, sizeof(*m->v));
	m->v[m->n++] = (struct gpumem_one){
	    .gpu = xstrndup(word, (size_t)(eq - word)), .mib = mib};
	return 0;
}

static ssize_t
find(const struct snap *s, const char *word)
{
	const char *errstr;
	int64_t index = unit_num(word, 0, INT32_MAX, &errstr);

	return errstr == NULL ? snap_by_index(s, index) : snap_by_uuid(s, word);
}

/*
 * The sum of what its processes use; -1 if that is not known of all that are
 * listed.  Graphics programs of other users may be hidden from the list.
 */
static int64_t
used_by_procs(const struct snap *s, size_t gpu)
{
	int64_t sum = 0;
	size_t i;

	if (s->procs == PROCS_UNKNOWN)
		return -1;
	for (i = 0; i < s->nproc; i++) {
		if (s->proc[i].gpu != gpu)
			continue;
		if (s->proc[i].used == -1)
			return -1;
		sum += s->proc[i].used;
	}
	return sum;
}

static void
give(struct snap *s, size_t at, int64_t mib)
{
	struct gpu *g = &s->gpu[at];
	bool unified = g->why != NULL && strcmp(g->why, SNAP_UNIFIED) == 0;

	if (g->total == -1 || unified) {
		g->used = used_by_procs(s, at);
		free(g->why);
		g->why = NULL;
		if (unified)
			g->place = PLACE_YES;
	}
	g->total = mib;
	g->reserved = -1;
	g->free = g->used == -1 ? -1 : g->used < mib ? mib - g->used : 0;
}

void
gpumem_apply(const struct gpumem *m, struct snap *s)
{
	ssize_t at;
	size_t i;

	for (i = 0; i < m->n; i++) {
		at = find(s, m->v[i].gpu);
		if (at == -1)
			say("--gpu-mem '%s': no such GPU", m->v[i].gpu);
		else
			give(s, (size_t)at, m->v[i].mib);
	}
}

void
gpumem_free(struct gpumem *m)
{
	while (m->n > 0)
		free(m->v[--m->n].gpu);
	free(m->v);
	*m = (struct gpumem){0};
}
