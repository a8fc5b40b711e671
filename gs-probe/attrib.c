/* SPDX-License-Identifier: MIT */
/*
 * The first witness that speaks decides:
 *
 *	1. this very process (pid and start time) was a job's before
 *	2. it descends from the gs-launch of the job
 *	3. its session or group holds one known by 1 or 2 to be the job's
 *	4. GS_JOB, in its environment or the nearest ancestor's that has it
 *
 * and nobody guesses: a process without a witness is foreign.  What 4 says is
 * not carried over to a session, since a shell can have the variable and
 * start anything.
 *
 * What is remembered of a process is dropped when it is neither listed nor
 * alive.  A listed pid that is not in /proc, but was, still is that process:
 * the driver lists it until its memory is given back.  If none of the pids is
 * known in any way they are those of another pid namespace, and an equal
 * number here would be a coincidence.
 */
#include "gs-probe/attrib.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "gs-probe/snap.h"

enum {
	OFTEN = 64 /* looks after which a foreign process is asked again */
};

/* A process on a GPU. */
struct seen {
	char *uuid; /* of the GPU, or its index in words */
	pid_t pid;
	int64_t start; /* -1: it was never in /proc */
	int64_t pgid; /* -1 likewise */
	int64_t sid;
	int64_t peak;
	char *job; /* NULL: foreign */
	bool tree; /* witness 2 spoke */
	bool listed; /* in the snapshot at hand */
	unsigned int asked; /* how often the witnesses of /proc were */
};

static char *
gpu_key(const struct gpu *g)
{
	if (g->uuid != NULL)
		return xstrdup(g->uuid);
	return xasprintf("%lld", (long long)g->index);
}

/* The start of a pid that was there in an earlier snapshot; -1. */
static int64_t
start_before(const struct attrib *a, pid_t pid)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->seen[i].pid == pid && a->seen[i].start != -1)
			return a->seen[i].start;
	return -1;
}

/* The entry of a process, made if need be.  Good until the next one. */
static struct seen *
seen_get(struct attrib *a, char *uuid, pid_t pid, int64_t start)
{
	struct seen *e;
	size_t i;

	for (i = 0; i < a->n; i++) {
		e = &a->seen[i];
		if (e->pid == pid && e->start == start &&
		    strcmp(e->uuid, uuid) == 0) {
			free(uuid);
			return e;
		}
	}
	a->seen = xreallocarray(a->seen, a->n + 1, sizeof(*a->seen));
	e = &a->seen[a->n++];
	*e = (struct seen){
	    .uuid = uuid,
	    .pid = pid,
	    .start = start,
	    .pgid = -1,
	    .sid = -1,
	    .peak = -1,
	};
	return e;
}

static char *
user_name(uid_t uid)
{
	static uid_t last = (uid_t)-1;
	static char *name;
	struct passwd *pw;

	if (uid != last) {
		free(name);
		pw = getpwuid(uid);
		name = pw != NULL ? xstrdup(pw->pw_name)
				  : xasprintf("%u", (unsigned)uid);
		last = uid;
	}
	return xstrdup(name);
}

/* Look the process up in /proc.  Is it there? */
static bool
fill(struct attrib *a, struct gproc *p)
{
	struct pstat st;

	if (!pids_stat(&a->pids, p->pid, &st))
		return false;
	p->pgid = st.pgid;
	p->sid = st.sid;
	p->start = st.start;
	p->user = user_name(st.uid);
	return true;
}

/* Fill in all of them; are they pids of this namespace at all? */
static bool
fill_all(struct attrib *a, struct snap *s)
{
	size_t i, ours = 0;

	for (i = 0; i < s->nproc; i++)
		if (fill(a, &s->proc[i]) ||
		    start_before(a, s->proc[i].pid) != -1)
			ours++;
	return ours > 0 || s->nproc == 0;
}

static char *
copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

/* Witness 1: what any entry of this very process says. */
static bool
by_memory(const struct attrib *a, struct seen *e)
{
	size_t i;

	for (i = 0; e->job == NULL && i < a->n; i++)
		if (a->seen[i].pid == e->pid && a->seen[i].start == e->start &&
		    a->seen[i].job != NULL) {
			e->job = xstrdup(a->seen[i].job);
			e->tree = a->seen[i].tree;
		}
	return e->job != NULL;
}

