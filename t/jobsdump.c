/* SPDX-License-Identifier: MIT */
/*
 * For the tests: parse the jobs file on stdin and print line, id, block and
 * command of each job; or the error, with status 1.
 */
#include <err.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/jobs.h"

int
main(void)
{
	struct buf in = {0}, b = {0};
	struct jobs_err e;
	struct jobs j;
	size_t i;

	if (buf_read_all(&in, STDIN_FILENO, (size_t)1 << 30) == -1)
		err(1, "stdin");
	if (jobs_parse(in.p, in.len, &j, &e) == -1) {
		jobs_err_format(&b, "jobs.txt", &e);
		errx(1, "%s", b.p);
	}
	for (i = 0; i < j.n; i++) {
		buf_reset(&b);
		attr_format(&b, &j.v[i].attr);
		printf(
		    "%zu|%s|%s|%s\n", j.v[i].line, j.v[i].id, b.p, j.v[i].cmd);
	}
	jobs_free(&j);
	buf_free(&in);
	buf_free(&b);
	return fflush(stdout) == EOF;
}
