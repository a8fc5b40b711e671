/* SPDX-License-Identifier: MIT */
/* What gs-launch writes into the journal; gs-journal(5) says what it means. */
#ifndef GS_LAUNCH_ENTRY_H
#define GS_LAUNCH_ENTRY_H

#include "gs-launch/ending.h"
#include "gs-launch/launch.h"
#include "gs-launch/report.h"
#include "gs-launch/tree.h"
#include "lib/json.h"

/* Event objects, stamped now, to be freed with cJSON_Delete. */
cJSON *entry_start(const struct launch *l, const struct names *n);
cJSON *entry_exit(const struct launch *l, const struct ending *e);
cJSON *entry_plain(const struct launch *l, const char *event);

/* A note about processes of the job; `key` holds their pids. */
cJSON *entry_tree(const struct launch *l, const char *key, const struct tree *t,
    const char *text);

#endif
