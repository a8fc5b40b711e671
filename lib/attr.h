/* SPDX-License-Identifier: MIT */
/*
 * The attribute block "[vram=18G gpus=2]" of gs-jobs(5).  One parser for jobs
 * files, for --job and for run and job records.  Pure: text in, struct out.
 */
#ifndef GS_ATTR_H
#define GS_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

struct attr {
	int64_t vram_mib; /* for each GPU; -1: undeclared */
	int64_t timeout_ms; /* -1: none */
	int64_t eta_ms; /* -1: unknown */
	int64_t gpus; /* how many distinct GPUs; 0: CPU only; default 1 */
	int64_t retries; /* after a GPU out-of-memory; -1: not said */
	char **after; /* jobs by number, id or name */
	size_t nafter;
	char *name; /* the strings are NULL when not said */
	char *tag;
	char *on;
	char *cwd;
	char *env;
	bool cancel;
	bool hold;
	bool exclusive;
	bool light;
	bool cpu; /* gpus is 0 then */
	bool restartable;
	bool resumable;
	bool linger;
};

struct attr_err {
	char word[128]; /* the offending word, cut if it is long */
	char msg[128];
};

/* What a job without a block has. */
void attr_init(struct attr *a);

/*
 * Parse the block that begins at s[0] == '['.  Returns its length, brackets
 * included, and fills *a (free with attr_free); or -1 and *e.
 */
long attr_parse(const char *s, struct attr *a, struct attr_err *e);

/* Like it, but the block must be all of s (--job, a record's ATTRS). */
int attr_parse_all(const char *s, struct attr *a, struct attr_err *e);

/*
 * Append the canonical block: known order, only what differs from the
 * default, quoted where needed.  "[]" for a job without attributes.
 */
void attr_format(struct buf *b, const struct attr *a);

void attr_free(struct attr *a);

#endif
