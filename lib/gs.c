/* SPDX-License-Identifier: MIT */
#include "lib/gs.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
gs_version(void)
{
	printf("%s (gs) %s\n", getprogname(), GS_VERSION);
}

void
gs_close_stdout(int status)
{
	/* A write that failed earlier is remembered by the stream alone. */
	if (ferror(stdout) || fflush(stdout) == EOF)
		err(status, "stdout");
	if (fclose(stdout) == EOF)
		err(status, "stdout");
}

void
gs_open_std(void)
{
	int fd;

	/*
	 * open() gives the lowest free number, so this fills the holes in
	 * order.  These three are meant to be inherited.
	 */
	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 &&
		    open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
			_exit(GS_FAILED);
}
