/* SPDX-License-Identifier: MIT */
/*
 * - card0 may be the display of the board; only those of our drivers count.
 * - The display and its connectors are in the same folder as the cards.
 * - A card that sleeps is not asked for its use: that may wake it, and it
 *   would say nothing.
 * - An APU has a small part of the machine's memory as its VRAM and takes the
 *   rest from elsewhere, so that nothing can be placed by its figures.
 */
#include "gs-probe/drmcard.h"

#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "gs-probe/sysfile.h"

enum {
	CARDS_MAX = 128, /* card numbers that are looked at */
	CARVED_MIB = 2048, /* no card that computes has less */
};

struct found {
	char *dir; /* of the device */
	char *pci;
	bool amd;
};

/* The value of a line NAME=VALUE; NULL.  To be freed. */
static char *
variable(const char *text, const char *name)
{
	const char *v = sys_line(text, name, "=");

	return v == NULL ? NULL : xstrndup(v, strcspn(v, "\n"));
}

/* Is card N one of ours? */
static bool
find(int n, struct found *f)
{
	char *path = sys_path("/sys/class/drm/card%d/device/uevent", n);
	struct buf text = {0};
	char *driver = NULL;

	*f = (struct found){0};
	if (sys_text(path, &text) == 0 && text.len > 0) {
		driver = variable(text.p, "DRIVER");
		f->pci = variable(text.p, "PCI_SLOT_NAME");
	}
	f->amd = driver != NULL && strcmp(driver, "amdgpu") == 0;
	if (!f->amd && (driver == NULL || strcmp(driver, "xe") != 0)) {
		free(f->pci);
		f->pci = NULL;
	}
	if (f->pci != NULL)
		f->dir = sys_path("/sys/class/drm/card%d/device", n);
	free(driver);
	buf_free(&text);
	free(path);
	return f->pci != NULL;
}

static int
by_pci(const void *a, const void *b)
{
	return strcmp(
	    ((const struct found *)a)->pci, ((const struct found *)b)->pci);
}

static int64_t
number(const struct found *f, const char *name)
{
	char *path = xasprintf("%s/%s", f->dir, name);
	int64_t v = sys_number(path);

	free(path);
	return v;
}

static int64_t
mib(int64_t bytes)
{
	return bytes == -1 ? -1 : bytes >> MIB_SHIFT;
}

/* As ROCm has it, if the card has such a number; else its address. */
static char *
identity(const struct found *f)
{
	char *path = xasprintf("%s/unique_id", f->dir), *uuid;
	struct buf b = {0};

	if (sys_text(path, &b) == 0 && b.len > 0)
		uuid = xasprintf("GPU-%s", b.p);
	else
		uuid = xasprintf("PCI-%s", f->pci);
	buf_free(&b);
	free(path);
	return uuid;
}

static bool
is_asleep(const struct found *f)
{
	char *path = xasprintf("%s/power/runtime_status", f->dir);
	struct buf b = {0};
	bool is;

	is = sys_text(path, &b) == 0 && b.len > 0 &&
	    strcmp(b.p, "suspended") == 0;
	buf_free(&b);
	free(path);
	return is;
}

static void
add(struct snap *s, const struct found *f)
{
	int64_t total = number(f, "mem_info_vram_total");
	int64_t used = number(f, "mem_info_vram_used");
	struct gpu *g = snap_gpu(s);

	g->index = (int64_t)s->ngpu - 1;
	g->uuid = identity(f);
	g->name = xstrdup(f->amd ? "AMD" : "Intel");
	g->bus = xstrdup(f->pci);
	g->total = mib(total);
	g->used = mib(used);
	if (used != -1 && total >= used)
		g->free = mib(total - used);
	if (!is_asleep(f))
		g->util = number(f, "gpu_busy_percent");
	if (f->amd && g->total != -1 && g->total < CARVED_MIB) {
		g->place = PLACE_NO;
		g->why = xstrdup(SNAP_UNIFIED);
	} else if (g->total == -1) {
		g->why = xstrdup("the driver tells no total");
	}
}

void
drmcards(struct snap *s)
{
	struct found *v = NULL;
	size_t n = 0, i;
	int card;

	for (card = 0; card < CARDS_MAX; card++) {
		v = xreallocarray(v, n + 1, sizeof(*v));
		if (find(card, &v[n]))
			n++;
	}
	if (n > 0)
		qsort(v, n, sizeof(*v), by_pci);
	for (i = 0; i < n; i++) {
		add(s, &v[i]);
		free(v[i].dir);
		free(v[i].pci);
	}
	free(v);
}

ssize_t
drmcard_at(const struct snap *s, const char *pci)
{
	size_t i;

	for (i = 0; i < s->ngpu; i++)
		if (s->gpu[i].bus != NULL && strcmp(s->gpu[i].bus, pci) == 0)
			return (ssize_t)i;
	return -1;
}
