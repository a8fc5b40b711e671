/* SPDX-License-Identifier: MIT */
/*
 * The journal of gs-journal(5): one JSON object a line, closed by a checksum,
 * appended under a lock, never rewritten.
 *
 * Appending: lock, heal a torn last line with a leading newline, one
 * write(2), cut off again what was written if it did not fit, sync if asked.
 * Reading: up to the last newline; damaged or unknown lines are skipped and
 * counted, never an error.
 */
#ifndef GS_JOURNAL_H
#define GS_JOURNAL_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"
#include "lib/json.h"

enum {
	JOURNAL_DEPTH_MAX = 200, /* of objects and arrays in an event */
	JOURNAL_LINE_MAX = 1024 * 1024
}; /* longer lines are damage */

/* A new event object with "v", "t" (the time is given: CLOCK_REALTIME) and
 * "event".  Freed with cJSON_Delete. */
cJSON *event_new(const char *name, double t);

/* The current time for event_new, to the millisecond. */
double event_now(void);

/* Append the event's line, checksum and newline included. */
void event_line(struct buf *b, const cJSON *ev);

/*
 * Parse one line (without its newline).  NULL if it is damaged: no JSON
 * object, wrong or missing checksum, or a version above ours.
 */
cJSON *event_parse(const char *line, size_t n);

/* A journal whose lock is held. */
struct journal {
	int fd;
	off_t end; /* its size */
};

/*
 * Open (creating it 0600) and lock the journal, waiting for the lock.
 * -1 with errno.
 */
int journal_lock(struct journal *j, const char *path);

/*
 * Append whole lines; on failure the file is as it was.  -1 with errno.
 * Callers ignore SIGXFSZ, or a file size limit kills them half way.
 */
int journal_write(struct journal *j, const struct buf *lines, bool sync);

void journal_unlock(struct journal *j);

/* Lock, append whole lines made by event_line, unlock.  -1 with errno. */
int journal_append_lines(const char *path, const struct buf *lines, bool sync);

/* Lock, append one event, unlock.  Does not free ev.  -1 with errno. */
int journal_append(const char *path, const cJSON *ev, bool sync);

/* A reader that can go on where it stopped.  Needs no lock. */
struct journal_reader {
	int fd; /* -1: the file was not there yet */
	char *path;
	off_t off; /* the next line begins here */
	size_t line; /* lines passed */
	size_t damaged; /* of them, unreadable ones */
	size_t first_damaged; /* line number, 0: none */
	struct buf in; /* read ahead: the bytes from off - pos on */
	size_t pos; /* of the next line in `in` */
	bool skipping; /* inside a line that is too long */
	const char *text; /* the line last given out, good until the next; */
	size_t len; /* without its newline.  NULL: it was too long */
};

/* Start at byte `off` (0, or a place where a line begins).  A missing file
 * is an empty journal.  -1 with errno for any other failure to open. */
int journal_reader_open(struct journal_reader *r, const char *path, off_t off);

/* The next event, to be freed with cJSON_Delete; NULL when there is no
 * further whole line now (call again later), or with r->fd == -1. */
cJSON *journal_next(struct journal_reader *r);

/* The same, but the damaged lines come out too: *ev NULL then.  1, 0. */
int journal_next_line(struct journal_reader *r, cJSON **ev);

void journal_reader_close(struct journal_reader *r);

#endif
