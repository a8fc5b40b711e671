/* SPDX-License-Identifier: MIT */
/*
 * What NVML says, as a snapshot.
 *
 * - Every call may fail on its own, and then leaves its number unknown.  Two
 *   of the failures say that the card is of no use: lost, and to be reset.
 * - A program may be in the lists of compute and of graphics with the same
 *   figure, so the larger one is taken and nothing is added.
 * - A card that is divided (MIG) takes no job.  Its instances are GPUs of
 *   their own, numbered behind the cards; processes are on the instance that
 *   they name, and on the card if there is no such.
 */
#include "gs-probe/nvmllook.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"

enum {
	TEXT = 96, /* bytes that names and UUIDs may have */
	ROOM = 64, /* processes, to begin with */
	ROOM_MAX = 1 << 16,
};

/* A card being looked at. */
struct card {
	struct nvmllook *m;
	struct snap *s;
	nvml_device dev;
	size_t at; /* in the snapshot */
	unsigned int gi, ci; /* of a MIG instance; else NVML_NO_INSTANCE */
};

/* An instance, to find it by what processes say. */
struct instance {
	unsigned int gi, ci;
	size_t at;
};

struct instances {
	struct instance *v;
	size_t n;
};

static struct gpu *
gpu_of(const struct card *c)
{
	return &c->s->gpu[c->at];
}

/* True if it worked; else why a number is unknown is kept, once. */
static bool
worked(const struct card *c, int rc)
{
	struct gpu *g = gpu_of(c);
	bool dead = rc == NVML_LOST || rc == NVML_RESET_REQUIRED;

	if (rc == NVML_OK)
		return true;
	if (dead || g->why == NULL) {
		free(g->why);
		g->why = xstrdup(nvml_words(&c->m->api, rc));
	}
	if (dead)
		g->place = PLACE_NO;
	return false;
}

/* 00000000:C1:00.0 as sysfs writes it: 0000:c1:00.0. */
static char *
bus_name(const char *id)
{
	const char *colon = strchr(id, ':');
	char *s, *p;

	if (colon != NULL && colon - id > 4)
		id = colon - 4;
	s = xstrdup(id);
	for (p = s; *p != '\0'; p++)
		*p = (char)tolower((unsigned char)*p);
	return s;
}

static void
take_names(const struct card *c)
{
	const struct nvml *n = &c->m->api;
	struct gpu *g = gpu_of(c);
	struct nvml_pci pci = {0};
	char text[TEXT] = "";

	if (worked(c, n->uuid(c->dev, text, sizeof(text))))
		g->uuid = xstrdup(text);
	if (n->name != NULL && n->name(c->dev, text, sizeof(text)) == NVML_OK)
		g->name = xstrdup(text);
	if (n->pci != NULL && n->pci(c->dev, &pci) == NVML_OK) {
		pci.id[sizeof(pci.id) - 1] = '\0';
		g->bus = bus_name(pci.id);
	}
}

/*
 * The newer call tells what the driver reserves apart from what is used; the
 * older one adds it.
 */
static void
take_memory(const struct card *c)
{
	struct nvml_memory2 m2 = {.version = NVML_MEMORY2};
	const struct nvml *n = &c->m->api;
	struct nvml_memory m1 = {0};
	struct gpu *g = gpu_of(c);

	if (n->memory2 != NULL && n->memory2(c->dev, &m2) == NVML_OK) {
		g->total = (int64_t)(m2.total >> MIB_SHIFT);
		g->used = (int64_t)(m2.used >> MIB_SHIFT);
		g->free = (int64_t)(m2.free >> MIB_SHIFT);
		g->reserved = (int64_t)(m2.reserved >> MIB_SHIFT);
	} else if (n->memory != NULL && worked(c, n->memory(c->dev, &m1))) {
		g->total = (int64_t)(m1.total >> MIB_SHIFT);
		g->used = (int64_t)(m1.used >> MIB_SHIFT);
		g->free = (int64_t)(m1.free >> MIB_SHIFT);
	}
}

static void
take_mode(const struct card *c)
{
	static const char *const words[] = {
	    [NVML_DEFAULT] = "Default",
	    [NVML_EXCLUSIVE_THREAD] = "Exclusive_Thread",
	    [NVML_PROHIBITED] = "Prohibited",
	    [NVML_EXCLUSIVE_PROCESS] = "Exclusive_Process",
	};
	const struct nvml *n = &c->m->api;
	struct gpu *g = gpu_of(c);
	int mode = -1;

	if (n->mode == NULL || n->mode(c->dev, &mode) != NVML_OK ||
	    mode < NVML_DEFAULT || mode > NVML_EXCLUSIVE_PROCESS)
		return;
	g->mode = xstrdup(words[mode]);
	if (g->place == PLACE_NO)
		return;
	if (mode == NVML_PROHIBITED) {
		g->place = PLACE_NO;
		free(g->why);
		g->why = xstrdup("compute mode is Prohibited");
	} else if (mode != NVML_DEFAULT) {
		g->place = PLACE_ALONE;
	}
}

