/* SPDX-License-Identifier: MIT */
/*
 * Frames out of a file, one a look.
 *
 * - The file is read at once; behind its last frame, that frame again and
 *   again, until the file is another one, which then starts from its first.
 * - gpu and proc records become a snapshot and are checked on the way; other
 *   records and unknown keys are not gs-probe's to tell and are left out.
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
#include "gs-probe/snap.h"

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

static char *
copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

/* -1 where a number is no number. */
static int
gpu_take(struct snap *s, const struct rec *r)
{
	struct gpu *g = snap_gpu(s);
	const char *place = rec_field(r, 6);
	int word = place != NULL ? place_parse(place) : -1;

	g->index = rec_int(r, 1);
	g->uuid = copy(rec_field(r, 2));
	g->total = rec_int(r, 3);
	g->used = rec_int(r, 4);
	g->util = rec_int(r, 5);
	g->place = word != -1 ? (enum place)word : PLACE_NO;
	g->name = copy(rec_key(r, "name"));
	g->bus = copy(rec_key(r, "bus"));
	g->mode = copy(rec_key(r, "mode"));
	g->why = copy(rec_key(r, "why"));
	g->temp = rec_key_int(r, "temp");
	g->free = rec_key_int(r, "free");
	g->reserved = rec_key_int(r, "reserved");
	if (word == -1 || g->index < 0 || g->total < -1 || g->used < -1 ||
	    g->util < -1 || g->temp < -1 || g->free < -1 || g->reserved < -1)
		return -1;
	return 0;
}

static int
proc_take(struct snap *s, const struct rec *r)
{
	ssize_t gpu = snap_by_index(s, rec_int(r, 1));
	int64_t pid = rec_int(r, 2);
	struct gproc *p;

	if (gpu == -1 || pid <= 0 || pid > INT32_MAX)
		return -1;
	p = snap_proc(s, (size_t)gpu, (pid_t)pid);
	if (p->job != NULL || p->comm != NULL || p->used != -1)
		return -1; /* that process on that GPU for the second time */
	p->pgid = rec_int(r, 3);
	p->sid = rec_int(r, 4);
	p->start = rec_int(r, 5);
	p->used = rec_int(r, 6);
	p->peak = rec_int(r, 7);
	p->job = copy(rec_field(r, 8));
	p->type = copy(rec_key(r, "type"));
	p->user = copy(rec_key(r, "user"));
	p->comm = copy(rec_key(r, "comm"));
	if (p->pgid < -1 || p->sid < -1 || p->start < -1 || p->used < -1 ||
	    p->peak < -1)
		return -1;
	return 0;
}

static int
frame_take(const struct file *m, struct snap *s, struct buf *why)
{
	int procs = procs_parse(rec_key(&m->cur.head, "procs"));
	const struct rec *r;
	size_t i;
	int rv = 0;

	s->procs = procs != -1 ? (enum procs)procs : PROCS_UNKNOWN;
	for (i = 0; i < m->cur.n && rv == 0; i++) {
		r = &m->cur.rec[i];
		if (rec_is(r, "gpu"))
			rv = gpu_take(s, r);
		else if (rec_is(r, "proc"))
			rv = proc_take(s, r);
	}
	if (rv == -1)
		buf_printf(why, "%s: frame %zu, record %zu (%s): malformed",
		    m->path, m->in.seen, i, r->field[0]);
	return rv;
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
	return frame_take(m, s, why);
}

const struct backend file_backend = {
    .name = "file",
    .tells_all = true,
    .on_request = true,
    .open = file_open,
    .look = file_look,
    .close = file_close,
};
