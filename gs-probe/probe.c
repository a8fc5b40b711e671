/* SPDX-License-Identifier: MIT */
#include "gs-probe/probe.h"

#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "gs-probe/backend.h"
#include "gs-probe/frame.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/rec.h"
#include "gs-probe/say.h"

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
	char boot[BOOT_ID_MAX];
	struct recw w = {0};
	struct frame_head h = {
	    .time = (int64_t)clock_wall(),
	    .backend = p->backend->name,
	    .boot = boot,
	};

	procfs_boot(boot);
	while (n-- > 0)
		frame_add(&w, &h, &p->snap);
	if (recw_flush(&w, STDOUT_FILENO) == -1)
		err(GS_BAD, "stdout");
	recw_free(&w);
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