/* Witness 3. */
static void
by_session(const struct attrib *a, struct seen *e)
{
	const struct seen *o;
	size_t i;

	for (i = 0; e->job == NULL && i < a->n; i++) {
		o = &a->seen[i];
		if (o->job != NULL && o->tree && e->sid > 0 &&
		    (o->sid == e->sid || o->pgid == e->pgid))
			e->job = xstrdup(o->job);
	}
}

static void
by_ancestors(const struct attrib *a, struct seen *e, bool tree)
{
	struct pstat st;

	if (procfs_stat(e->pid, &st) == -1 || st.start != e->start)
		return;
	e->job =
	    tree ? witness_tree(&st, &a->scope) : witness_env(&st, &a->scope);
	if (tree && e->job != NULL)
		e->tree = true;
}

/*
 * Ancestors and environment are asked again and again, but ever more seldom:
 * they cost, and what they say of a foreign process changes only if it
 * executes another program.
 */
static bool
is_due(const struct seen *e)
{
	return (e->asked & (e->asked - 1)) == 0 || e->asked % OFTEN == 0;
}

/*
 * Ask the witnesses for every process on the list, each for all of them
 * before the next: 3 lives on what 2 found.
 */
static void
judge(struct attrib *a)
{
	enum {
		MEMORY,
		TREE,
		SESSION,
		ENV,
		WITNESSES
	} w;
	struct seen *e;
	size_t i;

	for (w = MEMORY; w < WITNESSES; w++)
		for (i = 0; i < a->n; i++) {
			e = &a->seen[i];
			if (!e->listed || e->start == -1 || by_memory(a, e))
				continue;
			if ((w == TREE || w == ENV) && is_due(e))
				by_ancestors(a, e, w == TREE);
			else if (w == SESSION)
				by_session(a, e);
			e->asked += w == ENV;
		}
}

/* The entry that stands for a process of the snapshot. */
static struct seen *
entry(struct attrib *a, const struct snap *s, const struct gproc *p)
{
	int64_t start = p->start;

	if (start == -1)
		start = start_before(a, p->pid);
	return seen_get(a, gpu_key(&s->gpu[p->gpu]), p->pid, start);
}

static void
note(struct attrib *a, const struct snap *s)
{
	const struct gproc *p;
	struct seen *e;
	size_t i;

	for (i = 0; i < a->n; i++)
		a->seen[i].listed = false;
	for (i = 0; i < s->nproc; i++) {
		p = &s->proc[i];
		e = entry(a, s, p);
		e->listed = true;
		if (p->pgid != -1)
			e->pgid = p->pgid;
		if (p->sid != -1)
			e->sid = p->sid;
		if (p->used > e->peak)
			e->peak = p->used;
		if (p->peak > e->peak)
			e->peak = p->peak;
	}
}

static void
answer(struct attrib *a, struct snap *s, bool told)
{
	struct seen *e;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		e = entry(a, s, &s->proc[i]);
		s->proc[i].peak = e->peak;
		if (!told)
			s->proc[i].job = copy(e->job);
	}
}

static void
prune(struct attrib *a)
{
	struct seen *e;
	size_t i, left = 0;

	for (i = 0; i < a->n; i++) {
		e = &a->seen[i];
		if (e->listed ||
		    (e->start != -1 && procfs_alive(e->pid, e->start))) {
			a->seen[left++] = *e;
			continue;
		}
		free(e->uuid);
		free(e->job);
	}
	a->n = left;
}

void
attrib_snap(struct attrib *a, struct snap *s, bool told)
{
	if (!told && !fill_all(a, s) && s->procs == PROCS_KNOWN)
		s->procs = PROCS_FOREIGN;
	note(a, s);
	if (!told)
		judge(a);
	answer(a, s, told);
	prune(a);
	pids_forget(&a->pids);
}

void
attrib_free(struct attrib *a)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		free(a->seen[i].uuid);
		free(a->seen[i].job);
	}
	free(a->seen);
	pids_free(&a->pids);
	*a = (struct attrib){0};
}
