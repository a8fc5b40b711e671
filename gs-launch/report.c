/* SPDX-License-Identifier: MIT */
#include "gs-launch/report.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"

_Static_assert(sizeof(struct report) <= PIPE_BUF, "a report is one write");

int
refuse(struct refusal *why, const char *reason, const char *fmt, ...)
{
	va_list ap;

	strlcpy(why->reason, reason, sizeof(why->reason));
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return -1;
}

void
report_send(int fd, const struct report *r)
{
	/* The caller may have been killed; the job does not depend on it. */
	if (fd != -1)
		(void)fd_write(fd, r, sizeof(*r));
}

int
report_recv(int fd, struct report *r)
{
	ssize_t n;

	do
		n = read(fd, r, sizeof(*r));
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -1;
	return n == (ssize_t)sizeof(*r);
}
