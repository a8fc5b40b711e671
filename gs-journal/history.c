/* SPDX-License-Identifier: MIT */
#include "gs-journal/history.h"

#include <stdlib.h>
#include <string.h>

#include "gs-journal/load.h"
#include "lib/xalloc.h"

struct attempt *
history_find(const struct history *h, int64_t no)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->v[i].no == no)
			return &h->v[i];
	return NULL;
}

static struct attempt *
attempt_of(struct history *h, int64_t no)
{
	struct attempt *a = history_find(h, no);

	if (a != NULL)
		return a;
	h->v = xreallocarray(h->v, h->n + 1, sizeof(*h->v));
	a = &h->v[h->n++];
	*a = (struct attempt){.no = no, .status = -1, .peak = -1};
	return a;
}

static void
take_peak(struct attempt *a, const cJSON *ev)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(ev, "peak"))
		if (cJSON_IsNumber(item) && item->valuedouble < 1e12 &&
		    item->valuedouble > (double)a->peak)
			a->peak = (int64_t)item->valuedouble;
}

/* Only what was not known: the first word on an attempt counts. */
static void
take_str(char **field, const cJSON *ev, const char *key)
{
	if (*field == NULL)
		*field = json_get_str(ev, key);
}

static void
take_start(struct attempt *a, const cJSON *ev)
{
	if (a->started == 0)
		a->started = json_get_real(ev, "t", 0);
	if (a->gpus == NULL)
		a->gpus = json_get_list(ev, "gpus");
	take_str(&a->log, ev, "log");
}

static void
take_end(struct attempt *a, const cJSON *ev)
{
	if (a->ended == 0)
		a->ended = json_get_real(ev, "t", 0);
	if (a->status == -1)
		a->status = json_get_int(ev, "status");
	take_str(&a->cause, ev, "cause");
	take_str(&a->note, ev, "reason");
}

void
history_event(struct history *h, const cJSON *ev)
{
	char *id = json_get_str(ev, "id"), *name = json_get_str(ev, "event");
	int64_t no = json_get_int(ev, "attempt");
	struct attempt *a;

	if (id != NULL && name != NULL && strcmp(id, h->id) == 0 && no > 0) {
		a = attempt_of(h, no);
		take_peak(a, ev);
		if (strcmp(name, "start") == 0)
			take_start(a, ev);
		else if (strcmp(name, "exit") == 0 ||
		    strcmp(name, "done") == 0 || strcmp(name, "retry") == 0)
			take_end(a, ev);
		else if (strcmp(name, "interrupted") == 0)
			take_str(&a->note, ev, "why");
	}
	free(id);
	free(name);
}

void
history_read(struct history *h, const struct opts *o, const char *id)
{
	struct journal_reader r;
	cJSON *ev;

	*h = (struct history){.id = xstrdup(id)};
	load_open(o, &r);
	while ((ev = journal_next(&r)) != NULL) {
		history_event(h, ev);
		cJSON_Delete(ev);
	}
	journal_reader_close(&r);
}

void
history_free(struct history *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		free(h->v[i].cause);
		free(h->v[i].gpus);
		free(h->v[i].log);
		free(h->v[i].note);
	}
	free(h->v);
	free(h->id);
	*h = (struct history){0};
}
