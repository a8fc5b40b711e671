/* SPDX-License-Identifier: MIT */
/*
 * Asking NVML, in a process that can be given up on: its calls wedge where the
 * driver does, crash on some machines, and some libraries print.
 */
#include "gs-probe/nvml.h"

#include <stdlib.h>

#include "lib/xalloc.h"
#include "gs-probe/advice.h"
#include "gs-probe/keeper.h"
#include "gs-probe/nvmllook.h"

static void *
begin(struct buf *why)
{
	struct nvmllook *m = xcalloc(1, sizeof(*m));

	if (nvml_load(&m->api, why) == 0)
		return m;
	free(m);
	return NULL;
}

static int
look(void *state, struct snap *s, struct buf *why)
{
	return nvmllook(state, s, why);
}

static void *
nvml_open(const struct backend_conf *conf, struct buf *why)
{
	static const struct keeper_work work = {begin, look};

	return keeper_open(&work, conf, why);
}

const struct backend nvml_backend = {
    .name = "nvml",
    .open = nvml_open,
    .look = keeper_look,
    .close = keeper_close,
    .advice = advice_nvidia,
};
