/* SPDX-License-Identifier: MIT */
#include "gs-probe/sysfile.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	TEXT_MAX = 64 * 1024
};

char *
sys_path(const char *fmt, ...)
{
	const char *root = getenv("GS_SYSROOT");
	char *path, *full;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&path, fmt, ap);
	va_end(ap);
	if (n == -1)
		err(xalloc_status, "memory");
	full = xasprintf("%s%s", root != NULL ? root : "", path);
	free(path);
	return full;
}

int
sys_text(const char *path, struct buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rv;

	buf_reset(b);
	if (fd == -1)
		return -1;
	rv = buf_read_all(b, fd, TEXT_MAX);
	close(fd);
	while (rv == 0 && b->len > 0 && b->p[b->len - 1] == '\n')
		b->p[--b->len] = '\0';
	return rv;
}

int64_t
sys_parse(const char *s)
{
	char word[32];
	const char *errstr;
	size_t n;

	s += strspn(s, " \t");
	n = strcspn(s, " \t\n");
	if (n == 0 || n >= sizeof(word))
		return -1;
	memcpy(word, s, n);
	word[n] = '\0';
	return unit_num(word, 0, INT64_MAX, &errstr);
}

int64_t
sys_number(const char *path)
{
	struct buf b = {0};
	int64_t v = -1;

	if (sys_text(path, &b) == 0 && b.len > 0)
		v = sys_parse(b.p);
	buf_free(&b);
	return v;
}

const char *
sys_line(const char *text, const char *key, const char *seps)
{
	size_t n = strlen(key);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, key, n) == 0 && text[n] != '\0' &&
		    strchr(seps, text[n]) != NULL)
			return text + n + 1;
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
	return NULL;
}

static int
ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t *
sys_numbers(const char *path, size_t *n)
{
	const char *errstr;
	struct dirent *de;
	int64_t *v = NULL, x;
	DIR *d = opendir(path);

	*n = 0;
	if (d == NULL)
		return NULL;
	while ((de = readdir(d)) != NULL) {
		x = unit_num(de->d_name, 0, INT64_MAX, &errstr);
		if (errstr != NULL)
			continue;
		v = xreallocarray(v, *n + 1, sizeof(*v));
		v[(*n)++] = x;
	}
	closedir(d);
	if (*n > 0)
		qsort(v, *n, sizeof(*v), ascending);
	return v;
}
