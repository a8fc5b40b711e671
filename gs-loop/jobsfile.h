/* SPDX-License-Identifier: MIT */
/*
 * The user's jobs file, read live and never written.
 *
 * Editors truncate and then write, rename, or delete and create, so what is
 * there at one moment need not be what the user means.  Rules:
 *
 *	what was there, plus whole lines	taken at once
 *	any other text				when it stood still for 0.5 s
 *	no newline at the end, or empty		when it stood still for 5 s
 *	not there, not regular, unreadable	the last good queue stays
 *	malformed				the last good queue stays
 *
 * "Stood still" means that device, inode, size, mtime and ctime are the same
 * over that much monotonic time.
 */
#ifndef GS_LOOP_JOBSFILE_H
#define GS_LOOP_JOBSFILE_H

#include <sys/stat.h>

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/jobs.h"

struct jobsfile {
	const char *path;
	struct stat seen; /* the latest look; st_ino 0: not there */
	int64_t seen_ms; /* since when it looks like that */
	struct buf text; /* what the queue was made of */
	bool loaded; /* there was a first reading */
	bool pending; /* the file is not what was taken, or is not there */
	char *told; /* the last complaint, so as not to repeat it */
};

/*
 * First reading: ends the program with status 2 if the file is missing,
 * unreadable or malformed.  If it has no newline at its end and is younger
 * than 5 s, nothing is taken yet.  1 if *out was filled.
 */
int jobsfile_open(struct jobsfile *f, const char *path, struct jobs *out);

/*
 * Look again; `now` is clock_ms().  Returns 1 and fills *out when a new queue
 * is to be taken, else 0.  jobsfile_due() says when to look at the latest,
 * INT64_MAX if only a change matters.
 */
int jobsfile_look(struct jobsfile *f, int64_t now, struct jobs *out);
int64_t jobsfile_due(const struct jobsfile *f, int64_t now);

/* Is the queue what the file says, as far as anyone can tell? */
bool jobsfile_settled(const struct jobsfile *f);

#endif
