/* SPDX-License-Identifier: MIT */
/*
 * For the tests of gs-place.
 *
 * placecheck make N: N random frames, always the same ones.
 * placecheck test IN OUT: do the answers OUT to the frames IN keep what the
 * manual promises?  Reckoned from the records anew, in the most simple-minded
 * way, for the default margin, spike buffer and idle threshold.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attr.h"
#include "lib/rec.h"
#include "lib/unit.h"

enum {
	MARGIN = 512,
	SPIKE = 100000,
	IDLE = 200,
	NGPU = 8
};

static uint64_t seed = UINT64_C(88172645463325252);

static unsigned
rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static void
block_make(void)
{
	unsigned gpus = 1 + rnd(3);

	if (rnd(4) == 0)
		printf("[gpus=%u]", gpus);
	else
		printf("[vram=%u gpus=%u]", 500 + rnd(20000), gpus);
}

static void
frame_make(void)
{
	unsigned ngpu = 1 + rnd(NGPU), nrun = rnd(5), nproc = rnd(8);
	unsigned njob = 1 + rnd(6), i, used;

	puts("gs\t1\tplacecheck");
	for (i = 0; i < ngpu; i++)
		printf("gpu\t%u\tU%u\t%u\t%u\t0\t%s\n", i, i,
		    rnd(2) ? 24576u : 40960u, rnd(3) ? 0u : rnd(20000),
		    rnd(9) ? "yes" : "no");
	for (i = 0; i < nrun; i++) {
		printf("run\tr%u\t%s%u\t1\t", i, rnd(2) ? "U" : "", rnd(ngpu));
		block_make();
		puts("");
	}
	for (i = 0; i < nproc; i++) {
		used = rnd(9000);
		printf("proc\t%u\t%u\t1\t1\t1\t%u\t%u\tr%u\n", rnd(ngpu),
		    100 + i, used, used + rnd(4000), rnd(6));
	}
	for (i = 0; i < njob; i++) {
		printf("job\tj%u\t", i);
		block_make();
		puts("");
	}
	printf("end\t%u\n", ngpu + nrun + nproc + njob);
}

/* What is on one GPU once all jobs are placed. */
struct load {
	int64_t capacity;
	int64_t used;
	int64_t seen; /* by our runs */
	int64_t foreign; /* peaks */
	int64_t budgets;
	int ours;
	int whole; /* of them, those that declare nothing */
	int placed;
	int usable;
};

static void
fail(size_t frame, const char *id, const char *what)
{
	errx(1, "frame %zu, %s: %s", frame, id, what);
}

static int
gpu_no(const char *s)
{
	const char *errstr;

	return (int)unit_num(s[0] == 'U' ? s + 1 : s, 0, NGPU - 1, &errstr);
}

static struct attr
block(const char *s)
{
	struct attr_err e;
	struct attr a;

	if (attr_parse_all(s, &a, &e) == -1)
		errx(1, "%s: %s", s, e.msg);
	return a;
}

/* The processes of `id` on a GPU: the sum of what they use, and of peaks. */
static int64_t
procs_sum(const struct frame *f, int gpu, const char *id, int64_t *peak)
{
	int64_t sum = 0;
	size_t i;

	*peak = 0;
	for (i = 0; i < f->n; i++)
		if (rec_is(&f->rec[i], "proc") &&
		    rec_int(&f->rec[i], 1) == gpu &&
		    strcmp(rec_field(&f->rec[i], 8), id) == 0) {
			sum += rec_int(&f->rec[i], 6);
			*peak += rec_int(&f->rec[i], 7);
		}
	return sum;
}

static void
load_run(const struct frame *f, const struct rec *r, struct load *load)
{
	struct attr a = block(rec_field(r, 4));
	int64_t used, peak, b;
	int g, on = gpu_no(rec_field(r, 2));

	for (g = 0; g < NGPU; g++) {
		used = procs_sum(f, g, rec_field(r, 1), &peak);
		b = unit_grow(peak, SPIKE);
		if (g == on && a.vram_mib >= 0 && peak <= a.vram_mib)
			b = a.vram_mib;
		if (g != on && peak == 0)
			continue;
		load[g].budgets += b > used ? b : used;
		load[g].seen += used;
		load[g].foreign -= peak;
		load[g].ours++;
		load[g].whole += g == on && a.vram_mib < 0;
	}
}

