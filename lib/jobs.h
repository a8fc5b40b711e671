/* SPDX-License-Identifier: MIT */
/*
 * The jobs file of gs-jobs(5): one shell command a line, perhaps behind an
 * attribute block.  Pure: the text of a file in, its jobs or the first error
 * out.  Identity comes from the command, so it survives edits of attributes,
 * order and everything around it.
 */
#ifndef GS_JOBS_H
#define GS_JOBS_H

#include <stddef.h>

#include "lib/attr.h"

enum {
	JOB_ID_MAX = 256, /* longest id or name, with the NUL */
	JOBS_LINE_MAX = 128 * 1024, /* bytes of one line */
};

struct jobline {
	struct attr attr;
	char *cmd; /* trimmed */
	char *id; /* name=, or 12 hex digits [.K] */
	size_t line; /* in the file, from 1 */
};

struct jobs {
	struct jobline *v;
	size_t n;
};

struct jobs_err {
	size_t line;
	char word[128]; /* "" if no word is to blame */
	char msg[160];
};

/*
 * Parse a whole file.  CR LF and a byte order mark are accepted, NUL bytes
 * and lines over JOBS_LINE_MAX are errors.  Returns 0, or -1 with *e and
 * nothing in *out.
 */
int jobs_parse(
    const char *text, size_t len, struct jobs *out, struct jobs_err *e);

void jobs_free(struct jobs *j);

/* "FILE:LINE: 'WORD': MSG" as the programs print it. */
void jobs_err_format(struct buf *b, const char *file, const struct jobs_err *e);

/*
 * The first 12 hex digits of the SHA-256 of the command text; `out` holds 13
 * bytes.
 */
void jobs_hash(const char *cmd, char *out);

#endif
