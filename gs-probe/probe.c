/* SPDX-License-Identifier: MIT */
#include "gs-probe/probe.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-probe/backend.h"
#include "gs-probe/frame.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/rec.h"
#include "lib/spawn.h"
#include "lib/xalloc.h"
#include "gs-probe/prom.h"
#include "gs-probe/run.h"
#include "gs-probe/say.h"

enum {
	JOURNAL_MS = 10000 /* for gs-journal to answer */
};

bool
probe_look(struct probe *p)
{
	struct buf why = {0};
	bool ok;

	snap_free(&p->snap);
	ok = p->backend->look(p->state, &p->snap, &why) == 0;
	if (ok)
		gpumem_apply(&p->gpumem, &p->snap);
	if (ok && select_apply(&p->select, &p->snap, &why) == -1)
		errx(GS_BAD, "%s", why.p);
	if (ok) {
		attrib_snap(&p->attrib, &p->snap, p->backend->tells_all);
	} else {
		snap_free(&p->snap);
		say("%s", why.p);
	}
	buf_free(&why);
	return ok;
}

void
probe_print(const struct probe *p, size_t n)
{
	static char boot[BOOT_ID_MAX]; /* it is the same for ever */
	struct recw w = {0};
	struct frame_head h = {
	    .time = (int64_t)clock_wall(),
	    .backend = p->backend->name,
	    .boot = boot,
	};

	if (boot[0] == '\0')
		procfs_boot(boot);
	while (n-- > 0)
		frame_add(&w, &h, &p->snap);
	if (recw_flush(&w, STDOUT_FILENO) == -1)
		err(GS_BAD, "stdout");
	recw_free(&w);
}

/* The frame that `gs-journal state` prints. */
static int
jobs_read(char *log_dir, struct frame *f)
{
	char *program = spawn_sibling("gs-journal");
	char option[] = "-l", verb[] = "state";
	char *argv[] = {program, option, log_dir, verb, NULL};
	struct frames in = {0};
	struct run r = {0};
	int got = 0;

	run_helper(&r, argv, JOURNAL_MS);
	if (r.how == RUN_EXIT && r.code == 0) {
		frames_feed(&in, r.out.p, r.out.len);
		got = frames_next(&in, f);
	}
	if (got != 1 && r.err.len > 0)
		warnx("%.*s", (int)strcspn(r.err.p, "\n"), r.err.p);
	else if (got != 1)
		warnx("%s: no answer", program);
	frames_free(&in);
	run_free(&r);
	free(program);
	return got == 1 ? 0 : -1;
}

int
probe_prometheus(const struct probe *p, const char *log_dir)
{
	char *dir = log_dir != NULL ? xstrdup(log_dir) : NULL;
	struct buf b = {0};
	struct frame f;
	int rv = 0;

	prom_gpus(&b, &p->snap, (int64_t)clock_wall());
	if (dir != NULL && (rv = jobs_read(dir, &f)) == 0) {
		prom_jobs(&b, &f);
		frame_free(&f);
	}
	if (rv == 0 && fd_write(STDOUT_FILENO, b.p, b.len) == -1)
		err(GS_BAD, "stdout");
	buf_free(&b);
	free(dir);
	return rv;
}

void
probe_close(struct probe *p)
{
	p->backend->close(p->state);
	gpumem_free(&p->gpumem);
	select_free(&p->select);
	attrib_free(&p->attrib);
	snap_free(&p->snap);
}
