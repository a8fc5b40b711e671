/* SPDX-License-Identifier: MIT */
#include "gs-probe/fdinfo.h"

#include <stdio.h>
#include <string.h>

#include "gs-probe/sysfile.h"

#define NUMBER_MAX (INT64_MAX >> 20) /* so that it can be MiB */

/* Behind "KEY:" at the start of a line, and blanks; NULL. */
static const char *
value(const char *text, const char *key)
{
	const char *v = sys_line(text, key, ":");

	return v == NULL ? NULL : v + strspn(v, " \t");
}

static int64_t
number(const char *text, const char *key)
{
	const char *v = value(text, key);
	int64_t n = v == NULL ? -1 : sys_parse(v);

	return n > NUMBER_MAX ? -1 : n;
}

/* Bytes unless a unit follows.  One that nobody knows makes it unknown. */
static int64_t
bytes(const char *text, const char *key)
{
	const char *v = value(text, key), *unit;
	int64_t n = number(text, key);
	size_t len;

	if (n == -1)
		return -1;
	unit = v + strcspn(v, " \t\n");
	unit += strspn(unit, " \t");
	len = strcspn(unit, " \t\n");
	if (len == 0)
		return n;
	if (strncmp(unit, "KiB", 3) == 0 || strncmp(unit, "kB", 2) == 0)
		return n << 10;
	if (strncmp(unit, "MiB", 3) == 0)
		return n << 20;
	return -1;
}

static int64_t
either(int64_t a, int64_t b)
{
	return a != -1 ? a : b;
}

void
fdinfo_parse(const char *text, struct fdinfo *f)
{
	const char *pdev = value(text, "drm-pdev");
	int64_t shared;

	*f = (struct fdinfo){.client = -1, .vram = -1};
	if (pdev == NULL)
		pdev = value(text, "pdev");
	if (pdev == NULL)
		return;
	snprintf(f->pdev, sizeof(f->pdev), "%.*s", (int)strcspn(pdev, " \t\n"),
	    pdev);
	f->client =
	    either(number(text, "drm-client-id"), number(text, "pasid"));
	/* Resident is what is held; total counts what was only reserved. */
	f->vram = either(bytes(text, "drm-resident-vram"),
	    bytes(text, "drm-resident-vram0"));
	f->vram = either(f->vram, bytes(text, "drm-memory-vram"));
	f->vram = either(f->vram, bytes(text, "vram mem"));
	shared = either(
	    bytes(text, "drm-shared-vram"), bytes(text, "drm-shared-vram0"));
	if (f->vram != -1 && shared > 0)
		f->vram = shared < f->vram ? f->vram - shared : 0;
}
