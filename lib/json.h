/* SPDX-License-Identifier: MIT */
/*
 * cJSON, wrapped once.  JSON text is UTF-8, commands are bytes: a value that
 * is not UTF-8 is stored with backslashes doubled and bytes from 0x80 on as
 * \ooo, and its key is listed in "esc", so that the bytes come back.
 */
#ifndef GS_JSON_H
#define GS_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

/* Adders die on memory exhaustion; a NULL string or negative number is left
 * out. */
void json_str(cJSON *o, const char *key, const char *bytes);
void json_int(cJSON *o, const char *key, int64_t v);
void json_real(cJSON *o, const char *key, double v);
void json_true(cJSON *o, const char *key);

/* "a,b" as an array of strings; NULL or "" as an empty array. */
void json_list(cJSON *o, const char *key, const char *csv);

/*
 * A string's bytes, to be freed by the caller; NULL if it is absent or no
 * string.
 */
char *json_get_str(const cJSON *o, const char *key);

/* An array of strings as "a,b", to be freed; NULL if absent or empty. */
char *json_get_list(const cJSON *o, const char *key);

/* A whole number from 0 to 2^53; -1 if it is absent or no such number. */
int64_t json_get_int(const cJSON *o, const char *key);
double json_get_real(const cJSON *o, const char *key, double absent);
bool json_get_true(const cJSON *o, const char *key);

#endif
