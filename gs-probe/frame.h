/* SPDX-License-Identifier: MIT */
/* A snapshot as a frame of gs-records(5). */
#ifndef GS_FRAME_H
#define GS_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct frame;
struct recw;
struct snap;

struct frame_head {
	int64_t time; /* epoch seconds */
	const char *backend;
	const char *boot;
};

void frame_add(
    struct recw *w, const struct frame_head *h, const struct snap *s);

/*
 * The other way round, into an empty snapshot.  Other records and unknown keys
 * are left out.  -1 if *bad is a record of which a number is none.
 */
int frame_take(struct snap *s, const struct frame *f, size_t *bad);

#endif
