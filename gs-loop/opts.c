/* SPDX-License-Identifier: MIT */
#include "gs-loop/opts.h"

#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	NUMBER_MAX = 1000000
};

enum {
	OPT_BACKEND = 256,
	OPT_BOARD_LINES,
	OPT_EXCLUSIVE,
	OPT_FRESH,
	OPT_GPU_MEM,
	OPT_GRACE,
	OPT_IDLE,
	OPT_LAUNCH,
	OPT_MAX_FAILS,
	OPT_OOM_RETRIES,
	OPT_PLACE,
	OPT_POLICY,
	OPT_PROBE,
	OPT_SHARED,
	OPT_SIM,
	OPT_SLOTS,
	OPT_SPIKE,
	OPT_TOLERANCE,
};

static const struct option longopts[] = {
    {"backend", required_argument, NULL, OPT_BACKEND},
    {"board-lines", required_argument, NULL, OPT_BOARD_LINES},
    {"exclusive", no_argument, NULL, OPT_EXCLUSIVE},
    {"fresh", no_argument, NULL, OPT_FRESH},
    {"gpus", required_argument, NULL, 'g'},
    {"gpu-mem", required_argument, NULL, OPT_GPU_MEM},
    {"grace", required_argument, NULL, OPT_GRACE},
    {"help", no_argument, NULL, 'h'},
    {"idle-threshold", required_argument, NULL, OPT_IDLE},
    {"launch", required_argument, NULL, OPT_LAUNCH},
    {"log-dir", required_argument, NULL, 'l'},
    {"margin", required_argument, NULL, 'm'},
    {"max-fails", required_argument, NULL, OPT_MAX_FAILS},
    {"oom-retries", required_argument, NULL, OPT_OOM_RETRIES},
    {"place", required_argument, NULL, OPT_PLACE},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"poll", required_argument, NULL, 'p'},
    {"probe", required_argument, NULL, OPT_PROBE},
    {"shared-gpu", required_argument, NULL, OPT_SHARED},
    {"sim", required_argument, NULL, OPT_SIM},
    {"slots", required_argument, NULL, OPT_SLOTS},
    {"spike-buffer", required_argument, NULL, OPT_SPIKE},
    {"tolerance", required_argument, NULL, OPT_TOLERANCE},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, 'V'},
    {"watch", no_argument, NULL, 'w'},
    {NULL, 0, NULL, 0},
};

static const char synopsis[] = "usage: gs-loop [options] JOBS-FILE\n";

static const char help[] =
    "\n"
    "Run the shell commands of a jobs file, each on a GPU with room for it.\n"
    "\n"
    "  -g, --gpus LIST            use only these GPUs, by index\n"
    "      --sim N[xSIZE]         N simulated GPUs of SIZE (24G) each\n"
    "      --backend NAME         how gs-probe looks at the GPUs\n"
    "      --gpu-mem GPU=SIZE     what it has, if the driver does not tell\n"
    "  -m, --margin SIZE          added to every declaration (512)\n"
    "      --idle-threshold SIZE  a GPU below it counts as idle (200)\n"
    "      --tolerance FRACTION   band of a right declaration (0.10)\n"
    "      --spike-buffer FRACTION\n"
    "                             added to observed peaks (0.10)\n"
    "      --exclusive            one of our jobs on a GPU at a time\n"
    "      --policy NAME          order of the queue: backfill, fifo\n"
    "      --oom-retries N        after running out of GPU memory (0)\n"
    "      --max-fails N          start nothing more after N failures\n"
    "      --slots N              how much may run at once\n"
    "      --shared-gpu INDEX     where light jobs go (the last GPU)\n"
    "  -p, --poll SECONDS         how often the GPUs are looked at (5)\n"
    "      --grace DURATION       from TERM to KILL (10s)\n"
    "  -w, --watch                go on when the queue is empty\n"
    "      --fresh                put the journal aside, run all again\n"
    "  -l, --log-dir DIR          logs, journal and board (gs_logs)\n"
    "      --board-lines N        jobs of a kind on the board (40)\n"
    "  -v, --verbose              say how memory use grows\n"
    "      --probe COMMAND        instead of gs-probe\n"
    "      --place COMMAND        instead of gs-place\n"
    "      --launch COMMAND       instead of gs-launch\n"
    "  -h, --help                 this text\n"
    "  -V, --version              the version\n";

static void __attribute__((noreturn)) wrong_use(void)
{
	fputs(synopsis, stderr);
	exit(GS_BAD);
}

static void __attribute__((noreturn)) print_and_leave(int version)
{
	if (version)
		gs_version();
	else
		printf("%s%s", synopsis, help);
	gs_close_stdout(GS_BAD);
	exit(GS_OK);
}

static int64_t
checked(int64_t v, const char *option, const char *word, const char *errstr)
{
	if (errstr != NULL)
		errx(GS_BAD, "--%s '%s': %s", option, word, errstr);
	return v;
}

/* Check a word that is passed on. */
static const char *
mib(const char *option, const char *word)
{
	const char *errstr;
	int64_t v = unit_mib(word, &errstr);

	checked(v, option, word, errstr);
	return word;
}

