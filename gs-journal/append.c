/* SPDX-License-Identifier: MIT */
/*
 * append: one event from the command line.  What the fold would ignore (a
 * missing attempt, a state that is none) is refused here, where somebody can
 * still be told.
 */
#include "gs-journal/append.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gs-journal/verb.h"
#include "gs-journal/vocab.h"
#include "lib/fold.h"
#include "lib/gs.h"
#include "lib/journal.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	DIGITS_MAX = 15
}; /* that a double keeps */

void
append_lines(const char *path, const struct buf *lines, bool sync)
{
	struct journal j;

	if (journal_lock(&j, path) == -1) {
		if (errno == ENOENT)
			errx(GS_BAD, "%s: there is no such folder", path);
		err(GS_BAD, "%s", path);
	}
	if (journal_write(&j, lines, sync) == -1)
		err(GS_BAD, "%s: nothing was appended", path);
	journal_unlock(&j);
}

/* -?(0|[1-9][0-9]*)([.][0-9]+)?, and not more digits than survive. */
static bool
is_number(const char *s)
{
	size_t whole, part = 0;

	if (*s == '-')
		s++;
	whole = strspn(s, "0123456789");
	if (whole == 0 || (whole > 1 && *s == '0'))
		return false;
	if (s[whole] == '.') {
		part = strspn(s + whole + 1, "0123456789");
		if (part == 0)
			return false;
		s += part + 1;
	}
	return s[whole] == '\0' && whole + part <= DIGITS_MAX;
}

/* The value behind := */
static cJSON *
raw(const char *key, const char *text)
{
	cJSON *item = cJSON_ParseWithOpts(text, NULL, true);

	if (item == NULL)
		bad_use("'%s:=%s': not JSON", key, text);
	return item;
}

static void
add_any(cJSON *ev, const char *key, const char *value)
{
	if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
		cJSON_AddBoolToObject(ev, key, *value == 't');
	else if (is_number(value))
		cJSON_AddItemToObject(ev, key, raw(key, value));
	else
		json_str(ev, key, value);
}

static void
add_count(cJSON *ev, const char *key, const char *value)
{
	const char *errstr;
	int64_t v = unit_num(value, 0, INT64_C(1) << 53, &errstr);

	if (errstr != NULL)
		bad_use("'%s=%s': %s", key, value, errstr);
	json_int(ev, key, v);
}

static void
add(cJSON *ev, const char *key, const char *value, bool is_raw)
{
	enum vocab_type type = vocab_type(key);

	if (type == VOCAB_OURS)
		bad_use("'%s': not yours to give", key);
	if (cJSON_GetObjectItemCaseSensitive(ev, key) != NULL)
		bad_use("'%s': given twice", key);
	if (is_raw)
		cJSON_AddItemToObject(ev, key, raw(key, value));
	else if (type == VOCAB_STRING)
		json_str(ev, key, value);
	else if (type == VOCAB_LIST)
		json_list(ev, key, value);
	else if (type == VOCAB_COUNT)
		add_count(ev, key, value);
	else
		add_any(ev, key, value);
}

/* KEY=VALUE or KEY:=JSON. */
static void
add_word(cJSON *ev, const char *word)
{
	const char *p = word;
	bool is_raw;
	char *key;

	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	is_raw = p[0] == ':' && p[1] == '=';
	if (p == word || isdigit((unsigned char)*word) ||
	    (*p != '=' && !is_raw))
		bad_use("'%s': not KEY=VALUE", word);
	key = xstrndup(word, (size_t)(p - word));
	add(ev, key, p + (is_raw ? 2 : 1), is_raw);
	free(key);
}

/* Is it a word that the fold knows? */
static void
check_words(const cJSON *ev, const char *name)
{
	char *state = json_get_str(ev, "state");
	char *cause = json_get_str(ev, "cause");
	int s = state == NULL ? -1 : state_parse(state);

	if (strcmp(name, "done") == 0 &&
	    (s == -1 || !state_is_terminal((enum job_state)s)))
		bad_use("done: no terminal state in 'state'");
	if (strcmp(name, "exit") == 0 &&
	    (cause == NULL || cause_parse(cause) == -1))
		bad_use("exit: no known cause in 'cause'");
	free(state);
	free(cause);
}

static cJSON *
event_of(const struct vocab_event *v, char *const *word, size_t n)
{
	cJSON *ev = event_new(v->name, event_now());
	size_t i;

	for (i = 0; i < n; i++)
		add_word(ev, word[i]);
	for (i = 0; i < sizeof(v->needs) / sizeof(v->needs[0]); i++)
		if (v->needs[i] != NULL &&
		    cJSON_GetObjectItemCaseSensitive(ev, v->needs[i]) == NULL)
			bad_use("%s: needs %s=", v->name, v->needs[i]);
	check_words(ev, v->name);
	return ev;
}

int
verb_append(const struct opts *o)
{
	const struct vocab_event *v;
	struct buf line = {0};
	cJSON *ev;

	if (o->narg == 0)
		return append_frames(o->path);
	v = vocab_find(o->arg[0]);
	if (v == NULL)
		bad_use("'%s': no such event (there are: %s)", o->arg[0],
		    vocab_names());
	ev = event_of(v, o->arg + 1, o->narg - 1);
	event_line(&line, ev);
	cJSON_Delete(ev);
	if (line.len > JOURNAL_LINE_MAX)
		errx(GS_BAD, "the event is longer than 1 MiB");
	/* What nobody could read back is not written. */
	ev = event_parse(line.p, line.len - 1);
	if (ev == NULL)
		errx(GS_BAD, "the event is nested deeper than %d",
		    JOURNAL_DEPTH_MAX);
	cJSON_Delete(ev);
	append_lines(o->path, &line, v->sync);
	buf_free(&line);
	return GS_OK;
}
