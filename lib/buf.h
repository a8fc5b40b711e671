/* SPDX-License-Identifier: MIT */
/*
 * A growing array of bytes.  `{0}` is an empty one.  While `p` is not NULL,
 * p[len] is a NUL that is not counted, so text can be read in place.
 */
#ifndef GS_BUF_H
#define GS_BUF_H

#include <sys/types.h>

#include <stddef.h>

struct buf {
	char *p; /* NULL while nothing was ever added */
	size_t len;
	size_t cap;
};

void buf_add(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Drop the first n bytes. */
void buf_eat(struct buf *b, size_t n);

/* Forget the content, keep the memory. */
void buf_reset(struct buf *b);
void buf_free(struct buf *b);

/*
 * Append what one read(2) of at most `max` bytes gives, retried on EINTR.
 * Returns the number of bytes, 0 at end of file, -1 with errno.
 */
ssize_t buf_read(struct buf *b, int fd, size_t max);

/* Append all of a file up to `max` bytes; -1 with errno (EFBIG past max). */
int buf_read_all(struct buf *b, int fd, size_t max);

/* Write all n bytes, whatever write(2) takes at a time; -1 with errno. */
int fd_write(int fd, const void *p, size_t n);

#endif
