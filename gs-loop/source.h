/* SPDX-License-Identifier: MIT */
/* A descriptor that the event loop watches. */
#ifndef GS_LOOP_SOURCE_H
#define GS_LOOP_SOURCE_H

struct loop;

struct source {
	int fd; /* -1: none */
	void (*ready)(struct loop *l, void *arg);
	void *arg;
};

#endif
