/* SPDX-License-Identifier: MIT */
/*
 * Asking nvidia-smi.
 *
 * - Two queries a look: the GPUs and their compute processes.
 * - Rows count only if the tool ended by itself and everything it printed is
 *   rows; then they count whatever its status is, since a warning about one
 *   card's memory changes the status and nothing else.
 * - A query that names a field too new for the driver fails as a whole: the
 *   field is left out from then on.
 * - One lost card can make the whole query fail.  Then every card is asked
 *   alone, by the address it had when all was well, else by number.
 * - Without a list of processes the GPUs are still worth knowing.
 */
#include "gs-probe/smi.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/spawn.h"
#include "lib/xalloc.h"
#include "gs-probe/advice.h"
#include "gs-probe/run.h"
#include "gs-probe/say.h"
#include "gs-probe/smicsv.h"
#include "gs-probe/snap.h"

enum {
	NUMBERS_MAX = 64, /* GPUs asked by number */
	MISSES_MAX = 4, /* in a row, before we believe there are no more */
};

struct known {
	int64_t index;
	char *uuid;
	char *bus;
};

struct smi {
	char *cmd;
	int64_t timeout_ms;
	struct smi_cols cols;
	struct run run;
	struct known *known; /* the GPUs of the latest good look */
	size_t nknown;
};

static char *
copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

/* Can it be executed, as far as that can be told without doing so? */
static bool
is_there(const char *cmd)
{
	const char *path = getenv("PATH");
	char *list, *rest, *dir, *full;
	bool found = false;

	/* With a slash it names a file; else it may be for the shell. */
	if (strpbrk(cmd, " \t\"'$;&|<>()`\\*?[") != NULL)
		return true;
	if (strchr(cmd, '/') != NULL)
		return access(cmd, X_OK) == 0;
	list = rest = xstrdup(path != NULL ? path : "/usr/bin:/bin");
	while (!found && (dir = strsep(&rest, ":")) != NULL) {
		full = xasprintf("%s/%s", *dir != '\0' ? dir : ".", cmd);
		found = access(full, X_OK) == 0;
		free(full);
	}
	free(list);
	return found;
}

static void *
smi_open(const struct backend_conf *conf, struct buf *why)
{
	const char *cmd = getenv("GS_SMI");
	struct smi *m;

	if (conf->arg != NULL) {
		buf_str(why, "takes no argument");
		return NULL;
	}
	if (cmd == NULL || *cmd == '\0')
		cmd = "nvidia-smi";
	if (!is_there(cmd)) {
		buf_printf(why, "%s: %s", cmd, strerror(ENOENT));
		return NULL;
	}
	m = xcalloc(1, sizeof(*m));
	m->cmd = xstrdup(cmd);
	m->timeout_ms = conf->timeout_ms;
	return m;
}

static void
forget(struct smi *m)
{
	while (m->nknown > 0) {
		m->nknown--;
		free(m->known[m->nknown].uuid);
		free(m->known[m->nknown].bus);
	}
}

static void
smi_close(void *state)
{
	struct smi *m = state;

	forget(m);
	free(m->known);
	run_free(&m->run);
	free(m->cmd);
	free(m);
}

/* Run it with --query-WHAT=FIELDS, for one GPU only if `only` says which. */
static void
query(struct smi *m, const char *what, const char *fields, const char *only)
{
	char *want = xasprintf("--query-%s=%s", what, fields);
	char *one = only != NULL ? xasprintf("--id=%s", only) : NULL;
	char format[] = "--format=csv,noheader,nounits";
	char *extra[] = {want, format, one, NULL}, **argv;

	argv = spawn_argv(m->cmd, extra);
	run_helper(&m->run, argv, m->timeout_ms);
	spawn_argv_free(argv);
	free(one);
	free(want);
}

/* What went wrong, in the tool's own words where it has some. */
static void
explain(const struct smi *m, const char *text, struct buf *why)
{
	const struct run *r = &m->run;

	buf_printf(why, "%s: ", m->cmd);
	if (r->how == RUN_ERROR) {
		buf_str(why, strerror(r->code));
		return;
	}
	if (r->how == RUN_STUCK) {
		buf_printf(why,
		    "not run: an earlier one (pid %d) cannot be "
		    "killed",
		    r->code);
		return;
	}
	if (r->how == RUN_TIMEOUT) {
		buf_printf(
		    why, "timeout after %g s", (double)m->timeout_ms / 1000);
		return;
	}
	if (text == NULL || *text == '\0')
		text = r->err.len > 0 ? r->err.p : "no output";
	buf_printf(why, "%.*s (", (int)strcspn(text, "\r\n"), text);
	if (r->how == RUN_SIGNAL)
		buf_printf(why, "signal %d, %s)", r->code, strsignal(r->code));
	else
		buf_printf(why, "exit %d%s)", r->code,
		    r->code == 0 ? ", but that is no row" : "");
}

/* Do the rows of the last query count? */
static int
accept(struct smi *m, const struct smi_other *o, struct buf *why)
{
	if (m->run.how != RUN_EXIT || o->text.len > 0) {
		explain(m, o->text.p, why);
		return -1;
	}
	if (o->warning.len > 0)
		say("%s: %s", m->cmd, o->warning.p);
	else if (m->run.code != 0)
		say("%s: exit %d, but all it printed is rows; taken as good",
		    m->cmd, m->run.code);
	return 0;
}

