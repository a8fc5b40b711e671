/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded: the wall clock is off by as many seconds as the file that
 * CLOCK_SHIFT names says at that moment.  The monotonic clock is not touched.
 */
#include <sys/syscall.h>
#include <sys/time.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long
shift(void)
{
	const char *path = getenv("CLOCK_SHIFT");
	char text[32] = "";
	int fd;

	if (path == NULL || (fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return 0;
	if (read(fd, text, sizeof(text) - 1) == -1)
		text[0] = '\0';
	close(fd);
	text[strcspn(text, "\n")] = '\0';
	return strtonum(text, INT32_MIN, INT32_MAX, NULL);
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int rv = (int)syscall(SYS_clock_gettime, id, ts);

	if (rv == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ts->tv_sec += shift();
	return rv;
}

time_t
time(time_t *t)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (t != NULL)
		*t = ts.tv_sec;
	return ts.tv_sec;
}
