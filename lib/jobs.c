/* SPDX-License-Identifier: MIT */
/*
 * The jobs file, parsed in one pass.
 *
 * - Each line is cut out, trimmed, split into block and command.
 * - A table of the ids given so far, sized for the number of lines before it
 *   starts, counts equal commands and finds names used twice.  So a file of
 *   100,000 lines costs as many look-ups.
 * - It counts ids, not commands: should two commands have the same 48 bits,
 *   the second is ".2" and still has an id of its own.
 */
#include "lib/jobs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "lib/xalloc.h"

enum {
	HASH_LEN = 12
};

struct slot {
	size_t job; /* place in jobs.v of the first that has the id, plus 1 */
	size_t count; /* lines with the same command so far */
};

/* A file being parsed. */
struct parse {
	struct jobs jobs;
	size_t cap; /* of jobs.v */
	struct slot *slot;
	size_t mask; /* slots less one; a power of two less one */
	struct jobs_err *e;
};

void
jobs_hash(const char *cmd, char *out)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];

	SHA256Data((const uint8_t *)cmd, strlen(cmd), hex);
	memcpy(out, hex, HASH_LEN);
	out[HASH_LEN] = '\0';
}

static void
job_free(struct jobline *j)
{
	attr_free(&j->attr);
	free(j->cmd);
	free(j->id);
}

void
jobs_free(struct jobs *j)
{
	size_t i;

	for (i = 0; i < j->n; i++)
		job_free(&j->v[i]);
	free(j->v);
	*j = (struct jobs){0};
}

static int
fail(struct parse *p, size_t line, const char *word, const char *msg)
{
	p->e->line = line;
	snprintf(p->e->word, sizeof(p->e->word), "%s", word);
	snprintf(p->e->msg, sizeof(p->e->msg), "%s", msg);
	return -1;
}

/* The slot of an id, or the free one where it belongs (FNV-1a, linear). */
static struct slot *
slot_find(const struct parse *p, const char *id)
{
	uint64_t h = UINT64_C(14695981039346656037);
	const char *s;
	size_t i;

	for (s = id; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	i = (size_t)h & p->mask;
	while (p->slot[i].job > 0 &&
	    strcmp(p->jobs.v[p->slot[i].job - 1].id, id) != 0)
		i = (i + 1) & p->mask;
	return &p->slot[i];
}

/* Give the last job its id. */
static int
identify(struct parse *p)
{
	struct jobline *j = &p->jobs.v[p->jobs.n - 1];
	char hash[HASH_LEN + 1], msg[64];
	struct slot *s;

	if (j->attr.name == NULL)
		jobs_hash(j->cmd, hash);
	s = slot_find(p, j->attr.name != NULL ? j->attr.name : hash);
	if (s->job == 0)
		s->job = p->jobs.n;
	s->count++;
	if (j->attr.name == NULL) {
		j->id = s->count == 1 ? xstrdup(hash)
				      : xasprintf("%s.%zu", hash, s->count);
		return 0;
	}
	j->id = xstrdup(j->attr.name);
	if (s->count == 1)
		return 0;
	snprintf(msg, sizeof(msg), "name already used in line %zu",
	    p->jobs.v[s->job - 1].line);
	return fail(p, j->line, j->attr.name, msg);
}

static int
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Take in a line that is trimmed and holds a job. */
static int
job_add(struct parse *p, char *text, size_t line)
{
	struct attr_err ae;
	struct jobline *j;
	long len = 0;

	if (p->jobs.n == p->cap) {
		p->cap = p->cap > 0 ? 2 * p->cap : 64;
		p->jobs.v =
		    xreallocarray(p->jobs.v, p->cap, sizeof(*p->jobs.v));
	}
	j = &p->jobs.v[p->jobs.n];
	*j = (struct jobline){.line = line};
	attr_init(&j->attr);
	if (text[0] == '[')
		len = attr_parse(text, &j->attr, &ae);
	if (len == -1)
		return fail(p, line, ae.word, ae.msg);
	p->jobs.n++;
	while (is_blank(text[len]))
		len++;
	if (text[len] == '\0')
		return fail(p, line, "", "no command behind the block");
	j->cmd = xstrdup(text + len);
	return identify(p);
}

static int
line_add(struct parse *p, const char *s, size_t len, size_t line)
{
	char *text;
	int rv;

	if (memchr(s, '\0', len) != NULL)
		return fail(p, line, "", "a NUL byte");
	if (len > JOBS_LINE_MAX)
		return fail(p, line, "", "line over 128 KiB");
	while (len > 0 && is_blank(s[len - 1]))
		len--;
	while (len > 0 && is_blank(s[0])) {
		s++;
		len--;
	}
	if (len == 0 || s[0] == '#')
		return 0;
	text = xstrndup(s, len);
	rv = job_add(p, text, line);
	free(text);
	return rv;
}

static size_t
count_lines(const char *s, const char *end)
{
	size_t n = 1;

	for (; (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
		n++;
	return n;
}

static int
parse_lines(struct parse *p, const char *s, const char *end)
{
	const char *lf;
	size_t line;
	int rv = 0;

	for (line = 1; rv == 0 && s < end; line++) {
		lf = memchr(s, '\n', (size_t)(end - s));
		if (lf == NULL)
			lf = end;
		rv = line_add(p, s, (size_t)(lf - s), line);
		s = lf < end ? lf + 1 : end;
	}
	return rv;
}

int
jobs_parse(const char *text, size_t len, struct jobs *out, struct jobs_err *e)
{
	const char *end = text + len;
	struct parse p = {.e = e};
	size_t lines;
	int rv;

	*out = (struct jobs){0};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	if (text == end)
		return 0;
	lines = count_lines(text, end);
	for (p.mask = 1; p.mask < 2 * lines; p.mask = 2 * p.mask + 1)
		;
	p.slot = xcalloc(p.mask + 1, sizeof(*p.slot));
	rv = parse_lines(&p, text, end);
	free(p.slot);
	if (rv == 0)
		*out = p.jobs;
	else
		jobs_free(&p.jobs);
	return rv;
}

void
jobs_err_format(struct buf *b, const char *file, const struct jobs_err *e)
{
	buf_printf(b, "%s:%zu: ", file, e->line);
	if (e->word[0] != '\0')
		buf_printf(b, "'%s': ", e->word);
	buf_str(b, e->msg);
}
