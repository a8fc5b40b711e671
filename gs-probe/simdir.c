/* SPDX-License-Identifier: MIT */
/*
 * The files of the simulation.
 *
 * - `gpus`: a line "INDEX MIB" for each GPU; replaced by rename.
 * - claim.GPU.PID.START: "MIB UTIL" in a fixed width, written over in place by
 *   one write(2), so that a reader needs no lock.  It counts for as long as
 *   that very process lives; nobody has to clean up after a kill -9.
 * - lock: held while a claim is checked against the others and made.
 */
#include "gs-probe/simdir.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/clock.h"
#include "lib/procfs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	GPUS_BYTES = 64 * 1024,
	LOCK_WAIT_MS = 2000,
	NAME_BYTES = 80,
};

char *
simdir_path(void)
{
	const char *dir = getenv("GS_SIM_DIR");

	if (dir != NULL && *dir != '\0')
		return xstrdup(dir);
	return xasprintf("/tmp/gs-sim-%u", (unsigned)geteuid());
}

int
simdir_open(const char *path, bool create)
{
	struct stat sb;
	int dir;

	if (create && mkdir(path, 0700) == -1 && errno != EEXIST)
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir == -1)
		return -1;
	/* Anyone may have made a directory of that name in /tmp before us. */
	if (fstat(dir, &sb) == -1 || sb.st_uid != geteuid() ||
	    (sb.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		close(dir);
		errno = EPERM;
		return -1;
	}
	return dir;
}

static int
write_new(int dir, const char *name, const struct buf *b)
{
	int fd, rv;

	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	rv = fd_write(fd, b->p, b->len);
	if (close(fd) == -1)
		rv = -1;
	return rv;
}

int
simdir_set_gpus(int dir, size_t n, int64_t mib)
{
	char tmp[NAME_BYTES];
	struct buf b = {0};
	size_t i;
	int rv;

	for (i = 0; i < n; i++)
		buf_printf(&b, "%zu %" PRId64 "\n", i, mib);
	snprintf(tmp, sizeof(tmp), "gpus.%d", (int)getpid());
	rv = write_new(dir, tmp, &b);
	if (rv == 0)
		rv = renameat(dir, tmp, dir, "gpus");
	if (rv == -1)
		unlinkat(dir, tmp, 0);
	buf_free(&b);
	return rv;
}

/* One line of `gpus`: its number in order, and a size. */
static int64_t
gpu_line(char *line, size_t i)
{
	const char *errstr;
	char *size = line;
	int64_t index, mib;

	index = unit_num(strsep(&size, " "), 0, INT64_MAX, &errstr);
	if (errstr != NULL || size == NULL || index != (int64_t)i)
		return -1;
	mib = unit_num(size, 1, INT64_MAX / 1024, &errstr);
	return errstr != NULL ? -1 : mib;
}

int
simdir_gpus(int dir, int64_t **mib, size_t *n)
{
	struct buf b = {0};
	char *rest, *line;
	int fd, rv = 0;

	*mib = NULL;
	*n = 0;
	fd = openat(dir, "gpus", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (buf_read_all(&b, fd, GPUS_BYTES) == -1)
		rv = -1;
	close(fd);
	rest = b.p;
	while (rv == 0 && (line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		*mib = xreallocarray(*mib, *n + 1, sizeof(**mib));
		(*mib)[*n] = gpu_line(line, *n);
		if ((*mib)[(*n)++] == -1) {
			errno = EINVAL;
			rv = -1;
		}
	}
	buf_free(&b);
	if (rv == -1) {
		free(*mib);
		*mib = NULL;
	}
	return rv;
}

static void
claim_name(char name[NAME_BYTES], const struct claim *c)
{
	snprintf(name, NAME_BYTES, "claim.%zu.%d.%" PRId64, c->gpu, (int)c->pid,
	    c->start);
}

/* A file's name and what is in it; false if it is no claim. */
static bool
claim_read(int dir, const char *name, struct claim *c)
{
	char text[NAME_BYTES];
	int fd, pid, end = 0;
	ssize_t n;

	if (sscanf(name, "claim.%zu.%d.%" SCNd64 "%n", &c->gpu, &pid, &c->start,
		&end) != 3 ||
	    name[end] != '\0')
		return false;
	c->pid = pid;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false; /* made, but not written yet */
	text[n] = '\0';
	return sscanf(text, "%" SCNd64 " %" SCNd64, &c->mib, &c->util) == 2;
}

static int
by_gpu(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

int
simdir_claims(int dir, struct claim **list, size_t *n)
{
	struct dirent *de;
	struct claim c;
	DIR *d;
	int fd;

	*list = NULL;
	*n = 0;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	d = fdopendir(fd);
	if (d == NULL) {
		close(fd);
		return -1;
	}
	while ((de = readdir(d)) != NULL) {
		if (!claim_read(dir, de->d_name, &c))
			continue;
		if (!procfs_alive(c.pid, c.start)) {
			unlinkat(dir, de->d_name, 0);
			continue;
		}
		*list = xreallocarray(*list, *n + 1, sizeof(**list));
		(*list)[(*n)++] = c;
	}
	closedir(d);
	if (*n > 0)
		qsort(*list, *n, sizeof(**list), by_gpu);
	return 0;
}

int
simdir_claim(int dir, const struct claim *c)
{
	char name[NAME_BYTES];
	struct buf b = {0};
	int fd, rv;

	claim_name(name, c);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	buf_printf(&b, "%15" PRId64 " %5" PRId64 "\n", c->mib, c->util);
	rv = fd_write(fd, b.p, b.len);
	if (close(fd) == -1)
		rv = -1;
	buf_free(&b);
	return rv;
}

void
simdir_unclaim(int dir, const struct claim *c)
{
	char name[NAME_BYTES];

	claim_name(name, c);
	unlinkat(dir, name, 0);
}

int
simdir_lock(int dir)
{
	int64_t deadline = clock_ms() + LOCK_WAIT_MS;
	int fd;

	fd = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	/*
	 * A holder may have been stopped (SIGSTOP) just now.  Go on without
	 * the lock then: a frozen job must not freeze its neighbours.
	 */
	while (flock(fd, LOCK_EX | LOCK_NB) == -1 && clock_ms() < deadline)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return fd;
}
