/* SPDX-License-Identifier: MIT */
/* For the tests: the class of the log on stdin, what it asked for, its card. */
#include <err.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/oom.h"

int
main(void)
{
	struct buf b = {0};
	struct oom o;

	if (buf_read_all(&b, STDIN_FILENO, (size_t)1 << 26) == -1)
		err(2, "stdin");
	o = oom_scan(b.p, b.len);
	printf("%s %lld %lld\n", oom_name(o.class), (long long)o.requested_mib,
	    (long long)o.capacity_mib);
	buf_free(&b);
	return fflush(stdout) == EOF;
}
