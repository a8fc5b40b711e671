/* SPDX-License-Identifier: MIT */
#include "gs-probe/select.h"

#include <stdlib.h>
#include <string.h>

#include "lib/unit.h"
#include "lib/xalloc.h"
#include "gs-probe/say.h"
#include "gs-probe/snap.h"

bool
select_valid(const char *gpus, struct buf *word)
{
	char *list = xstrdup(gpus), *rest = list, *w;
	const char *errstr = NULL;
	struct buf seen = {0};
	bool twice = false;

	buf_char(&seen, ',');
	while (errstr == NULL && !twice && (w = strsep(&rest, ",")) != NULL) {
		buf_reset(word);
		buf_printf(word, ",%lld,",
		    (long long)unit_num(w, 0, INT32_MAX, &errstr));
		twice = strstr(seen.p, word->p) != NULL;
		buf_str(&seen, word->p + 1);
		buf_reset(word);
		buf_str(word, w);
	}
	buf_free(&seen);
	free(list);
	return errstr == NULL && !twice;
}

/* The GPU that a word of a list means: a number, a UUID or its beginning. */
static ssize_t
find(const struct snap *s, const char *word)
{
	const char *errstr;
	int64_t index = unit_num(word, 0, INT32_MAX, &errstr);
	ssize_t found = -1;
	size_t i;

	if (errstr == NULL)
		return snap_by_index(s, index);
	for (i = 0; i < s->ngpu; i++) {
		if (s->gpu[i].uuid == NULL ||
		    strncmp(s->gpu[i].uuid, word, strlen(word)) != 0)
			continue;
		if (found != -1)
			return -1; /* it could be either */
		found = (ssize_t)i;
	}
	return found;
}

static bool
has(const size_t *pos, size_t n, size_t want)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (pos[i] == want)
			return true;
	return false;
}

/*
 * Positions of what CUDA_VISIBLE_DEVICES lets through.  As CUDA has it, the
 * first word that means nothing ends the list: -1, NoDevFiles, a mistake.
 */
static size_t
visible(const char *value, const struct snap *s, size_t *pos)
{
	char *list = xstrdup(value), *rest = list, *w;
	size_t n = 0;
	ssize_t at;

	while (*value != '\0' && (w = strsep(&rest, ",")) != NULL) {
		w += strspn(w, " ");
		at = *w != '\0' ? find(s, w) : -1;
		if (at == -1) {
			if (strcmp(w, "-1") != 0 &&
			    strcmp(w, "NoDevFiles") != 0)
				say("CUDA_VISIBLE_DEVICES '%s': no such GPU",
				    w);
			break;
		}
		if (!has(pos, n, (size_t)at))
			pos[n++] = (size_t)at;
	}
	free(list);
	return n;
}

/* Of the n positions, those that --gpus names, in its order. */
static ssize_t
named(const char *gpus, const struct snap *s, size_t *pos, size_t n,
    struct buf *why)
{
	char *list = xstrdup(gpus), *rest = list, *w;
	size_t *out = xcalloc(s->ngpu, sizeof(*out)), nout = 0;
	ssize_t at = 0;

	while (at != -1 && (w = strsep(&rest, ",")) != NULL) {
		at = find(s, w);
		if (at == -1)
			buf_printf(why, "--gpus '%s': no such GPU", w);
		else if (!has(pos, n, (size_t)at))
			buf_printf(why,
			    "--gpus '%s': CUDA_VISIBLE_DEVICES "
			    "leaves it out",
			    w);
		else
			out[nout++] = (size_t)at;
		if (why->len > 0)
			at = -1;
	}
	memcpy(pos, out, nout * sizeof(*pos));
	free(out);
	free(list);
	return at == -1 ? -1 : (ssize_t)nout;
}

static int
choose(struct select *sel, const struct snap *s, struct buf *why)
{
	size_t *pos = xcalloc(s->ngpu, sizeof(*pos)), i;
	ssize_t n = (ssize_t)s->ngpu;

	for (i = 0; i < s->ngpu; i++)
		pos[i] = i;
	if (sel->visible != NULL)
		n = (ssize_t)visible(sel->visible, s, pos);
	if (sel->gpus != NULL)
		n = named(sel->gpus, s, pos, (size_t)n, why);
	sel->chosen = xcalloc(n > 0 ? (size_t)n : 1, sizeof(*sel->chosen));
	for (i = 0; n > 0 && i < (size_t)n; i++) {
		sel->chosen[i].index = s->gpu[pos[i]].index;
		if (s->gpu[pos[i]].uuid != NULL)
			sel->chosen[i].uuid = xstrdup(s->gpu[pos[i]].uuid);
	}
	free(pos);
	if (n == -1) {
		free(sel->chosen);
		sel->chosen = NULL;
		return -1;
	}
	sel->n = (size_t)n;
	sel->done = true;
	return 0;
}

int
select_apply(struct select *sel, struct snap *s, struct buf *why)
{
	const struct chosen *c;
	size_t *pos, n = 0, i;
	ssize_t at;

	if (sel->gpus == NULL && sel->visible == NULL)
		return 0;
	if (!sel->done && choose(sel, s, why) == -1)
		return -1;
	pos = xcalloc(sel->n, sizeof(*pos));
	for (i = 0; i < sel->n; i++) {
		c = &sel->chosen[i];
		at = c->uuid != NULL ? snap_by_uuid(s, c->uuid)
				     : snap_by_index(s, c->index);
		if (at != -1)
			pos[n++] = (size_t)at;
		else
			say("GPU %lld (%s) is not there any more",
			    (long long)c->index, c->uuid ? c->uuid : "-");
	}
	snap_keep(s, pos, n);
	free(pos);
	return 0;
}

void
select_free(struct select *sel)
{
	size_t i;

	for (i = 0; i < sel->n; i++)
		free(sel->chosen[i].uuid);
	free(sel->chosen);
	*sel = (struct select){0};
}
