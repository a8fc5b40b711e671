/* SPDX-License-Identifier: MIT */
/*
 * The attribute block of gs-jobs(5).
 *
 * - The end of the block is found first, so that a block left open is told
 *   from an unknown word, and the words are read within these bounds.
 * - One table says of each attribute its kind, its field and its bounds, and
 *   in its order blocks are written.  A new attribute is a line there and a
 *   field in struct attr.
 * - What one word alone cannot show wrong (presets that contradict each other)
 *   is checked at the end.
 */
#include "lib/attr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attrlex.h"
#include "lib/esc.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	NAME_MAX_LEN = 255,
	GPUS_MAX = 64,
	RETRIES_MAX = 1000,
	HASH_LEN = 12, /* what jobs_hash() makes */
};

enum kind {
	FLAG,
	MIB,
	MS,
	NUMBER,
	LABEL, /* a word of a list: no blank, no comma */
	NAME, /* a label that is taken for no number and no hash */
	TEXT,
	LABELS,
};

struct known {
	const char *name;
	enum kind kind;
	size_t off;
	int64_t min;
	int64_t max;
};

#define HINT " (a command that begins with '[' needs '[]' before it)"

#define FIELD(x) offsetof(struct attr, x)

static const struct known known[] = {
    {"vram", MIB, FIELD(vram_mib), 1, 0},
    {"gpus", NUMBER, FIELD(gpus), 0, GPUS_MAX},
    {"cpu", FLAG, FIELD(cpu), 0, 0},
    {"light", FLAG, FIELD(light), 0, 0},
    {"exclusive", FLAG, FIELD(exclusive), 0, 0},
    {"on", TEXT, FIELD(on), 0, 0},
    {"timeout", MS, FIELD(timeout_ms), 1, 0},
    {"eta", MS, FIELD(eta_ms), 1, 0},
    {"retries", NUMBER, FIELD(retries), 0, RETRIES_MAX},
    {"after", LABELS, FIELD(after), 0, 0},
    {"name", NAME, FIELD(name), 0, 0},
    {"tag", LABEL, FIELD(tag), 0, 0},
    {"cwd", TEXT, FIELD(cwd), 0, 0},
    {"env", TEXT, FIELD(env), 0, 0},
    {"restartable", FLAG, FIELD(restartable), 0, 0},
    {"resumable", FLAG, FIELD(resumable), 0, 0},
    {"linger", FLAG, FIELD(linger), 0, 0},
    {"hold", FLAG, FIELD(hold), 0, 0},
    {"cancel", FLAG, FIELD(cancel), 0, 0},
};

enum {
	NKNOWN = sizeof(known) / sizeof(known[0])
};

static void *
field(const struct attr *a, const struct known *k)
{
	return (char *)(uintptr_t)a + k->off;
}

static int64_t *
field_int(const struct attr *a, const struct known *k)
{
	return field(a, k);
}

static bool *
field_flag(const struct attr *a, const struct known *k)
{
	return field(a, k);
}

static char **
field_str(const struct attr *a, const struct known *k)
{
	return field(a, k);
}

/* Blame the word, made fit to be printed. */
static int
fail(struct attr_err *e, const char *word, size_t len, const char *msg)
{
	struct buf raw = {0}, b = {0};

	buf_add(&raw, word, len);
	esc_show(&b, raw.p, sizeof(e->word) - 1);
	/* A character can be longer than the one column it is counted as. */
	while (b.len > sizeof(e->word) - 1)
		do
			b.len--;
		while (((unsigned char)b.p[b.len] & 0xc0) == 0x80);
	snprintf(e->word, sizeof(e->word), "%.*s", (int)b.len,
	    b.p != NULL ? b.p : "");
	snprintf(e->msg, sizeof(e->msg), "%s", msg);
	buf_free(&raw);
	buf_free(&b);
	return -1;
}

/* A shell command that begins with the program "[", most likely. */
static bool
is_test_command(const char *s)
{
	return attrlex_is_blank(s[1]) || s[1] == '[';
}

/* Blame the beginning of the block. */
static int
fail_block(struct attr_err *e, const char *s, const char *why)
{
	char msg[sizeof(e->msg)];
	size_t n = 1;

	while (!attrlex_is_end(s[n]) && !attrlex_is_blank(s[n]) &&
	    n < sizeof(e->word))
		n++;
	snprintf(msg, sizeof(msg), "%s%s", why, is_test_command(s) ? HINT : "");
	return fail(e, s, n, msg);
}

static bool
label_ok(const char *s)
{
	size_t i;

	for (i = 0; s[i] != '\0'; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == ',' || s[i] == 0x7f)
			return false;
	return i > 0 && i <= NAME_MAX_LEN && esc_is_utf8(s, i);
}

