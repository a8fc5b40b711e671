/* SPDX-License-Identifier: MIT */
#include "gs-place/opts.h"

#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	IDLE = 1000,
	MARGIN,
	SPIKE,
	EXCLUSIVE,
	POLICY,
	JOB,
	GPUS_ONLY,
	WAIT_FOR,
	SHARED,
	SLOTS,
	SLOTS_MAX = 1000000,
};

static const struct option longopts[] = {
    {"gpus", required_argument, NULL, 'g'},
    {"idle-threshold", required_argument, NULL, IDLE},
    {"margin", required_argument, NULL, MARGIN},
    {"spike-buffer", required_argument, NULL, SPIKE},
    {"exclusive", no_argument, NULL, EXCLUSIVE},
    {"policy", required_argument, NULL, POLICY},
    {"job", required_argument, NULL, 'j'},
    {"gpus-only", no_argument, NULL, GPUS_ONLY},
    {"wait", no_argument, NULL, WAIT_FOR},
    {"shared-gpu", required_argument, NULL, SHARED},
    {"slots", required_argument, NULL, SLOTS},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const char usage_line[] = "usage: gs-place [option ...] <FRAMES\n";

static const char help[] =
    "\n"
    "  -g, --gpus LIST           only these GPUs, in this order\n"
    "  -j, --job BLOCK           a job to place, as in '[vram=8G]'; "
    "repeatable\n"
    "      --gpus-only           print the GPUs of the first job placed, only\n"
    "      --wait                read frames until a job is placed\n"
    "      --policy NAME         backfill (default) or fifo\n"
    "      --margin MIB          kept free beside each declaration (512)\n"
    "      --spike-buffer F      on top of observed peaks (0.10)\n"
    "      --idle-threshold MIB  below it a GPU is idle (200)\n"
    "      --exclusive           one of our jobs per GPU\n"
    "      --shared-gpu INDEX    the GPU of light jobs (the last)\n"
    "      --slots N             limit on concurrent jobs (none)\n"
    "  -h, --help                print this\n"
    "  -V, --version             print the version\n";

static void __attribute__((noreturn)) wrong(void)
{
	fputs(usage_line, stderr);
	exit(GS_BAD);
}

static void __attribute__((noreturn))
wrong_value(const char *opt, const char *value, const char *why)
{
	warnx("%s '%s': %s", opt, value, why);
	wrong();
}

static int64_t
checked(const char *opt, const char *value, int64_t v, const char *errstr)
{
	if (errstr != NULL)
		wrong_value(opt, value, errstr);
	return v;
}

static int64_t
number(const char *opt, const char *value, int64_t min, int64_t max)
{
	const char *errstr;
	int64_t v = unit_num(value, min, max, &errstr);

	return checked(opt, value, v, errstr);
}

static int64_t
memory(const char *opt, const char *value)
{
	const char *errstr;
	int64_t v = unit_mib(value, &errstr);

	return checked(opt, value, v, errstr);
}

static int64_t
fraction(const char *opt, const char *value)
{
	const char *errstr;
	int64_t v = unit_ppm(value, &errstr);

	return checked(opt, value, v, errstr);
}

static enum policy
policy(const char *name)
{
	if (strcmp(name, "backfill") == 0)
		return BACKFILL;
	if (strcmp(name, "fifo") == 0)
		return FIFO;
	wrong_value("--policy", name, "unknown policy");
}

/* "0,2" or UUIDs, each once. */
static void
gpus(struct rules *r, const char *list)
{
	char *copy = xstrdup(list), *rest = copy, *word;
	size_t i;

	for (i = 0; i < r->ngpus; i++)
		free(r->gpus[i]);
	r->ngpus = 0;
	while ((word = strsep(&rest, ",")) != NULL) {
		if (word[0] == '\0')
			wrong_value("--gpus", list, "invalid");
		for (i = 0; i < r->ngpus; i++)
			if (strcmp(r->gpus[i], word) == 0)
				wrong_value("--gpus", list, "given twice");
		r->gpus =
		    xreallocarray(r->gpus, r->ngpus + 1, sizeof(*r->gpus));
		r->gpus[r->ngpus++] = xstrdup(word);
	}
	free(copy);
}

static void
job(struct opts *o, const char *block)
{
	struct attr_err e;
	struct job *j;

	o->job = xreallocarray(o->job, o->njob + 1, sizeof(*o->job));
	j = &o->job[o->njob++];
	if (attr_parse_all(block, &j->attr, &e) == -1) {
		warnx("--job: '%s': %s", e.word, e.msg);
		wrong();
	}
	j->id = xasprintf("%zu", o->njob);
}

static void
take_rule(struct rules *r, int ch, const char *arg)
{
	switch (ch) {
	case 'g':
		gpus(r, arg);
		break;
	case IDLE:
		r->idle_mib = memory("--idle-threshold", arg);
		break;
	case MARGIN:
		r->margin_mib = memory("--margin", arg);
		break;
	case SPIKE:
		r->spike_ppm = fraction("--spike-buffer", arg);
		break;
	case EXCLUSIVE:
		r->exclusive = true;
		break;
	case POLICY:
		r->policy = policy(arg);
		break;
	case SHARED:
		r->shared = number("--shared-gpu", arg, 0, INT64_MAX);
		break;
	case SLOTS:
		r->slots = number("--slots", arg, 1, SLOTS_MAX);
		break;
	default:
		wrong();
	}
}

static void
take(struct opts *o, int ch, const char *arg)
{
	switch (ch) {
	case 'j':
		job(o, arg);
		break;
	case GPUS_ONLY:
		o->gpus_only = true;
		break;
	case WAIT_FOR:
		o->wait = true;
		break;
	case 'h':
		printf("%s%s", usage_line, help);
		gs_close_stdout(GS_BAD);
		exit(GS_OK);
	case 'V':
		gs_version();
		gs_close_stdout(GS_BAD);
		exit(GS_OK);
	default:
		take_rule(&o->rules, ch, arg);
	}
}

void
opts_parse(int argc, char *argv[], struct opts *o)
{
	int ch;

	*o = (struct opts){
	    .rules =
		{
		    .idle_mib = 200,
		    .margin_mib = 512,
		    .spike_ppm = 100000,
		    .shared = -1,
		},
	};
	while ((ch = getopt_long(argc, argv, "+g:hj:V", longopts, NULL)) != -1)
		take(o, ch, optarg);
	if (optind < argc) {
		warnx("'%s': unexpected operand", argv[optind]);
		wrong();
	}
}

void
opts_free(struct opts *o)
{
	size_t i;

	for (i = 0; i < o->njob; i++) {
		attr_free(&o->job[i].attr);
		free((char *)(uintptr_t)o->job[i].id);
	}
	free(o->job);
	for (i = 0; i < o->rules.ngpus; i++)
		free(o->rules.gpus[i]);
	free(o->rules.gpus);
}
