/* SPDX-License-Identifier: MIT */
/*
 * What a descriptor of a DRM device says of its client, as the kernel's
 * drm-usage-stats has it, and as amdgpu had it from 5.14 to 5.18.  Pure.
 */
#ifndef GS_FDINFO_H
#define GS_FDINFO_H

#include <stdint.h>

struct fdinfo {
	char pdev[16]; /* PCI address; "": it is no such descriptor */
	int64_t client; /* of that device; descriptors share it.  -1: unknown */
	int64_t vram; /* bytes held, without what is shared; -1: unknown */
};

void fdinfo_parse(const char *text, struct fdinfo *f);

#endif