/* "0123456789ab" or "0123456789ab.2", which are ids of commands. */
static bool
is_hash(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	if (n != HASH_LEN)
		return false;
	return s[n] == '\0' ||
	    (s[n] == '.' && s[n + 1 + strspn(s + n + 1, "0123456789")] == '\0');
}

static const char *
name_bad(const char *s)
{
	if (!label_ok(s))
		return strlen(s) > NAME_MAX_LEN ? "too long" : "invalid";
	if (s[strspn(s, "0123456789")] == '\0')
		return "a name of digits only would be a job number";
	if (is_hash(s))
		return "a name like an id of a command";
	return NULL;
}

/* "a,b,c"; NULL or what is wrong. */
static const char *
labels_add(struct attr *a, char *list)
{
	char *one;

	while ((one = strsep(&list, ",")) != NULL) {
		if (!label_ok(one))
			return "invalid";
		a->after =
		    xreallocarray(a->after, a->nafter + 1, sizeof(*a->after));
		a->after[a->nafter++] = xstrdup(one);
	}
	return NULL;
}

static const char *
number_set(int64_t *to, const struct known *k, const char *value)
{
	const char *errstr;
	int64_t v;

	if (k->kind == MIB)
		v = unit_mib(value, &errstr);
	else if (k->kind == MS)
		v = unit_ms(value, &errstr);
	else
		v = unit_num(value, k->min, k->max, &errstr);
	if (errstr == NULL && v < k->min)
		errstr = "too small";
	if (errstr == NULL)
		*to = v;
	return errstr;
}

/* Take a value in; NULL, or what is wrong with it. */
static const char *
value_set(struct attr *a, const struct known *k, char *value)
{
	const char *bad = NULL;

	switch (k->kind) {
	case FLAG:
		return "takes no value";
	case MIB:
	case MS:
	case NUMBER:
		return number_set(field_int(a, k), k, value);
	case LABELS:
		return labels_add(a, value);
	case NAME:
		bad = name_bad(value);
		break;
	case LABEL:
		bad = label_ok(value) ? NULL : "invalid";
		break;
	case TEXT:
		break;
	}
	if (bad == NULL)
		*field_str(a, k) = xstrdup(value);
	return bad;
}

static const struct known *
lookup(const struct word *w)
{
	size_t i;

	for (i = 0; i < NKNOWN; i++)
		if (strlen(known[i].name) == w->name_len &&
		    memcmp(known[i].name, w->s, w->name_len) == 0)
			return &known[i];
	return NULL;
}

/* One word into *a; NULL, or what is wrong.  *seen has a bit for each kind. */
static const char *
word_take(struct attr *a, const struct word *w, uint32_t *seen)
{
	const struct known *k = lookup(w);
	uint32_t bit;

	if (k == NULL)
		return "unknown attribute";
	bit = UINT32_C(1) << (k - known);
	if (*seen & bit)
		return "given twice";
	*seen |= bit;
	if (!attrlex_quoting_ok(w))
		return "quotes must enclose the whole value";
	if (w->value == NULL && k->kind == FLAG) {
		*field_flag(a, k) = true;
		return NULL;
	}
	if (k->kind != FLAG && (w->value == NULL || w->value[0] == '\0'))
		return "value missing";
	return value_set(a, k, w->value);
}

static bool
was_seen(uint32_t seen, const char *name)
{
	size_t i = 0;

	while (strcmp(known[i].name, name) != 0)
		i++;
	return seen >> i & 1;
}

/* Presets that contradict each other, or a number that contradicts one. */
static int
check(struct attr *a, uint32_t seen, struct attr_err *e)
{
	bool gpus = was_seen(seen, "gpus");

	if (a->cpu && gpus && a->gpus != 0)
		return fail(e, "cpu", 3, "contradicts gpus");
	if (gpus && a->gpus == 0)
		a->cpu = true;
	if (a->cpu)
		a->gpus = 0;
	if (a->cpu && a->vram_mib >= 0)
		return fail(e, "vram", 4, "contradicts cpu or gpus=0");
	if (a->cpu && a->on != NULL)
		return fail(e, "on", 2, "contradicts cpu or gpus=0");
	if (a->light && a->cpu)
		return fail(e, "light", 5, "contradicts cpu or gpus=0");
	if (a->light && a->exclusive)
		return fail(e, "exclusive", 9, "contradicts light");
	if (a->light && a->gpus > 1)
		return fail(e, "light", 5, "contradicts gpus");
	if (a->exclusive && gpus && a->gpus != 0)
		return fail(
		    e, "exclusive", 9, "contradicts gpus (it takes every GPU)");
	return 0;
}

