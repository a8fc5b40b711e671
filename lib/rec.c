/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing of record frames; lib/rec.h says how, gs-records(5)
 * what.
 */
#include "lib/rec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/esc.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

/* How many positional fields follow a tag; keys come behind them. */
static const struct {
	const char *tag;
	size_t n;
} tags[] = {
    {"gs", 2},
    {"gpu", 6},
    {"proc", 8},
    {"run", 4},
    {"job", 2},
    {"place", 3},
    {"wait", 2},
    {"never", 2},
    {"plan", 5},
    {"wake", 1},
    {"start", 8},
    {"exit", 5},
    {"refused", 3},
    {"state", 12},
    {"end", 1},
};

static size_t
tag_fields(const char *tag)
{
	size_t i;

	for (i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (strcmp(tags[i].tag, tag) == 0)
			return tags[i].n;
	return 0;
}

const char *
rec_field(const struct rec *r, size_t i)
{
	return i < r->n ? r->field[i] : NULL;
}

bool
rec_is(const struct rec *r, const char *tag)
{
	return r->n > 0 && r->field[0] != NULL && strcmp(r->field[0], tag) == 0;
}

const char *
rec_key(const struct rec *r, const char *name)
{
	size_t len = strlen(name), i;
	const char *f;

	if (r->n == 0 || r->field[0] == NULL)
		return NULL;
	for (i = 1 + tag_fields(r->field[0]); i < r->n; i++) {
		f = r->field[i];
		if (f != NULL && strncmp(f, name, len) == 0 && f[len] == '=')
			return f + len + 1;
	}
	return NULL;
}

static int64_t
number(const char *s)
{
	const char *errstr;
	int64_t v;

	if (s == NULL)
		return -1;
	v = unit_num(s, 0, INT64_MAX, &errstr);
	return errstr != NULL ? -2 : v;
}

int64_t
rec_int(const struct rec *r, size_t i)
{
	return number(rec_field(r, i));
}

int64_t
rec_key_int(const struct rec *r, const char *name)
{
	return number(rec_key(r, name));
}

static void
rec_free(struct rec *r)
{
	free(r->field);
	free(r->text);
	*r = (struct rec){0};
}

void
frame_free(struct frame *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		rec_free(&f->rec[i]);
	free(f->rec);
	rec_free(&f->head);
	*f = (struct frame){0};
}

void
frames_free(struct frames *f)
{
	frame_free(&f->cur);
	buf_free(&f->in);
	*f = (struct frames){0};
}

/* Split one line at its tabs and undo the escapes. */
static int
split(const char *line, size_t len, struct rec *r)
{
	size_t i, n = 1;
	char *s, *tab;

	for (i = 0; i < len; i++)
		if (line[i] == '\t')
			n++;
	r->text = xmalloc(len + 1);
	memcpy(r->text, line, len);
	r->text[len] = '\0';
	r->field = xcalloc(n, sizeof(*r->field));
	for (s = r->text, r->n = 0; r->n < n; s = tab + 1) {
		tab = r->n + 1 < n ? strchr(s, '\t') : r->text + len;
		*tab = '\0';
		r->field[r->n++] = strcmp(s, "-") == 0 ? NULL : s;
		if (esc_undo(s, (size_t)(tab - s)) == -1) {
			rec_free(r);
			return -1;
		}
	}
	return 0;
}

static int
fail(struct frames *f, const char *what, const char *word)
{
	snprintf(f->err, sizeof(f->err), "line %zu: %s%s%s%s", f->line, what,
	    word ? " '" : "", word ? word : "", word ? "'" : "");
	return -1;
}

/* A header: gs, our version, a producer.  Takes r. */
static int
begin(struct frames *f, struct rec *r)
{
	int64_t version = rec_int(r, 1);

	if (!rec_is(r, "gs") || version < 1 || rec_field(r, 2) == NULL) {
		fail(f, "not a gs frame header", NULL);
		rec_free(r);
		return -1;
	}
	if (version > REC_VERSION) {
		snprintf(f->err, sizeof(f->err),
		    "line %zu: records of version %s, but this program reads "
		    "version %d",
		    f->line, rec_field(r, 1), REC_VERSION);
		rec_free(r);
		return -1;
	}
	f->cur.head = *r;
	f->open = true;
	return 0;
}

/* Append a record; the array grows at the powers of two. */
static void
keep(struct frame *f, const struct rec *r)
{
	if ((f->n & (f->n - 1)) == 0)
		f->rec = xreallocarray(
		    f->rec, f->n > 0 ? 2 * f->n : 1, sizeof(*f->rec));
	f->rec[f->n++] = *r;
}

/* One line into the frame.  1 if it ended one, 0, or -1.  Takes r. */
static int
take(struct frames *f, struct rec *r)
{
	bool right;

	if (!f->open)
		return begin(f, r);
	if (rec_is(r, "gs")) {
		rec_free(r);
		return fail(
		    f, "a frame begins inside another (writer died?)", NULL);
	}
	if (!rec_is(r, "end")) {
		keep(&f->cur, r);
		return 0;
	}
	right = rec_int(r, 1) == (int64_t)f->cur.n;
	rec_free(r);
	if (!right)
		return fail(f, "wrong number of records in the frame", NULL);
	return 1;
}

static int
line_next(struct frames *f, const char *line, size_t len)
{
	struct rec r = {0};

	f->line++;
	if (memchr(line, '\0', len) != NULL)
		return fail(f, "a NUL byte", NULL);
	if (len == 0 || line[0] == '#')
		return 0;
	if (split(line, len, &r) == -1)
		return fail(f, "malformed escape", NULL);
	return take(f, &r);
}

void
frames_feed(struct frames *f, const void *p, size_t n)
{
	buf_add(&f->in, p, n);
}

int
frames_next(struct frames *f, struct frame *out)
{
	size_t pos = 0;
	char *lf;
	int got = 0;

	while (got == 0 && pos < f->in.len) {
		lf = memchr(f->in.p + pos, '\n', f->in.len - pos);
		if (lf == NULL)
			break;
		got =
		    line_next(f, f->in.p + pos, (size_t)(lf - (f->in.p + pos)));
		pos = (size_t)(lf - f->in.p) + 1;
	}
	buf_eat(&f->in, pos);
	if (got == 1) {
		*out = f->cur;
		f->cur = (struct frame){0};
		f->open = false;
		f->seen++;
	}
	return got;
}

int
frames_end(struct frames *f)
{
	if (!f->open && f->in.len == 0 && f->seen > 0)
		return 0;
	snprintf(f->err, sizeof(f->err), "truncated input (writer died?)");
	return -1;
}

int
frames_read(struct frames *f, int fd, struct frame *out)
{
	ssize_t n;
	int got;

	while ((got = frames_next(f, out)) == 0) {
		n = buf_read(&f->in, fd, 64 * 1024);
		if (n == -1) {
			snprintf(f->err, sizeof(f->err), "%s", strerror(errno));
			return -1;
		}
		if (n == 0)
			return frames_end(f);
	}
	return got;
}

static void
field(struct recw *w, const char *s)
{
	buf_char(&w->buf, '\t');
	if (s == NULL)
		buf_char(&w->buf, '-');
	else
		esc_add(&w->buf, s, strlen(s));
}

static void
line_close(struct recw *w)
{
	if (w->line)
		buf_char(&w->buf, '\n');
	w->line = false;
}

void
recw_frame(struct recw *w, const char *producer)
{
	buf_printf(&w->buf, "gs\t%d", REC_VERSION);
	field(w, producer);
	w->n = 0;
	w->line = true;
}

void
recw_rec(struct recw *w, const char *tag)
{
	line_close(w);
	buf_str(&w->buf, tag);
	w->n++;
	w->line = true;
}

void
recw_str(struct recw *w, const char *s)
{
	field(w, s);
}

void
recw_int(struct recw *w, int64_t v)
{
	if (v < 0)
		field(w, NULL);
	else
		buf_printf(&w->buf, "\t%lld", (long long)v);
}

void
recw_kstr(struct recw *w, const char *key, const char *s)
{
	if (s == NULL)
		return;
	buf_printf(&w->buf, "\t%s=", key);
	if (strcmp(s, "-") == 0)
		buf_char(&w->buf, '-'); /* "k=-" is no lone dash */
	else
		esc_add(&w->buf, s, strlen(s));
}

void
recw_kint(struct recw *w, const char *key, int64_t v)
{
	if (v >= 0)
		buf_printf(&w->buf, "\t%s=%lld", key, (long long)v);
}

void
recw_copy(struct recw *w, const struct rec *r)
{
	size_t i;

	recw_rec(w, "");
	/* An unknown tag may be anything, even unknown. */
	if (r->field[0] == NULL)
		buf_char(&w->buf, '-');
	else
		esc_add(&w->buf, r->field[0], strlen(r->field[0]));
	for (i = 1; i < r->n; i++)
		field(w, r->field[i]);
}

void
recw_end(struct recw *w)
{
	line_close(w);
	buf_printf(&w->buf, "end\t%zu\n", w->n);
}

int
recw_flush(struct recw *w, int fd)
{
	int rv = fd_write(fd, w->buf.p, w->buf.len);

	buf_reset(&w->buf);
	return rv;
}

void
recw_free(struct recw *w)
{
	buf_free(&w->buf);
}