static void
take_rates(const struct card *c)
{
	const struct nvml *n = &c->m->api;
	struct nvml_util u = {0};
	struct gpu *g = gpu_of(c);
	unsigned int temp = 0;

	if (n->util != NULL && worked(c, n->util(c->dev, &u)))
		g->util = u.gpu;
	if (n->temp != NULL && n->temp(c->dev, 0, &temp) == NVML_OK)
		g->temp = temp;
}

static struct card
card_add(struct nvmllook *m, struct snap *s, nvml_device dev, int64_t index)
{
	struct card c = {
	    m, s, dev, s->ngpu, NVML_NO_INSTANCE, NVML_NO_INSTANCE};

	snap_gpu(s)->index = index;
	take_names(&c);
	take_memory(&c);
	take_rates(&c);
	take_mode(&c);
	return c;
}

/* A card without a handle stays in the picture, as one not to use. */
static void
lost_add(struct nvmllook *m, struct snap *s, unsigned int index, int rc)
{
	ssize_t at = snap_by_index(&m->last, index);
	const struct gpu *was = at != -1 ? &m->last.gpu[at] : NULL;
	struct gpu *g = snap_gpu(s);

	g->index = index;
	g->place = PLACE_NO;
	g->why = xstrdup(nvml_words(&m->api, rc));
	if (was != NULL && was->uuid != NULL)
		g->uuid = xstrdup(was->uuid);
	if (was != NULL && was->bus != NULL)
		g->bus = xstrdup(was->bus);
}

static bool
is_divided(const struct card *c)
{
	const struct nvml *n = &c->m->api;
	unsigned int now = 0, pending;

	return n->mig != NULL && n->mig(c->dev, &now, &pending) == NVML_OK &&
	    now != 0;
}

/* The instances of a card, numbered from *index on. */
static void
divide(const struct card *parent, struct instances *in, int64_t *index)
{
	const struct nvml *n = &parent->m->api;
	unsigned int count = 0, i;
	struct instance *e;
	nvml_device dev;
	struct gpu *g;
	struct card c;

	if (n->mig_count == NULL || n->mig_device == NULL ||
	    n->mig_count(parent->dev, &count) != NVML_OK)
		return;
	for (i = 0; i < count; i++) {
		/* Slots may be empty. */
		if (n->mig_device(parent->dev, i, &dev) != NVML_OK)
			continue;
		c = card_add(parent->m, parent->s, dev, (*index)++);
		g = gpu_of(&c);
		g->parent = gpu_of(parent)->index;
		/* CUDA has no number for it. */
		if (g->uuid != NULL)
			g->env = xasprintf("CUDA_VISIBLE_DEVICES=%s", g->uuid);
		in->v = xreallocarray(in->v, in->n + 1, sizeof(*in->v));
		e = &in->v[in->n++];
		*e = (struct instance){0, NVML_NO_INSTANCE, c.at};
		if (n->gpu_instance == NULL ||
		    n->gpu_instance(dev, &e->gi) != NVML_OK)
			in->n--;
		else if (n->compute_instance != NULL)
			n->compute_instance(dev, &e->ci);
	}
}

static size_t
where(const struct card *c, const struct instances *in,
    const struct nvml_proc2 *p)
{
	size_t i;

	for (i = 0; i < in->n; i++)
		if (in->v[i].gi == p->gpu_instance &&
		    (in->v[i].ci == NVML_NO_INSTANCE ||
			in->v[i].ci == p->compute_instance))
			return in->v[i].at;
	return c->at;
}

static void
proc_take(const struct card *c, const struct instances *in,
    const struct nvml_proc2 *e, enum nvml_list list)
{
	static const char *const type[] = {"C", "G", "M+C"};
	struct gproc *p = snap_proc(c->s, where(c, in, e), (pid_t)e->pid);
	int64_t used =
	    e->used == NVML_NO_VALUE ? -1 : (int64_t)(e->used >> MIB_SHIFT);

	if (used > p->used)
		p->used = used;
	if (p->type != NULL && list == NVML_GRAPHICS &&
	    strcmp(p->type, "C") == 0) {
		free(p->type);
		p->type = xstrdup("C+G");
	} else if (p->type == NULL) {
		p->type = xstrdup(type[list]);
	}
}

