/* SPDX-License-Identifier: MIT */
/*
 * Appending to the journal; lib/jreader.c reads it.
 *
 * The lock is flock(2) on the journal itself, so the kernel drops it when its
 * holder dies.  Nothing here repairs what is already in the file: a torn last
 * line is only closed by a newline, so that it damages no line but itself.
 */
#include "lib/journal.h"

#include <sys/stat.h>
#include <sys/uio.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libutil.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/crc32c.h"
#include "lib/xalloc.h"

enum {
	VERSION = 1,
	SEAL_LEN = 16, /* of ,"c":"xxxxxxxx"} */
};

double
event_now(void)
{
	return clock_wall();
}

cJSON *
event_new(const char *name, double t)
{
	cJSON *ev = cJSON_CreateObject();

	if (ev == NULL)
		err(xalloc_status, "memory");
	json_int(ev, "v", VERSION);
	json_real(ev, "t", t);
	json_str(ev, "event", name);
	return ev;
}

void
event_line(struct buf *b, const cJSON *ev)
{
	char *text = cJSON_PrintUnformatted(ev);
	size_t n;

	if (text == NULL)
		err(xalloc_status, "memory");
	n = strlen(text) - 1; /* the seal goes in front of the last brace */
	buf_add(b, text, n);
	buf_printf(b, ",\"c\":\"%08x\"}\n", (unsigned)crc32c(text, n));
	free(text);
}

/*
 * Is the text nested deeper than all who read journals can take?  jq, which
 * people query with, stops at 256.
 */
static bool
is_too_deep(const char *s, size_t n)
{
	bool quoted = false;
	size_t i, depth = 0;

	for (i = 0; i < n; i++) {
		if (quoted) {
			if (s[i] == '\\')
				i++;
			else if (s[i] == '"')
				quoted = false;
		} else if (s[i] == '"') {
			quoted = true;
		} else if (s[i] == '{' || s[i] == '[') {
			if (++depth > JOURNAL_DEPTH_MAX)
				return true;
		} else if ((s[i] == '}' || s[i] == ']') && depth > 0) {
			depth--;
		}
	}
	return false;
}

cJSON *
event_parse(const char *line, size_t n)
{
	char seal[SEAL_LEN + 1];
	cJSON *ev;

	if (n < SEAL_LEN)
		return NULL;
	n -= SEAL_LEN;
	snprintf(
	    seal, sizeof(seal), ",\"c\":\"%08x\"}", (unsigned)crc32c(line, n));
	if (memcmp(line + n, seal, SEAL_LEN) != 0 || is_too_deep(line, n))
		return NULL;
	ev = cJSON_ParseWithLength(line, n + SEAL_LEN);
	if (cJSON_IsObject(ev) && json_get_int(ev, "v") == VERSION)
		return ev;
	cJSON_Delete(ev);
	return NULL;
}

/*
 * Make the name of a new journal as durable as what it will hold.  Not every
 * file system can sync a directory; where it cannot there is nothing to do.
 */
static void
dir_sync(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int fd;

	dir = slash == NULL ? xstrdup(".")
			    : xstrndup(path, (size_t)(slash - path) + 1);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (fd == -1)
		return;
	fsync(fd);
	close(fd);
}

/* Only a plain file will do, and a new one is ours alone, whatever the
 * umask took away. */
static int
check_file(int fd, const char *path, off_t *size)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	*size = st.st_size;
	if (st.st_size > 0)
		return 0;
	if ((st.st_mode & 07777) != 0600 && fchmod(fd, 0600) == -1)
		return -1;
	dir_sync(path);
	return 0;
}

int
journal_lock(struct journal *j, const char *path)
{
	int saved;

	/* O_NONBLOCK must not be set: it would make flopen not wait. */
	do
		j->fd = flopen(path,
		    O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NOCTTY |
			O_CLOEXEC,
		    0600);
	while (j->fd == -1 && errno == EINTR);
	if (j->fd == -1)
		return -1;
	if (check_file(j->fd, path, &j->end) == -1) {
		saved = errno;
		journal_unlock(j);
		errno = saved;
		return -1;
	}
	return 0;
}

/* Is the last line of the file cut off? */
static int
torn(const struct journal *j)
{
	char last;
	ssize_t n;

	if (j->end == 0)
		return 0;
	do
		n = pread(j->fd, &last, 1, j->end - 1);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -1;
	return n == 1 && last != '\n';
}

/*
 * One write(2), so that whoever looks in between sees all of it or a line
 * without its end.  Only a write cut short is gone on with, to learn why.
 */
static int
append(int fd, bool heal, const struct buf *lines)
{
	const struct iovec iov[2] = {
	    {.iov_base = (char[]){'\n'}, .iov_len = 1},
	    {.iov_base = lines->p, .iov_len = lines->len},
	};
	ssize_t n, skip = heal ? 1 : 0;

	do
		n = writev(fd, heal ? iov : iov + 1, heal ? 2 : 1);
	while (n == -1 && errno == EINTR);
	if (n == -1)
		return -1;
	n -= skip;
	if (n < 0)
		n = 0; /* not even the newline, which then cannot hurt */
	return fd_write(fd, lines->p + n, lines->len - (size_t)n);
}

static int
sync_data(int fd)
{
	int rv;

	do
		rv = fdatasync(fd);
	while (rv == -1 && errno == EINTR);
	return rv;
}

int
journal_write(struct journal *j, const struct buf *lines, bool sync)
{
	struct stat st;
	int saved, heal;

	if (fstat(j->fd, &st) == -1)
		return -1;
	j->end = st.st_size;
	if ((heal = torn(j)) == -1)
		return -1;
	if (append(j->fd, heal, lines) == -1 ||
	    (sync && sync_data(j->fd) == -1)) {
		/* A later line must not be glued to half of this one.  If
		 * the cut fails as well, the next writer heals it. */
		saved = errno;
		(void)!ftruncate(j->fd, j->end);
		errno = saved;
		return -1;
	}
	j->end += (off_t)lines->len + heal;
	return 0;
}

void
journal_unlock(struct journal *j)
{
	if (j->fd != -1)
		close(j->fd);
	j->fd = -1;
}

int
journal_append_lines(const char *path, const struct buf *lines, bool sync)
{
	struct journal j;
	int rv, saved;

	if (journal_lock(&j, path) == -1)
		return -1;
	rv = journal_write(&j, lines, sync);
	saved = errno;
	journal_unlock(&j);
	errno = saved;
	return rv;
}

int
journal_append(const char *path, const cJSON *ev, bool sync)
{
	struct buf line = {0};
	int rv, saved;

	event_line(&line, ev);
	rv = journal_append_lines(path, &line, sync);
	saved = errno;
	buf_free(&line);
	errno = saved;
	return rv;
}
