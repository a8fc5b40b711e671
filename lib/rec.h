/* SPDX-License-Identifier: MIT */
/*
 * The record stream of gs-records(5): tab-separated records in frames that
 * say their own length.  A reader acts on whole frames only, because a pipe
 * cannot tell a filter that its writer died.
 *
 * Reading is a push parser (feed bytes, take frames), so that it serves both
 * a blocking filter and an event loop.
 */
#ifndef GS_REC_H
#define GS_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

enum {
	REC_VERSION = 1
};

/* field[0] is the tag.  Fields are unescaped; NULL stands for "-". */
struct rec {
	char **field;
	size_t n;
	char *text; /* owns the bytes of all fields */
};

struct frame {
	struct rec head; /* "gs", version, producer, keys */
	struct rec *rec; /* the body, without the end record */
	size_t n;
};

/* A stream of frames being read.  `{0}` is one that has read nothing. */
struct frames {
	struct buf in; /* bytes not yet taken */
	struct frame cur; /* the frame being put together */
	size_t line; /* lines taken so far */
	bool open; /* inside a frame */
	size_t seen; /* whole frames given out */
	char err[256]; /* what is wrong, once a call has returned -1 */
};

/* The i-th field of a record; NULL if it is "-" or not there. */
const char *rec_field(const struct rec *r, size_t i);

/*
 * The value of `name=` behind the positional fields of a record (how many a
 * tag has is known for the tags of gs-records(5)); NULL if it is not there.
 */
const char *rec_key(const struct rec *r, const char *name);

bool rec_is(const struct rec *r, const char *tag);

/*
 * The i-th field, or the key, as a whole number from 0 on; -1 if it is
 * unknown, -2 if it is there but no number.
 */
int64_t rec_int(const struct rec *r, size_t i);
int64_t rec_key_int(const struct rec *r, const char *name);

/* Add bytes as they come from the writer. */
void frames_feed(struct frames *f, const void *p, size_t n);

/*
 * Take the next whole frame out of what was fed.  Returns 1 and fills *out,
 * which the caller frees with frame_free(); 0 if more bytes are needed; -1 if
 * the input is malformed (f->err), and nothing more can be read from it.
 */
int frames_next(struct frames *f, struct frame *out);

/* Say that no more bytes come.  -1 with f->err if that cuts a frame, or if
 * there never was one. */
int frames_end(struct frames *f);

/* Blocking: feed from fd until there is a frame.  1, -1 as above; 0 at a
 * clean end after at least one frame. */
int frames_read(struct frames *f, int fd, struct frame *out);

void frame_free(struct frame *f);
void frames_free(struct frames *f);

/*
 * Writing.  Records collect in `buf` until recw_flush().  `{0}` is empty.
 *
 *	recw_frame(&w, "gs-probe");  recw_kint(&w, "time", now);
 *	recw_rec(&w, "gpu");  recw_int(&w, 0);  recw_str(&w, uuid);  ...
 *	recw_end(&w);
 *	if (recw_flush(&w, STDOUT_FILENO) == -1) err(2, "stdout");
 */
struct recw {
	struct buf buf;
	size_t n; /* body records of the open frame */
	bool line; /* a record is open */
};

void recw_frame(struct recw *w, const char *producer);
void recw_rec(struct recw *w, const char *tag);
void recw_str(struct recw *w, const char *s); /* NULL: unknown */
void recw_int(struct recw *w, int64_t v); /* negative: unknown */
void recw_kstr(
    struct recw *w, const char *key, const char *s); /* NULL: left out */
void recw_kint(
    struct recw *w, const char *key, int64_t v); /* negative: left out */

/* Copy a record as it is, as one more body record. */
void recw_copy(struct recw *w, const struct rec *r);
void recw_end(struct recw *w);

/* Write everything and forget it; -1 with errno. */
int recw_flush(struct recw *w, int fd);
void recw_free(struct recw *w);

#endif
