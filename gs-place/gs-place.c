/* SPDX-License-Identifier: MIT */
/*
 * gs-place: where may these jobs go?
 *
 * For each frame of gpu, proc, run and job records one frame of place, wait
 * and never records, one for every job, in order.  The answer depends on the
 * frame and the options alone.
 *
 * opts.c reads the options, snap.c the frames; alloc.c decides.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gs-place/alloc.h"
#include "lib/gs.h"
#include "lib/rec.h"
#include "gs-place/opts.h"
#include "gs-place/snap.h"

static void
gpu_list(struct buf *b, const struct answer *ans)
{
	size_t i;

	for (i = 0; i < ans->ngpu; i++)
		buf_printf(
		    b, "%s%lld", i > 0 ? "," : "", (long long)ans->gpu[i]);
}

static void
answer_write(struct recw *w, const struct job *j, const struct answer *ans)
{
	static const char *const tag[] = {"place", "wait", "never"};
	struct buf b = {0};

	recw_rec(w, tag[ans->verdict]);
	recw_str(w, j->id);
	if (ans->verdict == PLACED) {
		gpu_list(&b, ans);
		recw_str(w, b.p);
		recw_int(w, ans->headroom);
	} else {
		recw_str(w, ans->reason);
		recw_kstr(w, "text", ans->text);
	}
	buf_free(&b);
}

/* What programs call the GPU. */
static void
word_write(struct buf *b, const struct snap *s, int64_t index)
{
	const char *env = NULL;
	size_t i;

	for (i = 0; i < s->ngpu; i++)
		if (s->gpu[i].index == index)
			env = s->gpu[i].env;
	if (env != NULL && strchr(env, '=') != NULL)
		buf_str(b, strchr(env, '=') + 1);
	else
		buf_printf(b, "%lld", (long long)index);
}

/* The bare list of the first job that is placed. */
static void
list_write(struct recw *w, const struct snap *s, const struct answer *ans)
{
	size_t i;

	if (ans->verdict != PLACED || w->buf.len > 0)
		return;
	for (i = 0; i < ans->ngpu; i++) {
		if (i > 0)
			buf_char(&w->buf, ',');
		word_write(&w->buf, s, ans->gpu[i]);
	}
	buf_char(&w->buf, '\n');
}

/* Ask for some jobs; how many were placed. */
static size_t
jobs_place(struct alloc *a, const struct snap *s, const struct job *j, size_t n,
    const struct opts *o, struct recw *w)
{
	struct answer ans;
	size_t i, placed = 0;

	for (i = 0; i < n; i++) {
		alloc_job(a, &j[i], &ans);
		placed += ans.verdict == PLACED;
		if (o->gpus_only)
			list_write(w, s, &ans);
		else
			answer_write(w, &j[i], &ans);
	}
	return placed;
}

/* Answer one frame.  The status that it makes, GS_BAD if it is malformed. */
static int
frame_answer(const struct opts *o, const struct frame *f, struct recw *w)
{
	struct alloc *a;
	struct snap s;
	char why[256];
	size_t placed, asked;

	if (snap_read(f, &s, why, sizeof(why)) == -1) {
		warnx("stdin: %s", why);
		return GS_BAD;
	}
	asked = s.njob + o->njob;
	a = alloc_new(&s, &o->rules);
	if (!o->gpus_only) {
		recw_frame(w, "gs-place");
		recw_kstr(w, "time", rec_key(&f->head, "time"));
	}
	placed = jobs_place(a, &s, s.job, s.njob, o, w);
	placed += jobs_place(a, &s, o->job, o->njob, o, w);
	if (!o->gpus_only)
		recw_end(w);
	alloc_free(a);
	snap_free(&s);
	if (o->wait || asked > 0)
		return placed > 0 ? GS_OK : GS_NO;
	return GS_OK;
}

/* Answer frame after frame; the status of the last. */
static int
frames_answer(const struct opts *o, struct frames *in)
{
	struct recw w = {0};
	struct frame f;
	int got, status = GS_OK;

	while ((got = frames_read(in, STDIN_FILENO, &f)) == 1) {
		status = frame_answer(o, &f, &w);
		frame_free(&f);
		if (recw_flush(&w, STDOUT_FILENO) == -1)
			err(GS_BAD, "stdout");
		if (status == GS_BAD || (o->wait && status == GS_OK))
			break;
	}
	recw_free(&w);
	if (got == -1) {
		warnx("stdin: %s", in->err);
		return GS_BAD;
	}
	return status;
}

int
main(int argc, char *argv[])
{
	struct frames in = {0};
	struct opts o;
	int status;

	gs_open_std();
	opts_parse(argc, argv, &o);
	status = frames_answer(&o, &in);
	frames_free(&in);
	opts_free(&o);
	gs_close_stdout(GS_BAD);
	return status;
}
