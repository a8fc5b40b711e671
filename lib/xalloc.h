/* SPDX-License-Identifier: MIT */
/*
 * Allocators that never return NULL: they end the program with status 125 in
 * a carrier, 2 in a filter (xalloc_status), after one line on stderr.
 */
#ifndef GS_XALLOC_H
#define GS_XALLOC_H

#include <stddef.h>

/* The status to die with; 2 unless a program says otherwise. */
extern int xalloc_status;

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
