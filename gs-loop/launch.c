/* SPDX-License-Identifier: MIT */
/*
 * gs-launch is asked to start a job and answers with one frame: `start` when
 * the command was executed and the journal says so, `exit` when it could not
 * be executed, `refused` when nothing was started.
 */
#include "gs-loop/launch.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-loop/child.h"
#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "gs-loop/words.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/procfs.h"
#include "lib/spawn.h"
#include "lib/xalloc.h"

/* "GPU-a,GPU-b" for "0,1" in the latest frame; NULL if one is not there. */
static char *
identities(const struct loop *l, const char *gpus)
{
	char *copy = xstrdup(gpus), *rest = copy, *word;
	const struct rec *gpu;
	struct buf b = {0};

	while ((word = strsep(&rest, ",")) != NULL) {
		gpu = probe_gpu(&l->probe, word);
		if (gpu == NULL || rec_field(gpu, 2) == NULL) {
			buf_free(&b);
			break;
		}
		buf_printf(&b, "%s%s", b.len > 0 ? "," : "", rec_field(gpu, 2));
	}
	free(copy);
	return b.p;
}

/* A first attempt logs to job-NO.log, a later one to job-NO.ATTEMPT.log. */
static char *
log_path(const struct loop *l, const struct run *r)
{
	if (r->attempt == 1)
		return xasprintf(
		    "%s/job-%lld.log", l->log_dir, (long long)r->no);
	return xasprintf("%s/job-%lld.%lld.log", l->log_dir, (long long)r->no,
	    (long long)r->attempt);
}

/*
 * "ROCR_VISIBLE_DEVICES=0,1", of the words that the GPUs have for programs.
 * NULL if they have none; one set of GPUs has one variable.
 */
static char *
mask(const struct loop *l, const char *gpus)
{
	char *copy = xstrdup(gpus), *rest = copy, *word;
	const char *env, *eq;
	const struct rec *gpu;
	struct buf b = {0};

	while ((word = strsep(&rest, ",")) != NULL) {
		gpu = probe_gpu(&l->probe, word);
		env = gpu != NULL ? rec_key(gpu, "env") : NULL;
		eq = env != NULL ? strchr(env, '=') : NULL;
		if (eq == NULL) {
			buf_free(&b);
			break;
		}
		if (b.len == 0)
			buf_str(&b, env);
		else
			buf_printf(&b, ",%s", eq + 1);
	}
	free(copy);
	return b.p;
}

static void
add_words(const struct loop *l, const struct run *r, const char *uuids,
    struct words *w)
{
	char *log = log_path(l, r), *shown;

	words_opt(w, "--id", r->id);
	words_int(w, "--attempt", r->attempt);
	words_int(w, "--no", r->no);
	words_opt(w, "--gpus", r->gpus != NULL ? r->gpus : "");
	words_opt(w, "--uuids", uuids);
	shown = r->gpus != NULL ? mask(l, r->gpus) : NULL;
	words_opt(w, "--mask", shown);
	if (r->attr.vram_mib >= 0)
		words_int(w, "--vram", r->attr.vram_mib);
	words_opt(w, "--log", log);
	words_opt(w, "--journal", l->ledger.path);
	words_int(w, "--seen", l->ledger.reader.off);
	if (r->attr.timeout_ms >= 0)
		words_ms(w, "--timeout", r->attr.timeout_ms);
	words_ms(w, "--grace", l->o->grace_ms);
	if (r->attr.linger)
		words_add(w, "--linger");
	words_opt(w, "--cwd", r->attr.cwd);
	words_opt(w, "--env", r->attr.env);
	words_opt(w, "--shell", r->cmd);
	free(shown);
	free(log);
}

/* It failed in a way that may pass: no launch at all for a while. */
static void
hold(struct loop *l, const struct run *r, const char *why)
{
	if (l->hold_ms == 0) {
		l->hold_ms = CHILD_PAUSE_MS;
		warnx("job %lld could not be started: %s; trying again",
		    (long long)r->no, why);
	}
	l->hold_until = clock_ms() + l->hold_ms;
	l->hold_ms = child_longer(l->hold_ms);
	l->ask = true;
}

