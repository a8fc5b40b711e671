/* SPDX-License-Identifier: MIT */
/*
 * Reading /proc.
 *
 * - stat is taken apart behind its last ')': the name before it may hold any
 *   byte, blanks and parentheses included.
 * - Children come from task/TID/children of every thread, as each thread has
 *   its own; a kernel without those files costs a walk of all processes.
 * - Nothing is kept between calls.
 */
#include "lib/procfs.h"

#include <sys/stat.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	STAT_BYTES = 2048,
	FILE_MAX = 8 * 1024 * 1024, /* more than the kernel allows argv, env */
};

/* Field numbers of proc_pid_stat(5). */
enum {
	STAT_STATE = 3,
	STAT_PPID = 4,
	STAT_PGID = 5,
	STAT_SID = 6,
	STAT_THREADS = 20,
	STAT_START = 22,
};

static int __attribute__((format(printf, 1, 2))) proc_open(const char *fmt, ...)
{
	char path[128];
	va_list ap;
	int fd;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1 && errno == ENOENT)
		errno = ESRCH;
	return fd;
}

static int
read_close(int fd, struct buf *b)
{
	int rv, saved;

	rv = buf_read_all(b, fd, FILE_MAX);
	saved = errno;
	close(fd);
	errno = saved;
	return rv;
}

/* A field of stat; what is negative (a kernel thread has no group) is -1. */
static int64_t
number(const char *word)
{
	const char *errstr;

	return unit_num(word, 0, INT64_MAX, &errstr);
}

static void
stat_field(struct pstat *st, int i, const char *word)
{
	if (i == STAT_STATE)
		st->state = word[0];
	else if (i == STAT_PPID)
		st->ppid = (pid_t)number(word);
	else if (i == STAT_PGID)
		st->pgid = (pid_t)number(word);
	else if (i == STAT_SID)
		st->sid = (pid_t)number(word);
	else if (i == STAT_START)
		st->start = number(word);
	else if (i == STAT_THREADS && st->state == 'Z' && number(word) > 1)
		st->state = 'S'; /* only its first thread has ended */
}

static int
stat_parse(char *line, struct pstat *st)
{
	char *open = strchr(line, '('), *shut = strrchr(line, ')'), *rest;
	int i;

	if (open == NULL || shut == NULL || shut < open || shut[1] != ' ')
		goto bad;
	*shut = '\0';
	snprintf(st->comm, sizeof(st->comm), "%s", open + 1);
	rest = shut + 2;
	for (i = STAT_STATE; i <= STAT_START && rest != NULL; i++)
		stat_field(st, i, strsep(&rest, " \n"));
	if (i > STAT_START && st->start >= 0)
		return 0;
bad:
	errno = EINVAL;
	return -1;
}

int
procfs_stat(pid_t pid, struct pstat *st)
{
	char text[STAT_BYTES];
	struct stat sb;
	ssize_t n;
	int fd;

	*st = (struct pstat){.pid = pid};
	fd = proc_open("/proc/%d/stat", (int)pid);
	if (fd == -1)
		return -1;
	if (fstat(fd, &sb) == 0)
		st->uid = sb.st_uid;
	/* The kernel gives it in one piece, and making it is what costs. */
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0) {
		if (n == 0)
			errno = ESRCH;
		return -1;
	}
	text[n] = '\0';
	return stat_parse(text, st);
}

bool
procfs_alive(pid_t pid, int64_t start)
{
	struct pstat st;

	return procfs_stat(pid, &st) == 0 && st.start == start &&
	    st.state != 'Z' && st.state != 'X';
}

char *
procfs_env(pid_t pid, const char *name)
{
	size_t len = strlen(name);
	struct buf b = {0};
	char *s, *found = NULL;
	int fd;

	fd = proc_open("/proc/%d/environ", (int)pid);
	if (fd == -1)
		return NULL;
	if (read_close(fd, &b) == 0)
		for (s = b.p; s < b.p + b.len; s += strlen(s) + 1)
			if (strncmp(s, name, len) == 0 && s[len] == '=') {
				found = xstrdup(s + len + 1);
				break;
			}
	buf_free(&b);
	return found;
}

