/* SPDX-License-Identifier: MIT */
#include "gs-launch/answer.h"

#include <err.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/rec.h"

/* A frame of one record, whose first fields all of them share. */
static void
begin(struct recw *w, const char *tag, const struct launch *l)
{
	recw_frame(w, "gs-launch");
	recw_kint(w, "time", (int64_t)clock_wall());
	recw_rec(w, tag);
	recw_str(w, l->id);
	recw_int(w, l->attempt);
}

static void
end(struct recw *w)
{
	recw_end(w);
	if (recw_flush(w, STDOUT_FILENO) == -1)
		err(GS_FAILED, "stdout");
	recw_free(w);
}

void
answer_start(const struct launch *l, const struct names *n)
{
	bool some = l->gpus != NULL && l->gpus[0] != '\0';
	struct recw w = {0};

	begin(&w, "start", l);
	recw_int(&w, n->leader);
	recw_int(&w, n->supervisor);
	recw_int(&w, n->start);
	recw_str(&w, n->boot);
	recw_str(&w, some ? l->gpus : NULL);
	recw_str(&w, l->log);
	end(&w);
}

void
answer_exit(const struct launch *l, const struct ending *e)
{
	struct recw w = {0};

	begin(&w, "exit", l);
	recw_str(&w, cause_name(e->cause));
	recw_int(&w, e->status);
	recw_int(&w, e->wall_ms / 1000);
	recw_kint(&w, "user", e->user_ms / 1000);
	recw_kint(&w, "sys", e->sys_ms / 1000);
	recw_kint(&w, "maxrss", e->maxrss_kib);
	end(&w);
}

void
answer_refused(const struct launch *l, const struct refusal *why)
{
	struct recw w = {0};

	begin(&w, "refused", l);
	recw_str(&w, why->reason);
	recw_kstr(&w, "text", why->text);
	end(&w);
}
