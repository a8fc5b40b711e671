/* SPDX-License-Identifier: MIT */
#include "gs-probe/check.h"

#include <stdio.h>

#include "lib/esc.h"
#include "gs-probe/snap.h"

static void
say_no(const struct backend *b, const char *why)
{
	const char *advice = b->advice != NULL ? b->advice(why) : NULL;
	struct buf shown = {0};

	esc_show(&shown, why, 0);
	printf("%s: does not work: %s\n", b->name, shown.p);
	if (advice != NULL)
		printf("%s: %s\n", b->name, advice);
	buf_free(&shown);
}

static bool
check_one(const struct backend *b, const struct backend_conf *conf)
{
	struct buf why = {0};
	struct snap s = {0};
	bool works = false;
	void *state;

	state = b->open(conf, &why);
	if (state != NULL && b->look(state, &s, &why) == 0) {
		works = true;
		printf("%s: works, %zu GPU%s\n", b->name, s.ngpu,
		    s.ngpu == 1 ? "" : "s");
	} else if (b->on_request && conf->arg == NULL) {
		printf("%s: not asked for; %s\n", b->name, why.p);
	} else {
		say_no(b, why.p);
	}
	if (state != NULL)
		b->close(state);
	snap_free(&s);
	buf_free(&why);
	return works;
}

bool
check(const struct backend *only, const struct backend_conf *conf)
{
	bool works = false;
	size_t i;

	for (i = 0; backends[i] != NULL; i++)
		if ((only == NULL || backends[i] == only) &&
		    check_one(backends[i], conf))
			works = true;
	return works;
}