int
procfs_cmdline(pid_t pid, struct buf *b)
{
	size_t from = b->len;
	int fd;

	fd = proc_open("/proc/%d/cmdline", (int)pid);
	if (fd == -1 || read_close(fd, b) == -1)
		return -1;
	/* A process that rewrote its title may have lost the last NUL. */
	if (b->len > from && b->p[b->len - 1] != '\0')
		buf_add(b, "", 1);
	return 0;
}

static int
by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct pstat *)a)->pid;
	pid_t y = ((const struct pstat *)b)->pid;

	return (x > y) - (x < y);
}

/* What could not be looked at for want of room must not seem gone. */
static int
list_failed(DIR *dir, struct pstat **list, size_t *n)
{
	int saved = errno;

	closedir(dir);
	free(*list);
	*list = NULL;
	*n = 0;
	errno = saved;
	return -1;
}

int
procfs_list(struct pstat **list, size_t *n)
{
	struct dirent *de;
	size_t cap = 0;
	DIR *dir;

	*list = NULL;
	*n = 0;
	dir = opendir("/proc");
	if (dir == NULL)
		return -1;
	while ((de = readdir(dir)) != NULL) {
		if (!isdigit((unsigned char)de->d_name[0]))
			continue;
		if (*n == cap) {
			cap = cap ? 2 * cap : 256;
			*list = xreallocarray(*list, cap, sizeof(**list));
		}
		if (procfs_stat((pid_t)number(de->d_name), *list + *n) == 0)
			++*n;
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			return list_failed(dir, list, n);
	}
	closedir(dir);
	if (*n > 0)
		qsort(*list, *n, sizeof(**list), by_pid);
	return 0;
}

/* What a children file lists: pids, each followed by a blank. */
static void
pids_add(char *text, pid_t **list, size_t *n)
{
	char *word;
	int64_t pid;

	while ((word = strsep(&text, " \n")) != NULL) {
		pid = number(word);
		if (pid <= 0)
			continue;
		*list = xreallocarray(*list, *n + 1, sizeof(**list));
		(*list)[(*n)++] = (pid_t)pid;
	}
}

static int
children_scan(pid_t pid, pid_t **list, size_t *n)
{
	struct pstat *all;
	size_t nall, i;

	if (procfs_list(&all, &nall) == -1)
		return -1;
	*list = xreallocarray(NULL, nall, sizeof(**list));
	for (i = 0; i < nall; i++)
		if (all[i].ppid == pid)
			(*list)[(*n)++] = all[i].pid;
	free(all);
	return 0;
}

static void
children_thread(pid_t pid, const char *tid, pid_t **list, size_t *n)
{
	struct buf b = {0};
	int fd;

	fd = proc_open("/proc/%d/task/%.20s/children", (int)pid, tid);
	if (fd == -1)
		return;
	if (read_close(fd, &b) == 0 && b.len > 0)
		pids_add(b.p, list, n);
	buf_free(&b);
}

int
procfs_children(pid_t pid, pid_t **list, size_t *n)
{
	struct dirent *de;
	char path[64];
	DIR *dir;

	*list = NULL;
	*n = 0;
	if (access("/proc/thread-self/children", F_OK) == -1)
		return children_scan(pid, list, n);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (dir == NULL) {
		if (errno == ENOENT)
			errno = ESRCH;
		return -1;
	}
	while ((de = readdir(dir)) != NULL)
		if (isdigit((unsigned char)de->d_name[0]))
			children_thread(pid, de->d_name, list, n);
	closedir(dir);
	return 0;
}

void
procfs_boot(char out[BOOT_ID_MAX])
{
	struct buf b = {0};
	int fd;

	snprintf(out, BOOT_ID_MAX, "-");
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	if (read_close(fd, &b) == 0 && b.len == BOOT_ID_MAX &&
	    b.p[b.len - 1] == '\n')
		snprintf(out, BOOT_ID_MAX, "%.*s", BOOT_ID_MAX - 1, b.p);
	buf_free(&b);
}