void
attr_init(struct attr *a)
{
	*a = (struct attr){
	    .vram_mib = -1,
	    .timeout_ms = -1,
	    .eta_ms = -1,
	    .gpus = 1,
	    .retries = -1,
	};
}

void
attr_free(struct attr *a)
{
	size_t i;

	for (i = 0; i < a->nafter; i++)
		free(a->after[i]);
	free(a->after);
	free(a->name);
	free(a->tag);
	free(a->on);
	free(a->cwd);
	free(a->env);
	attr_init(a);
}

long
attr_parse(const char *s, struct attr *a, struct attr_err *e)
{
	const char *bad = NULL;
	uint32_t seen = 0;
	struct word w;
	size_t i = 1;
	long len;

	attr_init(a);
	if (s[0] != '[')
		return fail(e, s, strcspn(s, " \t\n"), "no attribute block");
	len = attrlex_block(s, &bad);
	if (len == -1)
		return fail_block(e, s, bad);
	while (bad == NULL && attrlex_word(s, &i, (size_t)len - 1, &w)) {
		bad = word_take(a, &w, &seen);
		if (bad != NULL && lookup(&w) == NULL && is_test_command(s))
			bad = "unknown attribute" HINT;
		if (bad != NULL)
			fail(e, w.s, w.len, bad);
		free(w.value);
	}
	if (bad != NULL || check(a, seen, e) == -1) {
		attr_free(a);
		return -1;
	}
	return len;
}

int
attr_parse_all(const char *s, struct attr *a, struct attr_err *e)
{
	long len = attr_parse(s, a, e);

	if (len == -1)
		return -1;
	if (s[len] == '\0')
		return 0;
	attr_free(a);
	return fail(e, s + len, strlen(s + len), "text behind the block");
}

static void
value_format(struct buf *b, const char *s)
{
	if (s[strcspn(s, " \t]\"\\")] == '\0') {
		buf_str(b, s);
		return;
	}
	buf_char(b, '"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			buf_char(b, '\\');
		buf_char(b, *s);
	}
	buf_char(b, '"');
}

/* The largest unit that divides it, so that people know what they wrote. */
static void
ms_format(struct buf *b, int64_t ms)
{
	if (ms % 86400000 == 0)
		buf_printf(b, "%lldd", (long long)ms / 86400000);
	else if (ms % 3600000 == 0)
		buf_printf(b, "%lldh", (long long)ms / 3600000);
	else if (ms % 60000 == 0)
		buf_printf(b, "%lldm", (long long)ms / 60000);
	else if (ms % 1000 == 0)
		buf_printf(b, "%llds", (long long)ms / 1000);
	else
		buf_printf(b, "%lld.%03llds", (long long)ms / 1000,
		    (long long)ms % 1000);
}

static void
int_format(struct buf *b, enum kind kind, int64_t v)
{
	if (kind == MS)
		ms_format(b, v);
	else if (kind == MIB && v % 1024 == 0)
		buf_printf(b, "%lldG", (long long)v / 1024);
	else
		buf_printf(b, "%lld", (long long)v);
}

/* Does it differ from the default? */
static bool
is_said(const struct attr *a, const struct known *k)
{
	switch (k->kind) {
	case FLAG:
		return *field_flag(a, k);
	case MIB:
	case MS:
		return *field_int(a, k) >= 0;
	case NUMBER:
		/* A job without GPUs is "cpu". */
		if (k->off == FIELD(gpus))
			return a->gpus != 1 && !a->cpu;
		return *field_int(a, k) >= 0;
	case LABEL:
	case NAME:
	case TEXT:
		return *field_str(a, k) != NULL;
	case LABELS:
		return a->nafter > 0;
	}
	return false;
}

static void
labels_format(struct buf *b, const struct attr *a)
{
	struct buf list = {0};
	size_t i;

	for (i = 0; i < a->nafter; i++) {
		if (i > 0)
			buf_char(&list, ',');
		buf_str(&list, a->after[i]);
	}
	value_format(b, list.p);
	buf_free(&list);
}

void
attr_format(struct buf *b, const struct attr *a)
{
	const struct known *k;
	const char *sep = "";

	buf_char(b, '[');
	for (k = known; k < known + NKNOWN; k++) {
		if (!is_said(a, k))
			continue;
		buf_printf(
		    b, "%s%s%s", sep, k->name, k->kind == FLAG ? "" : "=");
		if (k->kind == LABELS)
			labels_format(b, a);
		else if (k->kind == LABEL || k->kind == NAME || k->kind == TEXT)
			value_format(b, *field_str(a, k));
		else if (k->kind != FLAG)
			int_format(b, k->kind, *field_int(a, k));
		sep = " ";
	}
	buf_char(b, ']');
}
