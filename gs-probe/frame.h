/* SPDX-License-Identifier: MIT */
/* A snapshot as a frame of gs-records(5). */
#ifndef GS_FRAME_H
#define GS_FRAME_H

#include <stdint.h>

struct recw;
struct snap;

struct frame_head {
	int64_t time; /* epoch seconds */
	const char *backend;
	const char *boot;
};

void frame_add(
    struct recw *w, const struct frame_head *h, const struct snap *s);

#endif
