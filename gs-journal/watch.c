/* SPDX-License-Identifier: MIT */
/*
 * inotify tells at once but not always (another machine may write to a shared
 * file system), so no wait is longer than a second.
 */
#include "gs-journal/watch.h"

#include <sys/inotify.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "lib/gs.h"

enum {
	LOOK_MS = 1000
};

int
watch_open(void)
{
	return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void
watch_add(int fd, const char *path)
{
	/* Failing is no error: there is the second. */
	if (fd != -1)
		inotify_add_watch(fd, path,
		    IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB);
}

void
watch_wait(int fd, int64_t ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char drain[4096];

	if (ms < 0 || ms > LOOK_MS)
		ms = LOOK_MS;
	if (poll(&p, 1, (int)ms) == -1 && errno != EINTR)
		err(GS_BAD, "poll");
	while (fd != -1 && read(fd, drain, sizeof(drain)) > 0)
		continue;
}
