/* SPDX-License-Identifier: MIT */
/*
 * gs-simjob: a GPU program without a GPU.  It claims memory in the simulation
 * of gs-probe --sim, growing in steps to what it was told, holds it, and ends.
 * A step that does not fit the card fails as it does in CUDA.  It traps no
 * signal; its claims count only while it lives.
 */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/procfs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"
#include "gs-probe/simdir.h"

enum {
	STEPS = 20,
	OOM_STATUS = 1,
};

struct job {
	int64_t vram; /* MiB on each GPU */
	int64_t ramp_ms;
	int64_t hold_ms;
	int64_t util;
	int64_t oom_at; /* MiB; -1: never */
	const char *oom_once; /* only while that file is not there */
	int status;
	const char *gpus;
	int dir;
	int64_t *size; /* of the simulated GPUs */
	size_t nsize;
	struct claim *claim; /* one for each GPU */
	size_t n;
};

static void __attribute__((noreturn)) usage(FILE *to, int status)
{
	fprintf(to, "usage: gs-simjob --vram SIZE [option ...]\n");
	if (status != GS_OK)
		exit(status);
	fputs("\n"
	      "      --vram MIB       claim that much on each GPU\n"
	      "      --ramp S         growing to it in S seconds (0)\n"
	      "      --hold S         then hold it for S seconds (0)\n"
	      "      --util PCT       utilisation of each GPU (95)\n"
	      "      --exit-code N    end with status N (0)\n"
	      "      --oom-at MIB     run out of memory there\n"
	      "      --oom-once FILE  only if FILE is not there; make it then\n"
	      "  -g, --gpus LIST      instead of CUDA_VISIBLE_DEVICES\n"
	      "  -h, --help           print this and exit\n"
	      "  -V, --version        print the version and exit\n",
	    to);
	gs_close_stdout(GS_BAD);
	exit(status);
}

static int64_t
checked(const char *option, int64_t v, const char *errstr)
{
	if (errstr != NULL) {
		warnx("--%s '%s': %s", option, optarg, errstr);
		usage(stderr, GS_BAD);
	}
	return v;
}

static int64_t
mib(const char *option)
{
	const char *errstr;
	int64_t v = unit_mib(optarg, &errstr);

	return checked(option, v, errstr);
}

static int64_t
ms(const char *option)
{
	const char *errstr;
	int64_t v = unit_ms(optarg, &errstr);

	return checked(option, v, errstr);
}

static int64_t
num(const char *option, int64_t max)
{
	const char *errstr;
	int64_t v = unit_num(optarg, 0, max, &errstr);

	return checked(option, v, errstr);
}

enum {
	OPT_VRAM = 256,
	OPT_RAMP,
	OPT_HOLD,
	OPT_UTIL,
	OPT_EXIT,
	OPT_OOM_AT,
	OPT_OOM_ONCE
};