/* It failed for good: this job is over. */
static void
failed(struct loop *l, const struct run *r, const char *why)
{
	if (ledger_done(&l->ledger, r->id, r->attempt, JOB_FAILED, GS_FAILED,
		why) == -1) {
		hold(l, r, "the journal cannot be written");
		return;
	}
	say("job %lld finished [FAILED exit %d]: not started: %s",
	    (long long)r->no, GS_FAILED, why);
	l->queue.news |= l->queue.chained;
	loop_ended(l, JOB_FAILED);
}

static void
refused(struct loop *l, const struct run *r, const struct rec *rec)
{
	const char *reason = rec_field(rec, 3), *text = rec_key(rec, "text");

	if (reason == NULL)
		reason = "unknown";
	if (text == NULL)
		text = reason;
	if (strcmp(reason, "claimed") == 0)
		ledger_pull(&l->ledger); /* that is where it stands */
	else if (strcmp(reason, "record") == 0 || strcmp(reason, "fork") == 0)
		hold(l, r, text);
	else
		failed(l, r, text);
}

static void
started(struct loop *l, struct run *r, const struct job_fold *j)
{
	r->supervisor = j->supervisor;
	r->sup_start = j->sup_start;
	r->pgid = j->pgid;
	r->start = j->start;
	r->since = j->started;
	l->hold_ms = 0;
	run_guard(l, r);
	l->settle = true;
}

/* The whole answer is there. */
static void
conclude(struct loop *l, struct run *r)
{
	const struct rec *rec = NULL;
	struct frame f = {0};
	struct job_fold *j;
	size_t i;

	if (frames_next(&r->report, &f) == 1)
		for (i = 0; i < f.n && rec == NULL; i++)
			if (rec_is(&f.rec[i], "start") ||
			    rec_is(&f.rec[i], "exit") ||
			    rec_is(&f.rec[i], "refused"))
				rec = &f.rec[i];
	ledger_pull(&l->ledger);
	j = fold_find(l->ledger.fold, r->id);
	if (j->attempt == r->attempt) {
		/* Whatever it answered: the journal says that it began. */
		r->executed = rec != NULL && rec_is(rec, "start");
		started(l, r, j);
	} else {
		if (rec != NULL && rec_is(rec, "refused"))
			refused(l, r, rec);
		else
			hold(l, r, "gs-launch gave no answer");
		run_free(l, r);
	}
	runs_announce(l);
	frame_free(&f);
}

static void
ready(struct loop *l, void *arg)
{
	struct run *r = arg;
	ssize_t n = buf_read(&r->report.in, r->src.fd, 4096);

	if (n > 0 || (n == -1 && errno == EAGAIN))
		return;
	loop_close(l, &r->src);
	conclude(l, r);
}

/* Start gs-launch itself. 0, or an errno. */
static int
start(struct loop *l, struct run *r, const char *uuids)
{
	struct words w = {0};
	int e, in = -1;
	pid_t pid;

	add_words(l, r, uuids, &w);
	e = child_start(l->o->launch, "gs-launch", w.v, &r->src, &in, &pid);
	words_free(&w);
	if (e != 0)
		return e;
	close(in); /* it reads nothing */
	r->src.ready = ready;
	r->src.arg = r;
	loop_watch(l, &r->src);
	return 0;
}

void
launch(struct loop *l, const struct line *line, const char *gpus)
{
	const struct job_fold *j = fold_find(l->ledger.fold, line->job.id);
	char *uuids = gpus != NULL ? identities(l, gpus) : NULL;
	struct attr_err ae;
	struct buf attrs = {0};
	struct run *r;
	int e;

	if (gpus != NULL && uuids == NULL) {
		l->ask = true; /* that card has just gone */
		return;
	}
	r = run_new(l, line->job.id, gpus, uuids);
	r->no = j->no;
	r->attempt = j->attempt + 1;
	r->cmd = xstrdup(line->job.cmd);
	r->since = event_now();
	attr_format(&attrs, &line->job.attr);
	attr_parse_all(attrs.p, &r->attr, &ae); /* a copy of our own */
	r->attr.vram_mib = queue_vram(l, line);
	buf_free(&attrs);
	e = start(l, r, uuids);
	free(uuids);
	if (e == 0)
		return;
	/* Only a command too long for exec is the job's own fault. */
	if (e == E2BIG)
		failed(l, r, strerror(e));
	else
		hold(l, r, strerror(e));
	run_free(l, r);
}
