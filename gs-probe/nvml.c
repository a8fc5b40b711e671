/* SPDX-License-Identifier: MIT */
/*
 * Asking NVML, in a process that can be given up on (keeper.h): its calls
 * wedge where the driver does, crash on some machines, and some libraries
 * print.
 */
#include "gs-probe/nvml.h"

#include <stdlib.h>
#include <time.h>

#include "lib/rec.h"
#include "lib/xalloc.h"
#include "gs-probe/advice.h"
#include "gs-probe/frame.h"
#include "gs-probe/keeper.h"
#include "gs-probe/nvmllook.h"
#include "gs-probe/snap.h"

struct nvml_state {
	struct keeper keeper;
	int64_t timeout_ms;
};

/* In the child. */
static void *
begin(struct buf *why)
{
	struct nvmllook *m = xcalloc(1, sizeof(*m));

	if (nvml_load(&m->api, why) == 0)
		return m;
	free(m);
	return NULL;
}

/* In the child. */
static int
child_look(void *state, struct recw *w, struct buf *why)
{
	struct frame_head h = {.time = time(NULL), .backend = "nvml"};
	struct snap s = {0};
	int rv;

	rv = nvmllook(state, &s, why);
	if (rv == 0)
		frame_add(w, &h, &s);
	snap_free(&s);
	return rv;
}

static const struct keeper_work work = {begin, child_look};

static void *
nvml_open(const struct backend_conf *conf, struct buf *why)
{
	struct nvml_state *m;

	if (conf->arg != NULL) {
		buf_str(why, "takes no argument");
		return NULL;
	}
	m = xcalloc(1, sizeof(*m));
	m->timeout_ms = conf->timeout_ms;
	keeper_init(&m->keeper, &work);
	if (keeper_start(&m->keeper, m->timeout_ms, why) == 0)
		return m;
	free(m);
	return NULL;
}

static int
nvml_look(void *state, struct snap *s, struct buf *why)
{
	struct nvml_state *m = state;
	struct frame f;
	size_t bad;
	int rv;

	if (keeper_ask(&m->keeper, m->timeout_ms, &f, why) == -1)
		return -1;
	rv = frame_take(s, &f, &bad);
	if (rv == -1)
		buf_printf(why, "record %zu of the helper is malformed", bad);
	frame_free(&f);
	return rv;
}

static void
nvml_close(void *state)
{
	struct nvml_state *m = state;

	keeper_end(&m->keeper);
	free(m);
}

const struct backend nvml_backend = {
    .name = "nvml",
    .open = nvml_open,
    .look = nvml_look,
    .close = nvml_close,
    .advice = advice_nvidia,
};
