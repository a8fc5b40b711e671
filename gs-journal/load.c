/* SPDX-License-Identifier: MIT */
#include "gs-journal/load.h"

#include <err.h>
#include <stdlib.h>

#include "lib/gs.h"
#include "lib/xalloc.h"

void
load_open(const struct opts *o, struct journal_reader *r)
{
	if (journal_reader_open(r, o->path, 0) == -1)
		err(GS_BAD, "%s", o->path);
	if (r->fd == -1)
		errx(GS_BAD, "%s: no journal here", o->path);
}

void
load_more(struct journal_reader *r, struct fold *f)
{
	cJSON *ev;

	while ((ev = journal_next(r)) != NULL) {
		fold_event(f, ev);
		cJSON_Delete(ev);
	}
}

void
load_damage(const struct journal_reader *r)
{
	if (r->damaged == 1)
		warnx("%s: 1 damaged line skipped, line %zu", r->path,
		    r->first_damaged);
	else if (r->damaged > 1)
		warnx("%s: %zu damaged lines skipped, first at line %zu",
		    r->path, r->damaged, r->first_damaged);
}

struct fold *
load_fold(const struct opts *o)
{
	struct fold *f = fold_new();
	struct journal_reader r;

	load_open(o, &r);
	load_more(&r, f);
	load_damage(&r);
	journal_reader_close(&r);
	return f;
}

struct job_fold *
load_job(const struct fold *f, const char *word)
{
	struct job_fold *j = fold_lookup(f, word);

	if (j == NULL)
		warnx("'%s': no such job", word);
	return j;
}

char *
load_name(const struct job_fold *j)
{
	return j->no < 0 ? xstrdup(j->id) : xasprintf("%lld", (long long)j->no);
}
