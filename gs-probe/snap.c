/* SPDX-License-Identifier: MIT */
#include "gs-probe/snap.h"

#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"

static const char *const place_words[] = {
    [PLACE_YES] = "yes",
    [PLACE_ALONE] = "alone",
    [PLACE_NO] = "no",
};

static const char *const procs_words[] = {
    [PROCS_HIDDEN] = "hidden",
    [PROCS_FOREIGN] = "foreign",
    [PROCS_UNKNOWN] = "unknown",
};

struct gpu *
snap_gpu(struct snap *s)
{
	struct gpu *g;

	s->gpu = xreallocarray(s->gpu, s->ngpu + 1, sizeof(*s->gpu));
	g = &s->gpu[s->ngpu++];
	*g = (struct gpu){
	    .index = -1,
	    .total = -1,
	    .used = -1,
	    .free = -1,
	    .reserved = -1,
	    .util = -1,
	    .temp = -1,
	    .parent = -1,
	};
	return g;
}

struct gproc *
snap_proc(struct snap *s, size_t gpu, pid_t pid)
{
	struct gproc *p;
	size_t i;

	for (i = 0; i < s->nproc; i++)
		if (s->proc[i].gpu == gpu && s->proc[i].pid == pid)
			return &s->proc[i];
	s->proc = xreallocarray(s->proc, s->nproc + 1, sizeof(*s->proc));
	p = &s->proc[s->nproc++];
	*p = (struct gproc){
	    .gpu = gpu,
	    .pid = pid,
	    .used = -1,
	    .pgid = -1,
	    .sid = -1,
	    .start = -1,
	    .peak = -1,
	};
	return p;
}

ssize_t
snap_by_uuid(const struct snap *s, const char *uuid)
{
	size_t i;

	for (i = 0; i < s->ngpu; i++)
		if (s->gpu[i].uuid != NULL && strcmp(s->gpu[i].uuid, uuid) == 0)
			return (ssize_t)i;
	return -1;
}

ssize_t
snap_by_index(const struct snap *s, int64_t index)
{
	size_t i;

	for (i = 0; i < s->ngpu; i++)
		if (s->gpu[i].index == index)
			return (ssize_t)i;
	return -1;
}

static void
gpu_free(struct gpu *g)
{
	free(g->uuid);
	free(g->name);
	free(g->bus);
	free(g->mode);
	free(g->env);
	free(g->why);
}

static void
gproc_free(struct gproc *p)
{
	free(p->type);
	free(p->comm);
	free(p->user);
	free(p->job);
}

/* Where position `gpu` went; -1: dropped. */
static ssize_t
moved(size_t gpu, const size_t *pos, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (pos[i] == gpu)
			return (ssize_t)i;
	return -1;
}

void
snap_keep(struct snap *s, const size_t *pos, size_t n)
{
	struct gpu *kept = xcalloc(n, sizeof(*kept));
	ssize_t to;
	size_t i, left = 0;

	for (i = 0; i < n; i++)
		kept[i] = s->gpu[pos[i]];
	for (i = 0; i < s->ngpu; i++)
		if (moved(i, pos, n) == -1)
			gpu_free(&s->gpu[i]);
	free(s->gpu);
	s->gpu = kept;
	s->ngpu = n;
	for (i = 0; i < s->nproc; i++) {
		to = moved(s->proc[i].gpu, pos, n);
		if (to == -1) {
			gproc_free(&s->proc[i]);
			continue;
		}
		s->proc[left] = s->proc[i];
		s->proc[left++].gpu = (size_t)to;
	}
	s->nproc = left;
}

void
snap_cut(struct snap *s, size_t ngpu, size_t nproc)
{
	while (s->ngpu > ngpu)
		gpu_free(&s->gpu[--s->ngpu]);
	while (s->nproc > nproc)
		gproc_free(&s->proc[--s->nproc]);
}

void
snap_free(struct snap *s)
{
	snap_cut(s, 0, 0);
	free(s->gpu);
	free(s->proc);
	*s = (struct snap){0};
}

static int
word_find(const char *const *words, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (words[i] != NULL && strcmp(words[i], word) == 0)
			return (int)i;
	return -1;
}

const char *
place_name(enum place p)
{
	return place_words[p];
}

int
place_parse(const char *word)
{
	return word_find(
	    place_words, sizeof(place_words) / sizeof(place_words[0]), word);
}

const char *
procs_name(enum procs p)
{
	return procs_words[p];
}

int
procs_parse(const char *word)
{
	if (word == NULL)
		return PROCS_KNOWN;
	return word_find(
	    procs_words, sizeof(procs_words) / sizeof(procs_words[0]), word);
}
