/* SPDX-License-Identifier: MIT */
#include "gs-probe/say.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/esc.h"
#include "lib/xalloc.h"

enum {
	SAID_MAX = 64
};

static char *said[SAID_MAX];
static size_t nsaid;

static void
forget(void)
{
	while (nsaid > 0)
		free(said[--nsaid]);
}

void
say(const char *fmt, ...)
{
	struct buf shown = {0};
	char *text;
	va_list ap;
	size_t i;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		err(xalloc_status, "memory");
	for (i = 0; i < nsaid; i++)
		if (strcmp(said[i], text) == 0) {
			free(text);
			return;
		}
	/* Rather say something twice than keep it quiet for ever. */
	if (nsaid == SAID_MAX)
		forget();
	said[nsaid++] = text;
	esc_show(&shown, text, 0);
	warnx("%s", shown.p != NULL ? shown.p : "");
	buf_free(&shown);
}
