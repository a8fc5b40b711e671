/* SPDX-License-Identifier: MIT */
#include "gs-loop/words.h"

#include <stdlib.h>

#include "lib/xalloc.h"

static void
own(struct words *w, char *word)
{
	w->v = xreallocarray(w->v, w->n + 2, sizeof(*w->v));
	w->v[w->n++] = word;
	w->v[w->n] = NULL;
}

void
words_add(struct words *w, const char *word)
{
	own(w, xstrdup(word));
}

void
words_opt(struct words *w, const char *option, const char *value)
{
	if (value == NULL)
		return;
	words_add(w, option);
	words_add(w, value);
}

void
words_int(struct words *w, const char *option, int64_t value)
{
	words_add(w, option);
	own(w, xasprintf("%lld", (long long)value));
}

void
words_ms(struct words *w, const char *option, int64_t ms)
{
	words_add(w, option);
	own(w,
	    xasprintf(
		"%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000)));
}

void
words_free(struct words *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct words){0};
}
