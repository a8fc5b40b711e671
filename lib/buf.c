/* SPDX-License-Identifier: MIT */
#include "lib/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/xalloc.h"

/* Make room for n more bytes and the NUL. */
static void
reserve(struct buf *b, size_t n)
{
	size_t want = b->len + n + 1;

	if (want <= b->cap)
		return;
	if (want < 2 * b->cap)
		want = 2 * b->cap;
	if (want < 128)
		want = 128;
	b->p = xreallocarray(b->p, want, 1);
	b->cap = want;
}

void
buf_add(struct buf *b, const void *p, size_t n)
{
	reserve(b, n);
	if (n > 0)
		memcpy(b->p + b->len, p, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void
buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n > 0) {
		reserve(b, (size_t)n);
		vsnprintf(b->p + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void
buf_eat(struct buf *b, size_t n)
{
	if (n == 0)
		return;
	memmove(b->p, b->p + n, b->len - n + 1);
	b->len -= n;
}

void
buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->p != NULL)
		b->p[0] = '\0';
}

void
buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){0};
}

ssize_t
buf_read(struct buf *b, int fd, size_t max)
{
	ssize_t n;

	reserve(b, max);
	do
		n = read(fd, b->p + b->len, max);
	while (n == -1 && errno == EINTR);
	if (n > 0)
		b->len += (size_t)n;
	b->p[b->len] = '\0';
	return n;
}

int
buf_read_all(struct buf *b, int fd, size_t max)
{
	size_t from = b->len;
	ssize_t n;

	while ((n = buf_read(b, fd, 64 * 1024)) > 0)
		if (b->len - from > max) {
			errno = EFBIG;
			return -1;
		}
	return (int)n;
}

int
fd_write(int fd, const void *p, size_t n)
{
	const char *s = p;
	ssize_t w;

	while (n > 0) {
		w = write(fd, s, n);
		if (w == -1 && errno == EINTR)
			continue;
		if (w == -1)
			return -1;
		s += w;
		n -= (size_t)w;
	}
	return 0;
}
