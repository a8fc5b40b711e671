/* SPDX-License-Identifier: MIT */
#include "gs-launch/entry.h"

#include <err.h>
#include <stdlib.h>

#include "lib/journal.h"
#include "lib/xalloc.h"

cJSON *
entry_plain(const struct launch *l, const char *event)
{
	cJSON *ev = event_new(event, event_now());

	json_str(ev, "id", l->id);
	json_int(ev, "attempt", l->attempt);
	return ev;
}

cJSON *
entry_start(const struct launch *l, const struct names *n)
{
	cJSON *ev = entry_plain(l, "start");

	json_int(ev, "no", l->no);
	json_int(ev, "pgid", n->leader);
	json_int(ev, "start", n->start);
	json_int(ev, "supervisor", n->supervisor);
	json_int(ev, "sup_start", n->sup_start);
	json_str(ev, "boot", n->boot);
	json_list(ev, "gpus", l->gpus);
	json_list(ev, "uuids", l->uuids);
	json_str(ev, "log", l->log);
	json_int(ev, "vram", l->vram_mib);
	json_str(ev, "cmd", l->cmd);
	return ev;
}

cJSON *
entry_exit(const struct launch *l, const struct ending *e)
{
	cJSON *ev = entry_plain(l, "exit");

	json_str(ev, "cause", cause_name(e->cause));
	json_int(ev, "status", e->status);
	json_int(ev, "own_status", e->own_status);
	json_real(ev, "wall", (double)e->wall_ms / 1000);
	json_real(ev, "user", (double)e->user_ms / 1000);
	json_real(ev, "sys", (double)e->sys_ms / 1000);
	json_int(ev, "maxrss", e->maxrss_kib);
	return ev;
}

cJSON *
entry_tree(const struct launch *l, const char *key, const struct tree *t,
    const char *text)
{
	cJSON *ev = entry_plain(l, "note"), *list, *pid;
	size_t i;

	json_str(ev, "text", text);
	list = cJSON_AddArrayToObject(ev, key);
	for (i = 0; list != NULL && i < t->n; i++) {
		pid = cJSON_CreateNumber(t->v[i].pid);
		if (pid == NULL || !cJSON_AddItemToArray(list, pid))
			list = NULL;
	}
	if (list == NULL)
		errx(xalloc_status, "memory");
	return ev;
}
