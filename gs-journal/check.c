/* SPDX-License-Identifier: MIT */
/* check: where is the journal damaged? */
#include <sys/file.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gs-journal/load.h"
#include "lib/gs.h"

static const char *
what(const struct journal_reader *r)
{
	static const char seal[] = ",\"c\":\"";
	const size_t tail = sizeof(seal) - 1 + 10;

	if (r->text == NULL)
		return "longer than 1 MiB";
	if (memchr(r->text, '\0', r->len) != NULL)
		return "zero bytes";
	if (r->len < tail ||
	    memcmp(r->text + r->len - tail, seal, sizeof(seal) - 1) != 0)
		return "no checksum";
	return "wrong checksum or unknown version";
}

/* A shared lock keeps writers out: what looks torn then is torn. */
static void
lock(const struct journal_reader *r)
{
	while (flock(r->fd, LOCK_SH) == -1)
		if (errno != EINTR)
			err(GS_BAD, "%s", r->path);
}

int
verb_check(const struct opts *o)
{
	struct journal_reader r;
	struct stat st;
	cJSON *ev;
	int status;

	load_open(o, &r);
	lock(&r);
	while (journal_next_line(&r, &ev) == 1) {
		if (ev == NULL)
			printf("%s:%zu: %s\n", r.path, r.line, what(&r));
		cJSON_Delete(ev);
	}
	status = r.damaged > 0 ? GS_NO : GS_OK;
	if (fstat(r.fd, &st) == -1)
		err(GS_BAD, "%s", r.path);
	if (st.st_size > r.off) {
		printf("%s:%zu: torn, it has no end\n", r.path, r.line + 1);
		status = GS_NO;
	}
	journal_reader_close(&r);
	return status;
}
