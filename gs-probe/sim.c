/* SPDX-License-Identifier: MIT */
/*
 * Simulated GPUs: what is used is the sum of the claims of live processes.
 */
#include "gs-probe/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/procfs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"
#include "gs-probe/simdir.h"
#include "gs-probe/snap.h"

enum {
	SIM_MAX = 1024,
	SIM_MIB = 24 * 1024,
};

struct sim {
	char *path;
	int dir;
	size_t n;
	int64_t mib;
};

/* N[xSIZE] */
static int
sim_parse(struct sim *m, const char *spec, struct buf *why)
{
	const char *errstr = NULL;
	char *n, *size;

	n = size = xstrdup(spec);
	strsep(&size, "x");
	m->n = (size_t)unit_num(n, 1, SIM_MAX, &errstr);
	m->mib = SIM_MIB;
	if (errstr == NULL && size != NULL)
		m->mib = unit_mib(size, &errstr);
	if (errstr == NULL && m->mib == 0)
		errstr = "too small";
	free(n);
	if (errstr == NULL)
		return 0;
	buf_printf(why, "'%s': %s", spec, errstr);
	return -1;
}

static void *
sim_open(const struct backend_conf *conf, struct buf *why)
{
	struct sim *m = xcalloc(1, sizeof(*m));

	if (conf->arg == NULL)
		buf_str(why, "ask for it with --sim N");
	if (conf->arg == NULL || sim_parse(m, conf->arg, why) == -1) {
		free(m);
		return NULL;
	}
	m->path = simdir_path();
	m->dir = simdir_open(m->path, true);
	if (m->dir == -1 || simdir_set_gpus(m->dir, m->n, m->mib) == -1) {
		buf_printf(why, "%s: %s", m->path, strerror(errno));
		free(m->path);
		free(m);
		return NULL;
	}
	return m;
}

static void
sim_close(void *state)
{
	struct sim *m = state;

	close(m->dir);
	free(m->path);
	free(m);
}

static void
add_gpus(const struct sim *m, struct snap *s)
{
	struct gpu *g;
	size_t i;

	for (i = 0; i < m->n; i++) {
		g = snap_gpu(s);
		g->index = (int64_t)i;
		g->uuid = xasprintf("SIM-%zu", i);
		g->name = xstrdup("simulated");
		g->total = m->mib;
		g->used = 0;
		g->util = 0;
	}
}

static void
add_claim(struct snap *s, const struct claim *c)
{
	struct gpu *g = &s->gpu[c->gpu];
	struct gproc *p = snap_proc(s, c->gpu, c->pid);
	struct pstat st;

	g->used += c->mib;
	g->util = g->util + c->util > 100 ? 100 : g->util + c->util;
	p->used = c->mib;
	p->type = xstrdup("C");
	if (procfs_stat(c->pid, &st) == 0)
		p->comm = xstrdup(st.comm);
}

static int
sim_look(void *state, struct snap *s, struct buf *why)
{
	struct sim *m = state;
	struct claim *claim;
	size_t n, i;

	if (simdir_claims(m->dir, &claim, &n) == -1) {
		buf_printf(why, "%s: %s", m->path, strerror(errno));
		return -1;
	}
	add_gpus(m, s);
	for (i = 0; i < n; i++)
		if (claim[i].gpu < m->n)
			add_claim(s, &claim[i]);
	free(claim);
	for (i = 0; i < m->n; i++)
		s->gpu[i].free =
		    s->gpu[i].used > m->mib ? 0 : m->mib - s->gpu[i].used;
	return 0;
}

const struct backend sim_backend = {
    .name = "sim",
    .on_request = true,
    .open = sim_open,
    .look = sim_look,
    .close = sim_close,
};
