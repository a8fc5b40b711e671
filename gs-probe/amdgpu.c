/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own files: no library and no tool of the vendor is needed, and
 * their output is no contract.  Even these files can hang where a card does,
 * so they are read in a process that can be given up on.
 */
#include "gs-probe/amdgpu.h"

#include "gs-probe/drmcard.h"
#include "gs-probe/drmproc.h"
#include "gs-probe/keeper.h"
#include "gs-probe/kfd.h"
#include "gs-probe/snap.h"

/* In the child. */
static void *
begin(struct buf *why)
{
	static char ready;
	struct snap s = {0};
	size_t n;

	drmcards(&s);
	n = s.ngpu;
	snap_free(&s);
	if (n > 0)
		return &ready;
	buf_str(why, "no card of amdgpu or xe");
	return NULL;
}

/* In the child. */
static int
look(void *state, struct snap *s, struct buf *why)
{
	(void)state;
	drmcards(s);
	if (s->ngpu == 0) {
		buf_str(why, "no card of amdgpu or xe is there any more");
		return -1;
	}
	drmprocs(s);
	kfd(s);
	drmprocs_name(s);
	return 0;
}

static void *
amdgpu_open(const struct backend_conf *conf, struct buf *why)
{
	static const struct keeper_work work = {begin, look};

	return keeper_open(&work, conf, why);
}

const struct backend amdgpu_backend = {
    .name = "amdgpu",
    .open = amdgpu_open,
    .look = keeper_look,
    .close = keeper_close,
};
