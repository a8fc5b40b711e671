/* SPDX-License-Identifier: MIT */
/* Two chained hash tables over one array, which doubles when it is full. */
#include "lib/jobtab.h"

#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"

/* FNV-1a. */
static uint32_t
hash_id(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return (uint32_t)(h ^ h >> 32);
}

static void
chain(struct jobtab *t, size_t i)
{
	uint32_t *id = &t->ids[t->link[i].hash & (t->heads - 1)];
	uint32_t *no = &t->nos[(size_t)t->job[i].no & (t->heads - 1)];

	t->link[i].by_id = *id;
	*id = (uint32_t)i + 1;
	if (t->job[i].no < 0)
		return;
	t->link[i].by_no = *no;
	*no = (uint32_t)i + 1;
}

static void
grow(struct jobtab *t)
{
	size_t i;

	t->cap = t->cap == 0 ? 64 : 2 * t->cap;
	t->job = xreallocarray(t->job, t->cap, sizeof(*t->job));
	t->link = xreallocarray(t->link, t->cap, sizeof(*t->link));
	free(t->ids);
	free(t->nos);
	t->heads = t->cap;
	t->ids = xcalloc(t->heads, sizeof(*t->ids));
	t->nos = xcalloc(t->heads, sizeof(*t->nos));
	for (i = 0; i < t->n; i++)
		chain(t, i);
}

struct job_fold *
jobtab_add(struct jobtab *t, char *id)
{
	struct job_fold *j;

	if (t->n == t->cap)
		grow(t);
	j = &t->job[t->n];
	*j = (struct job_fold){.no = -1, .id = id, .status = -1};
	j->pgid = j->start = j->supervisor = j->sup_start = -1;
	j->wall = j->declared = j->vram = j->peak = -1;
	t->link[t->n].hash = hash_id(id);
	chain(t, t->n);
	t->n++;
	return j;
}

void
jobtab_number(struct jobtab *t, struct job_fold *j, int64_t no)
{
	size_t i = (size_t)(j - t->job);
	uint32_t *head = &t->nos[(size_t)no & (t->heads - 1)];

	j->no = no;
	t->link[i].by_no = *head;
	*head = (uint32_t)i + 1;
}

struct job_fold *
jobtab_id(const struct jobtab *t, const char *id)
{
	uint32_t i, hash = hash_id(id);

	if (t->heads == 0)
		return NULL;
	i = t->ids[hash & (t->heads - 1)];
	for (; i != 0; i = t->link[i - 1].by_id)
		if (t->link[i - 1].hash == hash &&
		    strcmp(t->job[i - 1].id, id) == 0)
			return &t->job[i - 1];
	return NULL;
}

struct job_fold *
jobtab_no(const struct jobtab *t, int64_t no)
{
	uint32_t i;

	if (t->heads == 0)
		return NULL;
	i = t->nos[(size_t)no & (t->heads - 1)];
	for (; i != 0; i = t->link[i - 1].by_no)
		if (t->job[i - 1].no == no)
			return &t->job[i - 1];
	return NULL;
}

void
jobtab_free(struct jobtab *t)
{
	struct job_fold *j;

	for (j = t->job; j != NULL && j < t->job + t->n; j++) {
		free(j->id);
		free(j->cmd);
		free(j->attrs);
		free(j->tag);
		free(j->gpus);
		free(j->uuids);
		free(j->log);
		free(j->boot);
	}
	free(t->job);
	free(t->link);
	free(t->ids);
	free(t->nos);
	*t = (struct jobtab){0};
}
