/* SPDX-License-Identifier: MIT */
/* append, its two halves. */
#ifndef GS_JOURNAL_APPEND_H
#define GS_JOURNAL_APPEND_H

#include <stdbool.h>

#include "lib/buf.h"

/* Append whole lines to the journal, or end the program with status 2. */
void append_lines(const char *path, const struct buf *lines, bool sync);

/* The start and exit records of the frames on stdin.  The exit status. */
int append_frames(const char *path);

#endif
