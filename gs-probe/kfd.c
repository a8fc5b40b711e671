/* SPDX-License-Identifier: MIT */
/*
 * The folder of a process outlives it by a moment; what it says still is in
 * use then.
 */
#include "gs-probe/kfd.h"

#include <stdlib.h>

#include "lib/xalloc.h"
#include "gs-probe/drmcard.h"
#include "gs-probe/sysfile.h"

#define KFD "/sys/class/kfd/kfd"

static int64_t
property(const char *text, const char *name)
{
	const char *v = sys_line(text, name, " \t");

	return v == NULL ? -1 : sys_parse(v);
}

/* The card of a node, -1 for a processor's; its gpu_id. */
static ssize_t
node_card(const struct snap *s, int64_t node, int64_t *gpu_id)
{
	char *path =
	    sys_path(KFD "/topology/nodes/%lld/gpu_id", (long long)node);
	int64_t domain, at;
	struct buf b = {0};
	ssize_t card = -1;
	char *pci;

	*gpu_id = sys_number(path);
	free(path);
	if (*gpu_id <= 0)
		return -1;
	path = sys_path(KFD "/topology/nodes/%lld/properties", (long long)node);
	if (sys_text(path, &b) == 0 && b.len > 0) {
		domain = property(b.p, "domain");
		at = property(b.p, "location_id");
		/* Bus, device and function in one number. */
		pci = xasprintf("%04llx:%02llx:%02llx.%llx",
		    (unsigned long long)(domain > 0 ? domain : 0),
		    (unsigned long long)at >> 8 & 0xff,
		    (unsigned long long)at >> 3 & 0x1f,
		    (unsigned long long)at & 7);
		card = drmcard_at(s, pci);
		free(pci);
	}
	buf_free(&b);
	free(path);
	return card;
}

/* Of one card: what each process has there. */
static void
procs_add(struct snap *s, size_t at, int64_t gpu_id)
{
	char *dir = sys_path(KFD "/proc"), *path;
	int64_t *pid, bytes;
	struct gproc *p;
	size_t n, i;

	pid = sys_numbers(dir, &n);
	for (i = 0; i < n; i++) {
		path = sys_path(KFD "/proc/%lld/vram_%lld", (long long)pid[i],
		    (long long)gpu_id);
		bytes = sys_number(path);
		free(path);
		if (bytes <= 0 || pid[i] == 0 || pid[i] > INT32_MAX)
			continue;
		p = snap_proc(s, at, (pid_t)pid[i]);
		if (bytes >> MIB_SHIFT > p->used)
			p->used = bytes >> MIB_SHIFT;
		free(p->type);
		p->type = xstrdup("C");
	}
	free(pid);
	free(dir);
}

void
kfd(struct snap *s)
{
	char *path = sys_path(KFD "/topology/nodes");
	int64_t gpu_id, *node;
	int order = 0;
	size_t n, i;
	ssize_t at;

	node = sys_numbers(path, &n);
	for (i = 0; i < n; i++) {
		at = node_card(s, node[i], &gpu_id);
		if (at != -1) {
			/* Parts of a card may be nodes of their own. */
			free(s->gpu[at].env);
			s->gpu[at].env =
			    xasprintf("ROCR_VISIBLE_DEVICES=%d", order);
			procs_add(s, (size_t)at, gpu_id);
		}
		order += gpu_id > 0;
	}
	free(node);
	free(path);
}
