/* SPDX-License-Identifier: MIT */
#include "lib/xalloc.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int xalloc_status = 2;

static void *
checked(void *p)
{
	if (p == NULL)
		err(xalloc_status, "memory");
	return p;
}

void *
xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *
xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *
xreallocarray(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *
xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *
xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n == -1 ? NULL : s);
}
