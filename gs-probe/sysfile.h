/* SPDX-License-Identifier: MIT */
/* Small files of sysfs and procfs, below a root that tests may move. */
#ifndef GS_SYSFILE_H
#define GS_SYSFILE_H

#include <stdint.h>

#include "lib/buf.h"

/* A path below GS_SYSROOT, or below "/"; to be freed. */
char *sys_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What the file holds, without the newline at its end; -1. */
int sys_text(const char *path, struct buf *b);

/* The number that it holds; -1: it is not there, or no number. */
int64_t sys_number(const char *path);

/* The number that the text begins with, behind blanks; -1: it is none. */
int64_t sys_parse(const char *text);

/* What stands behind `key` and one of `seps` at the start of a line of the
 * text; NULL. */
const char *sys_line(const char *text, const char *key, const char *seps);

/* Numbers that entries of the folder have for names, ascending; NULL if there
 * are none.  To be freed. */
int64_t *sys_numbers(const char *path, size_t *n);

#endif
