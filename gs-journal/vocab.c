/* SPDX-License-Identifier: MIT */
#include "gs-journal/vocab.h"

#include <stddef.h>
#include <string.h>

static const struct vocab_event events[] = {
    {"queued", {"id"}, false},
    {"start", {"id", "attempt"}, true},
    {"exit", {"id", "attempt", "cause", "status"}, true},
    {"usage", {"id", "attempt", "peak"}, false},
    {"done", {"id", "attempt", "state"}, true},
    {"retry", {"id", "attempt"}, true},
    {"cancel", {"id"}, true},
    {"interrupted", {"id", "attempt", "why"}, true},
    {"freeze", {"id", "attempt"}, false},
    {"thaw", {"id", "attempt"}, false},
    {"pause", {NULL}, false},
    {"free", {NULL}, false},
    {"resume", {NULL}, false},
    {"note", {"text"}, false},
    {"loop", {"what"}, false},
};

static const struct {
	const char *key;
	enum vocab_type type;
} keys[] = {
    {"v", VOCAB_OURS},
    {"t", VOCAB_OURS},
    {"event", VOCAB_OURS},
    {"c", VOCAB_OURS},
    {"esc", VOCAB_OURS},
    {"id", VOCAB_STRING},
    {"cmd", VOCAB_STRING},
    {"attrs", VOCAB_STRING},
    {"tag", VOCAB_STRING},
    {"log", VOCAB_STRING},
    {"boot", VOCAB_STRING},
    {"cause", VOCAB_STRING},
    {"state", VOCAB_STRING},
    {"why", VOCAB_STRING},
    {"what", VOCAB_STRING},
    {"text", VOCAB_STRING},
    {"reason", VOCAB_STRING},
    {"verdict", VOCAB_STRING},
    {"gpus", VOCAB_LIST},
    {"uuids", VOCAB_LIST},
    {"no", VOCAB_COUNT},
    {"attempt", VOCAB_COUNT},
    {"status", VOCAB_COUNT},
    {"vram", VOCAB_COUNT},
};

const struct vocab_event *
vocab_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].name, name) == 0)
			return &events[i];
	return NULL;
}

const char *
vocab_names(void)
{
	static char names[256];
	size_t i;

	names[0] = '\0';
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (i > 0)
			strlcat(names, " ", sizeof(names));
		strlcat(names, events[i].name, sizeof(names));
	}
	return names;
}

enum vocab_type
vocab_type(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, key) == 0)
			return keys[i].type;
	return VOCAB_ANY;
}
