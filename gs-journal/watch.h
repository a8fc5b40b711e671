/* SPDX-License-Identifier: MIT */
/* Waiting for files to change.  It may return for nothing. */
#ifndef GS_JOURNAL_WATCH_H
#define GS_JOURNAL_WATCH_H

#include <stdint.h>

/* The inotify descriptor; -1 where there is none: then it looks once a
 * second. */
int watch_open(void);
void watch_add(int fd, const char *path);

/* Until a watched file changes, or a second, or `ms` if that is less. */
void watch_wait(int fd, int64_t ms);

#endif