static void
other_free(struct smi_other *o)
{
	buf_free(&o->text);
	buf_free(&o->warning);
}

/* Append the GPUs, or only one.  A failure leaves nothing behind. */
static int
gpus(struct smi *m, struct snap *s, const char *only, struct buf *why)
{
	struct smi_other o = {0};
	struct buf cols = {0};
	size_t had = s->ngpu;
	int rv = -1;

	do {
		buf_reset(&cols);
		smicsv_columns(&cols, &m->cols);
		query(m, "gpu", cols.p, only);
	} while (m->run.how == RUN_EXIT && m->run.code != 0 &&
	    m->run.out.len > 0 && smicsv_drop(&m->cols, m->run.out.p));
	smicsv_gpus(s, &m->run.out, &m->cols, &o);
	if (s->ngpu > had)
		rv = accept(m, &o, why);
	else
		explain(m, o.text.p, why);
	if (rv == -1)
		snap_cut(s, had, s->nproc);
	other_free(&o);
	buf_free(&cols);
	return rv;
}

/* Append the processes, or say that they are unknown. */
static void
procs(struct smi *m, struct snap *s, const char *only)
{
	struct smi_other o = {0};
	struct buf why = {0};
	size_t had = s->nproc;
	enum procs before = s->procs;

	query(m, "compute-apps", smicsv_apps, only);
	smicsv_procs(s, &m->run.out, &o);
	/* Nothing is a list of none, if the tool says that all is well. */
	if (m->run.code != 0 && s->nproc == had && s->procs == before)
		explain(m, o.text.p, &why);
	else
		accept(m, &o, &why);
	if (why.len > 0) {
		say("%s; processes unknown", why.p);
		snap_cut(s, s->ngpu, had);
		s->procs = PROCS_UNKNOWN;
	}
	buf_free(&why);
	other_free(&o);
}

static void
remember(struct smi *m, const struct snap *s)
{
	struct known *k;
	size_t i;

	forget(m);
	m->known = xreallocarray(m->known, s->ngpu, sizeof(*m->known));
	for (i = 0; i < s->ngpu; i++) {
		k = &m->known[m->nknown++];
		k->index = s->gpu[i].index;
		k->uuid = copy(s->gpu[i].uuid);
		k->bus = copy(s->gpu[i].bus);
	}
}

/* A card that does not answer stays in the picture, as one not to use. */
static void
add_lost(struct snap *s, int64_t index, const struct known *k, const char *why)
{
	struct gpu *g = snap_gpu(s);

	g->index = index;
	g->place = PLACE_NO;
	g->why = xstrdup(why);
	if (k != NULL) {
		g->uuid = copy(k->uuid);
		g->bus = copy(k->bus);
	}
}

enum answer {
	ANSWERED,
	LOST,
	NONE, /* there is no such GPU */
};

static enum answer
ask_one(struct smi *m, struct snap *s, size_t i)
{
	const struct known *k = i < m->nknown ? &m->known[i] : NULL;
	enum answer answer = ANSWERED;
	struct buf why = {0};
	char *only;

	if (k != NULL && k->bus != NULL)
		only = xstrdup(k->bus);
	else
		only = xasprintf("%zu", i);
	if (gpus(m, s, only, &why) == 0) {
		procs(m, s, only);
	} else if (k == NULL && strstr(why.p, "No devices") != NULL) {
		answer = NONE;
	} else {
		add_lost(s, k != NULL ? k->index : (int64_t)i, k, why.p);
		answer = LOST;
	}
	free(only);
	buf_free(&why);
	return answer;
}

/* One by one, within the time of one query.  How many answered? */
static size_t
ask_each(struct smi *m, struct snap *s)
{
	size_t n = m->nknown > 0 ? m->nknown : NUMBERS_MAX;
	int64_t deadline = clock_ms() + m->timeout_ms;
	size_t answered = 0, misses = 0, i;
	enum answer answer = ANSWERED;

	for (i = 0; i < n && answer != NONE && clock_ms() < deadline; i++) {
		answer = ask_one(m, s, i);
		if (answer == ANSWERED) {
			answered++;
			misses = 0;
		} else if (answer == LOST && m->nknown == 0 &&
		    ++misses == MISSES_MAX) {
			/* These were no cards, as far as we can tell. */
			snap_cut(s, s->ngpu - misses, s->nproc);
			break;
		}
	}
	return answered;
}

static bool
one_is_lost(const struct smi *m, const char *why)
{
	return m->run.how == RUN_EXIT &&
	    (strstr(why, "device handle") != NULL ||
		strstr(why, "is lost") != NULL);
}

static int
smi_look(void *state, struct snap *s, struct buf *why)
{
	struct smi *m = state;

	if (gpus(m, s, NULL, why) == 0) {
		procs(m, s, NULL);
		remember(m, s);
		return 0;
	}
	if (!one_is_lost(m, why->p) || ask_each(m, s) == 0)
		return -1;
	say("%s; asked for each GPU alone", why->p);
	return 0;
}

const struct backend smi_backend = {
    .name = "smi",
    .open = smi_open,
    .look = smi_look,
    .close = smi_close,
    .advice = advice_nvidia,
};