static const char *
fraction(const char *option, const char *word)
{
	const char *errstr;
	int64_t v = unit_ppm(word, &errstr);

	checked(v, option, word, errstr);
	return word;
}

static int64_t
duration(const char *option, const char *word, int64_t least_ms)
{
	const char *errstr;
	int64_t v = unit_ms(word, &errstr);

	if (errstr == NULL && v < least_ms)
		errstr = "too small";
	return checked(v, option, word, errstr);
}

static int64_t
number(const char *option, const char *word, int64_t min)
{
	const char *errstr;
	int64_t v = unit_num(word, min, NUMBER_MAX, &errstr);

	return checked(v, option, word, errstr);
}

static void
take_gpu_mem(struct opts *o, const char *word)
{
	const char *eq = strrchr(word, '=');

	if (eq == NULL || eq == word)
		errx(GS_BAD, "--gpu-mem '%s': not GPU=SIZE", word);
	mib("gpu-mem", eq + 1);
	o->gpu_mem =
	    xreallocarray(o->gpu_mem, o->ngpu_mem + 1, sizeof(*o->gpu_mem));
	o->gpu_mem[o->ngpu_mem++] = word;
}

/* The options that are only handed on, or whose word needs no check. */
static int
take_word(struct opts *o, int c, const char *word)
{
	switch (c) {
	case 'g':
		o->gpus = word;
		break;
	case 'l':
		o->log_dir = word;
		break;
	case OPT_BACKEND:
		o->backend = word;
		break;
	case OPT_GPU_MEM:
		take_gpu_mem(o, word);
		break;
	case OPT_SIM:
		o->sim = word;
		break;
	case OPT_POLICY:
		o->policy = word;
		break;
	case OPT_SHARED:
		o->shared_gpu = word;
		break;
	case OPT_PROBE:
		o->probe = word;
		break;
	case OPT_PLACE:
		o->place = word;
		break;
	case OPT_LAUNCH:
		o->launch = word;
		break;
	default:
		return 0;
	}
	return 1;
}

static int
take_number(struct opts *o, int c, const char *word)
{
	const char *errstr;

	switch (c) {
	case 'm':
		o->margin = mib("margin", word);
		break;
	case OPT_IDLE:
		o->idle_threshold = mib("idle-threshold", word);
		break;
	case OPT_SPIKE:
		o->spike_buffer = fraction("spike-buffer", word);
		break;
	case OPT_TOLERANCE:
		o->tolerance_ppm = unit_ppm(word, &errstr);
		checked(o->tolerance_ppm, "tolerance", word, errstr);
		break;
	case OPT_SLOTS:
		number("slots", word, 1);
		o->slots = word;
		break;
	case 'p':
		o->poll_ms = duration("poll", word, 10);
		break;
	case OPT_GRACE:
		o->grace_ms = duration("grace", word, 0);
		break;
	case OPT_BOARD_LINES:
		o->board_lines = number("board-lines", word, 1);
		break;
	case OPT_OOM_RETRIES:
		o->oom_retries = number("oom-retries", word, 0);
		break;
	case OPT_MAX_FAILS:
		o->max_fails = number("max-fails", word, 1);
		break;
	default:
		return 0;
	}
	return 1;
}

static void
take_flag(struct opts *o, int c)
{
	switch (c) {
	case OPT_EXCLUSIVE:
		o->exclusive = true;
		break;
	case OPT_FRESH:
		o->fresh = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	case 'w':
		o->watch = true;
		break;
	case 'h':
	case 'V':
		print_and_leave(c == 'V');
	default:
		wrong_use(); /* getopt said what is wrong */
	}
}

static void
defaults(struct opts *o)
{
	*o = (struct opts){
	    .log_dir = getenv("GS_LOG_DIR"),
	    .probe = getenv("GS_PROBE"),
	    .place = getenv("GS_PLACE"),
	    .launch = getenv("GS_LAUNCH"),
	    .tolerance_ppm = 100000,
	    .poll_ms = 5000,
	    .grace_ms = 10000,
	    .board_lines = 40,
	};
	if (o->log_dir == NULL || o->log_dir[0] == '\0')
		o->log_dir = "gs_logs";
}

void
opts_parse(struct opts *o, int argc, char **argv)
{
	int c;

	defaults(o);
	/* It permutes: people write `gs-loop jobs.txt --sim 2`. */
	while (
	    (c = getopt_long(argc, argv, "g:hl:m:p:vVw", longopts, NULL)) != -1)
		if (!take_word(o, c, optarg) && !take_number(o, c, optarg))
			take_flag(o, c);
	argc -= optind;
	argv += optind;
	if (argc == 0) {
		warnx("no jobs file named");
		wrong_use();
	}
	if (argc > 1) {
		warnx("'%s': only one jobs file", argv[1]);
		wrong_use();
	}
	if (o->sim != NULL && o->backend != NULL) {
		warnx("--sim and --backend exclude each other");
		wrong_use();
	}
	o->jobs = argv[0];
}
