/* SPDX-License-Identifier: MIT */
/*
 * Frames out of a file, one a look.
 *
 * - The file is read at once; behind its last frame, that frame again and
 *   again, until the file is another one, which then starts from its first.
 * - Records and keys that are not gs-probe's to tell are left out.
 */
#include "gs-probe/file.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rec.h"
#include "lib/xalloc.h"
#include "gs-probe/frame.h"

enum {
	FILE_BYTES = 64 * 1024 * 1024
};

struct file {
	char *path;
	struct stat sb; /* of what was read */
	struct frames in;
	struct frame cur;
};

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Read all of it, from its first frame on. */
static int
file_read(struct file *m, struct buf *why)
{
	int fd, rv = -1;

	frames_free(&m->in);
	frame_free(&m->cur);
	/* O_NONBLOCK: a fifo without a writer must not hold us up. */
	fd = open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &m->sb) == -1) {
		buf_printf(why, "%s: %s", m->path, strerror(errno));
	} else if (!S_ISREG(m->sb.st_mode)) {
		buf_printf(why, "%s: not a regular file", m->path);
	} else if (buf_read_all(&m->in.in, fd, FILE_BYTES) == -1) {
		buf_printf(why, "%s: %s", m->path, strerror(errno));
	} else {
		rv = 0;
	}
	if (fd != -1)
		close(fd);
	if (rv == -1)
		m->sb = (struct stat){0};
	return rv;
}

static void *
file_open(const struct backend_conf *conf, struct buf *why)
{
	struct file *m;

	if (conf->arg == NULL || *conf->arg == '\0') {
		buf_str(why, "ask for it with --backend file:PATH");
		return NULL;
	}
	m = xcalloc(1, sizeof(*m));
	m->path = xstrdup(conf->arg);
	if (file_read(m, why) == 0)
		return m;
	free(m->path);
	free(m);
	return NULL;
}

static void
file_close(void *state)
{
	struct file *m = state;

	frames_free(&m->in);
	frame_free(&m->cur);
	free(m->path);
	free(m);
}

static int
take(const struct file *m, struct snap *s, struct buf *why)
{
	size_t i;

	if (frame_take(s, &m->cur, &i) == 0)
		return 0;
	buf_printf(why, "%s: frame %zu, record %zu (%s): malformed", m->path,
	    m->in.seen, i + 1, m->cur.rec[i].field[0]);
	return -1;
}

/* The next frame into m->cur; behind the last one, that stays. */
static int
file_next(struct file *m, struct buf *why)
{
	struct frame f;
	int got;

	got = frames_next(&m->in, &f);
	if (got == 1) {
		frame_free(&m->cur);
		m->cur = f;
		return 0;
	}
	if (got == 0 && frames_end(&m->in) == 0)
		return 0;
	buf_printf(why, "%s: %s", m->path, m->in.err);
	return -1;
}

static int
file_look(void *state, struct snap *s, struct buf *why)
{
	struct file *m = state;
	struct stat sb;

	if (stat(m->path, &sb) == 0 && !same_file(&sb, &m->sb) &&
	    file_read(m, why) == -1)
		return -1;
	if (file_next(m, why) == -1)
		return -1;
	return take(m, s, why);
}

const struct backend file_backend = {
    .name = "file",
    .tells_all = true,
    .on_request = true,
    .open = file_open,
    .look = file_look,
    .close = file_close,
};
