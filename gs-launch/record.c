/* SPDX-License-Identifier: MIT */
#include "gs-launch/record.h"

#include <err.h>
#include <errno.h>

#include "lib/journal.h"

enum {
	PAUSE_FIRST_MS = 100,
	PAUSE_MOST_MS = 5000,
};

static int
append(struct record *r)
{
	struct journal j;
	int rv, saved;

	if (journal_lock(&j, r->path) == -1)
		return -1;
	rv = journal_write(&j, &r->due, true);
	saved = errno;
	journal_unlock(&j);
	errno = saved;
	return rv;
}

void
record_init(struct record *r, const char *path)
{
	*r =
	    (struct record){.path = path, .at = -1, .pause_ms = PAUSE_FIRST_MS};
}

void
record_add(struct record *r, cJSON *ev, int64_t now)
{
	if (r->path != NULL) {
		event_line(&r->due, ev);
		r->at = now;
		record_step(r, now);
	}
	cJSON_Delete(ev);
}

void
record_step(struct record *r, int64_t now)
{
	if (r->at == -1 || now < r->at)
		return;
	if (append(r) == 0) {
		buf_reset(&r->due);
		r->at = -1;
		r->pause_ms = PAUSE_FIRST_MS;
		r->warned = false;
		return;
	}
	if (!r->warned)
		warn("%s: the end of the job is not recorded yet", r->path);
	r->warned = true;
	r->at = now + r->pause_ms;
	r->pause_ms *= 2;
	if (r->pause_ms > PAUSE_MOST_MS)
		r->pause_ms = PAUSE_MOST_MS;
}