static void
load_frame(const struct frame *f, struct load *load)
{
	const struct rec *r;

	for (r = f->rec; r < f->rec + f->n; r++) {
		if (rec_is(r, "gpu")) {
			load[rec_int(r, 1)].capacity = rec_int(r, 3);
			load[rec_int(r, 1)].used = rec_int(r, 4);
			load[rec_int(r, 1)].usable =
			    strcmp(rec_field(r, 6), "yes") == 0;
		} else if (rec_is(r, "proc")) {
			load[rec_int(r, 1)].foreign += rec_int(r, 7);
		} else if (rec_is(r, "run")) {
			load_run(f, r, load);
		}
	}
}

/* One job and its answer. */
static void
check_job(
    size_t no, const struct rec *job, const struct rec *ans, struct load *load)
{
	struct attr a = block(rec_field(job, 2));
	const char *id = rec_field(job, 1);
	int64_t n = 0;
	char *list, *word;
	int g, last = -1;

	if (ans == NULL || strcmp(rec_field(ans, 1), id) != 0)
		fail(no, id, "not answered in its turn");
	if (!rec_is(ans, "place"))
		return;
	list = ans->field[2];
	while ((word = strsep(&list, ",")) != NULL) {
		g = gpu_no(word);
		if (g <= last || !load[g].usable)
			fail(no, id, "a GPU twice, or one that takes no job");
		last = g;
		load[g].budgets += a.vram_mib > 0 ? a.vram_mib : 0;
		load[g].ours++;
		load[g].placed++;
		load[g].whole += a.vram_mib < 0;
		n++;
	}
	if (n != a.gpus)
		fail(no, id, "another number of GPUs than it asked for");
}

static void
check_load(size_t no, const struct load *l)
{
	int64_t external = l->used - l->seen;

	if (external < unit_grow(l->foreign, SPIKE))
		external = unit_grow(l->foreign, SPIKE);
	if (l->placed == 0)
		return;
	if (l->whole > 0 && l->ours > 1)
		fail(no, "a GPU", "shared by a job that declared nothing");
	if (l->whole > 0 && external >= IDLE)
		fail(no, "a GPU", "not idle");
	if (l->whole == 0 && external + l->budgets + MARGIN > l->capacity)
		fail(no, "a GPU", "given away twice");
}

static void
check_frame(size_t no, const struct frame *in, const struct frame *out)
{
	struct load load[NGPU] = {0};
	size_t i, n = 0;

	load_frame(in, load);
	for (i = 0; i < in->n; i++)
		if (rec_is(&in->rec[i], "job")) {
			check_job(no, &in->rec[i],
			    n < out->n ? &out->rec[n] : NULL, load);
			n++;
		}
	if (n != out->n)
		fail(no, "answer", "more records than jobs");
	for (i = 0; i < NGPU; i++)
		check_load(no, &load[i]);
}

static int
open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		err(2, "%s", path);
	return fd;
}

static void
test(const char *in_path, const char *out_path)
{
	struct frames ins = {0}, outs = {0};
	int in_fd = open_file(in_path), out_fd = open_file(out_path);
	struct frame in, out;
	size_t no;

	for (no = 1; frames_read(&ins, in_fd, &in) == 1; no++) {
		if (frames_read(&outs, out_fd, &out) != 1)
			errx(1, "frame %zu: no answer", no);
		check_frame(no, &in, &out);
		frame_free(&in);
		frame_free(&out);
	}
	printf("%zu frames\n", no - 1);
	frames_free(&ins);
	frames_free(&outs);
}

int
main(int argc, char *argv[])
{
	const char *errstr = "usage";
	int64_t n;

	if (argc == 4 && strcmp(argv[1], "test") == 0) {
		test(argv[2], argv[3]);
		return 0;
	}
	n = argc == 3 ? unit_num(argv[2], 1, 1000000, &errstr) : 0;
	if (errstr != NULL)
		errx(2, "usage: placecheck make N | test IN OUT");
	while (n-- > 0)
		frame_make();
	return fflush(stdout) == EOF;
}