/* The most it ever had, where the driver keeps accounts. */
static void
account(const struct card *c)
{
	const struct nvml *n = &c->m->api;
	struct nvml_accounting a;
	struct gproc *p;
	int on = 0;
	size_t i;

	if (n->accounting == NULL || n->accounted == NULL ||
	    n->accounting(c->dev, &on) != NVML_OK || on == 0)
		return;
	for (i = 0; i < c->s->nproc; i++) {
		p = &c->s->proc[i];
		if (p->gpu == c->at &&
		    n->accounted(c->dev, (unsigned int)p->pid, &a) == NVML_OK &&
		    a.peak != NVML_NO_VALUE)
			p->peak = (int64_t)(a.peak >> MIB_SHIFT);
	}
}

/*
 * One list into m->list, with room for what it holds; entries of the older
 * layout are made into the newer one.
 */
static int
list_read(const struct card *c, enum nvml_list list, unsigned int *n)
{
	struct nvmllook *m = c->m;
	const struct nvml *api = &m->api;
	struct nvml_proc2 *v2;
	struct nvml_proc1 e;
	unsigned int i;
	int rc;

	do {
		if (m->room == 0)
			m->room = ROOM;
		m->list = xreallocarray(m->list, m->room, sizeof(*v2));
		*n = m->room;
		rc = api->procs2[list] != NULL
		    ? api->procs2[list](c->dev, n, m->list)
		    : api->procs1[list](c->dev, n, m->list);
	} while (
	    rc == NVML_TOO_SMALL && m->room < ROOM_MAX && (m->room *= 2) != 0);
	if (rc != NVML_OK || api->procs2[list] != NULL)
		return rc;
	v2 = m->list;
	for (i = *n; i-- > 0;) {
		memcpy(&e, (char *)m->list + i * sizeof(e), sizeof(e));
		v2[i] = (struct nvml_proc2){
		    e.pid, e.used, NVML_NO_INSTANCE, NVML_NO_INSTANCE};
	}
	return rc;
}

static void
take_procs(const struct card *c, const struct instances *in)
{
	const struct nvml *api = &c->m->api;
	const struct nvml_proc2 *v;
	unsigned int n, i;
	int list, rc;

	for (list = NVML_COMPUTE; list < NVML_LISTS; list++) {
		if (api->procs2[list] == NULL && api->procs1[list] == NULL)
			continue;
		rc = list_read(c, (enum nvml_list)list, &n);
		if (rc != NVML_OK) {
			/* The other lists are not had everywhere. */
			if (list == NVML_COMPUTE)
				c->s->procs = PROCS_UNKNOWN;
			continue;
		}
		v = c->m->list;
		for (i = 0; i < n; i++)
			if (v[i].pid != 0 && v[i].pid <= INT32_MAX)
				proc_take(c, in, &v[i], (enum nvml_list)list);
	}
	account(c);
}

static void
take_card(struct nvmllook *m, struct snap *s, unsigned int i, int64_t *next)
{
	struct instances in = {0};
	nvml_device dev = NULL;
	struct card c;
	int rc;

	rc = m->api.by_index(i, &dev);
	if (rc != NVML_OK) {
		lost_add(m, s, i, rc);
		return;
	}
	c = card_add(m, s, dev, i);
	if (is_divided(&c)) {
		gpu_of(&c)->place = PLACE_NO;
		free(gpu_of(&c)->why);
		gpu_of(&c)->why = xstrdup("MIG is enabled");
		divide(&c, &in, next);
	}
	take_procs(&c, &in);
	free(in.v);
}

/* Keep the names of the GPUs for the time when one is lost. */
static void
remember(struct nvmllook *m, const struct snap *s)
{
	struct gpu *g;
	size_t i;

	snap_free(&m->last);
	for (i = 0; i < s->ngpu; i++) {
		g = snap_gpu(&m->last);
		g->index = s->gpu[i].index;
		if (s->gpu[i].uuid != NULL)
			g->uuid = xstrdup(s->gpu[i].uuid);
		if (s->gpu[i].bus != NULL)
			g->bus = xstrdup(s->gpu[i].bus);
	}
}

int
nvmllook(struct nvmllook *m, struct snap *s, struct buf *why)
{
	unsigned int count = 0, i;
	int64_t next;
	int rc;

	rc = m->api.count(&count);
	if (rc != NVML_OK) {
		buf_printf(why, "NVML: %s (%d)", nvml_words(&m->api, rc), rc);
		return -1;
	}
	next = count;
	for (i = 0; i < count; i++)
		take_card(m, s, i, &next);
	remember(m, s);
	return 0;
}