static const struct option longopts[] = {
    {"vram", required_argument, NULL, OPT_VRAM},
    {"ramp", required_argument, NULL, OPT_RAMP},
    {"hold", required_argument, NULL, OPT_HOLD},
    {"util", required_argument, NULL, OPT_UTIL},
    {"exit-code", required_argument, NULL, OPT_EXIT},
    {"oom-at", required_argument, NULL, OPT_OOM_AT},
    {"oom-once", required_argument, NULL, OPT_OOM_ONCE},
    {"gpus", required_argument, NULL, 'g'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void
opt_take(struct job *j, int c)
{
	if (c == OPT_VRAM)
		j->vram = mib("vram");
	else if (c == OPT_RAMP)
		j->ramp_ms = ms("ramp");
	else if (c == OPT_HOLD)
		j->hold_ms = ms("hold");
	else if (c == OPT_UTIL)
		j->util = num("util", 100);
	else if (c == OPT_EXIT)
		j->status = (int)num("exit-code", 255);
	else if (c == OPT_OOM_AT)
		j->oom_at = mib("oom-at");
	else if (c == OPT_OOM_ONCE)
		j->oom_once = optarg;
	else if (c == 'g')
		j->gpus = optarg;
	else if (c == 'h')
		usage(stdout, GS_OK);
	else if (c != 'V')
		usage(stderr, GS_BAD);
	if (c != 'V')
		return;
	gs_version();
	gs_close_stdout(GS_BAD);
	exit(GS_OK);
}

static void
opts_parse(struct job *j, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+g:hV", longopts, NULL)) != -1)
		opt_take(j, c);
	if (optind < argc)
		warnx("'%s': no operand is expected", argv[optind]);
	else if (j->vram == -1)
		warnx("--vram is missing");
	else
		return;
	usage(stderr, GS_BAD);
}

static void
sim_open(struct job *j)
{
	char *path = simdir_path();

	j->dir = simdir_open(path, false);
	if (j->dir == -1 || simdir_gpus(j->dir, &j->size, &j->nsize) == -1)
		errx(GS_BAD, "%s: no simulation (gs-probe --sim makes one): %s",
		    path, strerror(errno));
	free(path);
}

static void
gpu_take(struct job *j, const char *word, const struct pstat *self)
{
	const char *errstr;
	int64_t gpu;
	size_t i;

	gpu = unit_num(strncmp(word, "SIM-", 4) == 0 ? word + 4 : word, 0,
	    INT32_MAX, &errstr);
	if (errstr != NULL || (size_t)gpu >= j->nsize)
		errx(GS_BAD, "GPU '%s': no such simulated GPU", word);
	for (i = 0; i < j->n; i++)
		if (j->claim[i].gpu == (size_t)gpu)
			errx(GS_BAD, "GPU '%s': given twice", word);
	j->claim = xreallocarray(j->claim, j->n + 1, sizeof(*j->claim));
	j->claim[j->n++] = (struct claim){
	    .gpu = (size_t)gpu,
	    .pid = self->pid,
	    .start = self->start,
	    .util = j->util,
	};
}

/* Without a list CUDA programs take the first GPU. */
static void
gpus_parse(struct job *j)
{
	const char *list = j->gpus;
	char *words, *rest, *w;
	struct pstat self;

	if (list == NULL)
		list = getenv("CUDA_VISIBLE_DEVICES");
	if (list == NULL)
		list = "0";
	if (procfs_stat(getpid(), &self) == -1)
		err(GS_BAD, "/proc/self/stat");
	words = rest = xstrdup(list);
	while (*list != '\0' && (w = strsep(&rest, ",")) != NULL)
		gpu_take(j, w, &self);
	free(words);
	if (j->n == 0)
		errx(OOM_STATUS, "no CUDA-capable device is visible");
}

static void
unclaim(const struct job *j)
{
	size_t i;

	for (i = 0; i < j->n; i++)
		simdir_unclaim(j->dir, &j->claim[i]);
}

/* In the form that programs and their readers know; the rest is ours. */
static void __attribute__((noreturn))
out_of_memory(const struct job *j, size_t gpu, int64_t want, int64_t left)
{
	fprintf(stderr,
	    "RuntimeError: CUDA out of memory. Tried to allocate "
	    "%" PRId64 " MiB on simulated GPU %zu, which has %" PRId64
	    " MiB and %" PRId64 " MiB of it left\n",
	    want, gpu, j->size[gpu], left);
	unclaim(j);
	exit(OOM_STATUS);
}

/* What others left of a GPU. */
static int64_t
left_on(const struct job *j, const struct claim *mine,
    const struct claim *claims, size_t n)
{
	int64_t left = j->size[mine->gpu];
	size_t i;

	for (i = 0; i < n; i++)
		if (claims[i].gpu == mine->gpu &&
		    (claims[i].pid != mine->pid ||
			claims[i].start != mine->start))
			left -= claims[i].mib;
	return left > 0 ? left : 0;
}

/* Is this the time to run out of memory whatever the card has? */
static bool
oom_now(const struct job *j, int64_t want)
{
	int fd;

	if (j->oom_at == -1 || want < j->oom_at)
		return false;
	if (j->oom_once == NULL)
		return true;
	fd = open(j->oom_once, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1 && errno != EEXIST)
		err(GS_BAD, "%s", j->oom_once);
	if (fd != -1)
		close(fd);
	return fd != -1;
}

/* Hold `want` MiB on every GPU from now on. */
static void
claim_all(struct job *j, int64_t want)
{
	struct claim *claims;
	int64_t left;
	size_t n, i;
	int lock;

	lock = simdir_lock(j->dir);
	if (lock == -1 || simdir_claims(j->dir, &claims, &n) == -1)
		err(GS_BAD, "simulation");
	for (i = 0; i < j->n; i++) {
		left = left_on(j, &j->claim[i], claims, n) - j->claim[i].mib;
		if (want - j->claim[i].mib > left || oom_now(j, want))
			out_of_memory(
			    j, j->claim[i].gpu, want - j->claim[i].mib, left);
		j->claim[i].mib = want;
		if (simdir_claim(j->dir, &j->claim[i]) == -1)
			err(GS_BAD, "simulation");
	}
	free(claims);
	close(lock);
}

static void
sleep_until(int64_t at)
{
	struct timespec ts = {
	    .tv_sec = at / 1000,
	    .tv_nsec = at % 1000 * 1000000,
	};

	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void
work(struct job *j)
{
	int64_t begin = clock_ms();
	int i, steps = j->ramp_ms > 0 ? STEPS : 1;

	for (i = 1; i <= steps; i++) {
		if (i > 1)
			sleep_until(begin + j->ramp_ms * (i - 1) / (steps - 1));
		claim_all(j, j->vram * i / steps);
	}
	sleep_until(begin + j->ramp_ms + j->hold_ms);
	unclaim(j);
}

int
main(int argc, char **argv)
{
	struct job j = {
	    .vram = -1,
	    .util = 95,
	    .oom_at = -1,
	};

	gs_open_std();
	umask(077);
	opts_parse(&j, argc, argv);
	/* --oom-once alone: at the last step. */
	if (j.oom_once != NULL && j.oom_at == -1)
		j.oom_at = j.vram;
	sim_open(&j);
	gpus_parse(&j);
	work(&j);
	free(j.claim);
	free(j.size);
	return j.status;
}
