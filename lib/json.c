/* SPDX-License-Identifier: MIT */
#include "lib/json.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/esc.h"
#include "lib/xalloc.h"

/* Whole numbers up to here are exact in a double. */
#define INT_EXACT 9007199254740992.0

/* cJSON gives NULL only when memory is out. */
static cJSON *
made(cJSON *item)
{
	if (item == NULL)
		err(xalloc_status, "memory");
	return item;
}

/*
 * cJSON's own search compares every key in full, which was a sixth of the
 * time to read a journal.
 */
static cJSON *
get(const cJSON *o, const char *key)
{
	cJSON *item;

	cJSON_ArrayForEach(item, o)
		if (item->string != NULL && item->string[0] == key[0] &&
		    strcmp(item->string, key) == 0)
			return item;
	return NULL;
}

/* Note that the value of `key` is stored escaped. */
static void
esc_mark(cJSON *o, const char *key)
{
	cJSON *list = get(o, "esc");

	if (list == NULL)
		list = made(cJSON_AddArrayToObject(o, "esc"));
	cJSON_AddItemToArray(list, made(cJSON_CreateString(key)));
}

static bool
esc_marked(const cJSON *o, const char *key)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, get(o, "esc"))
		if (cJSON_IsString(item) && strcmp(item->valuestring, key) == 0)
			return true;
	return false;
}

/* All but ASCII as octal escapes: the text is not UTF-8 anyway. */
static void
esc_bytes(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '\\')
			buf_str(b, "\\\\");
		else if ((unsigned char)*s < 0x80)
			buf_char(b, *s);
		else
			buf_printf(b, "\\%03o", (unsigned char)*s);
	}
}

void
json_str(cJSON *o, const char *key, const char *bytes)
{
	struct buf b = {0};

	if (bytes == NULL)
		return;
	if (esc_is_utf8(bytes, strlen(bytes))) {
		made(cJSON_AddStringToObject(o, key, bytes));
		return;
	}
	esc_bytes(&b, bytes);
	made(cJSON_AddStringToObject(o, key, b.p));
	buf_free(&b);
	esc_mark(o, key);
}

void
json_int(cJSON *o, const char *key, int64_t v)
{
	if (v >= 0)
		made(cJSON_AddNumberToObject(o, key, (double)v));
}

void
json_real(cJSON *o, const char *key, double v)
{
	if (v >= 0)
		made(cJSON_AddNumberToObject(o, key, v));
}

void
json_true(cJSON *o, const char *key)
{
	made(cJSON_AddTrueToObject(o, key));
}

void
json_list(cJSON *o, const char *key, const char *csv)
{
	cJSON *list = made(cJSON_AddArrayToObject(o, key));
	char *copy, *rest, *word;

	if (csv == NULL || *csv == '\0')
		return;
	copy = rest = xstrdup(csv);
	while ((word = strsep(&rest, ",")) != NULL)
		cJSON_AddItemToArray(list, made(cJSON_CreateString(word)));
	free(copy);
}

char *
json_get_str(const cJSON *o, const char *key)
{
	const cJSON *item = get(o, key);
	char *s, *raw;

	if (!cJSON_IsString(item))
		return NULL;
	s = xstrdup(item->valuestring);
	if (!esc_marked(o, key))
		return s;
	raw = xstrdup(s);
	/* Not an escape of ours after all: better as it stands than lost. */
	if (esc_undo(s, strlen(s)) == -1) {
		free(s);
		return raw;
	}
	free(raw);
	return s;
}

char *
json_get_list(const cJSON *o, const char *key)
{
	const cJSON *item;
	struct buf b = {0};

	cJSON_ArrayForEach(item, get(o, key)) {
		if (!cJSON_IsString(item))
			continue;
		if (b.len > 0)
			buf_char(&b, ',');
		buf_str(&b, item->valuestring);
	}
	return b.p;
}

int64_t
json_get_int(const cJSON *o, const char *key)
{
	double v = json_get_real(o, key, -1);

	if (!(v >= 0 && v <= INT_EXACT) || v != floor(v))
		return -1;
	return (int64_t)v;
}

double
json_get_real(const cJSON *o, const char *key, double absent)
{
	const cJSON *item = get(o, key);

	return cJSON_IsNumber(item) ? item->valuedouble : absent;
}

bool
json_get_true(const cJSON *o, const char *key)
{
	return cJSON_IsTrue(get(o, key));
}
