/* SPDX-License-Identifier: MIT */
/*
 * gs-probe: print what the GPUs hold now.
 *
 * A backend (backend.h) looks; the snapshot is restricted (select.h), its
 * processes get their owners and peaks (attrib.h), and it is printed as a
 * frame (frame.h); watch.h does that again and again.  Nothing is placed,
 * kept or decided here.
 */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gs-probe/backend.h"
#include "gs-probe/check.h"
#include "lib/gs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"
#include "gs-probe/probe.h"
#include "gs-probe/watch.h"

struct opts {
	const char *backend;
	const char *sim;
	const char *gpus;
	struct gpumem gpumem;
	char *log_dir; /* without symbolic links */
	int64_t timeout_ms;
	struct watch watch;
	bool check;
	bool prometheus;
};

static void __attribute__((noreturn)) usage(FILE *to, int status)
{
	fputs("usage: gs-probe [option ...]\n", to);
	if (status != GS_OK)
		exit(status);
	fputs("\n"
	      "      --interval S     print a frame every S seconds\n"
	      "      --sample S       meanwhile look every S seconds, for "
	      "peaks\n"
	      "      --on-demand      print a frame for each line on stdin\n"
	      "      --check          say which backends work here, and why "
	      "not\n"
	      "      --prometheus     print it for the textfile collector\n"
	      "      --backend NAME   nvml, smi, amdgpu, sim:N[xSIZE],\n"
	      "                       file:PATH\n"
	      "      --sim N[xSIZE]   N simulated GPUs (of 24G)\n"
	      "  -g, --gpus LIST      only these, in this order\n"
	      "      --gpu-mem GPU=SIZE\n"
	      "                       what it has, if the driver does not "
	      "tell\n"
	      "  -l, --log-dir DIR    know only the jobs of this log "
	      "directory\n"
	      "  -t, --timeout S      for each call of the driver's tool (10)\n"
	      "  -h, --help           print this and exit\n"
	      "  -V, --version        print the version and exit\n",
	    to);
	gs_close_stdout(GS_BAD);
	exit(status);
}

static int64_t
seconds(const char *option, const char *value)
{
	const char *errstr;
	int64_t ms = unit_ms(value, &errstr);

	if (errstr == NULL && ms < 10)
		errstr = "too small";
	if (errstr == NULL && ms > INT_MAX)
		errstr = "too large";
	if (errstr != NULL) {
		warnx("--%s '%s': %s", option, value, errstr);
		usage(stderr, GS_BAD);
	}
	return ms;
}

static const char *
gpu_list(const char *value)
{
	struct buf word = {0};

	if (!select_valid(value, &word)) {
		warnx("--gpus '%s': invalid or repeated number '%s'", value,
		    word.p);
		usage(stderr, GS_BAD);
	}
	buf_free(&word);
	return value;
}

static void
gpu_mem(struct gpumem *m, const char *value)
{
	const char *errstr;

	if (gpumem_add(m, value, &errstr) == 0)
		return;
	warnx("--gpu-mem '%s': %s", value, errstr);
	usage(stderr, GS_BAD);
}

static char *
log_dir(const char *value)
{
	char *dir = realpath(value, NULL);

	if (dir == NULL)
		err(GS_BAD, "--log-dir '%s'", value);
	return dir;
}

/* What excludes what. */
static void
opts_check(const struct opts *o)
{
	const char *wrong = NULL;

	if (o->sim != NULL && o->backend != NULL)
		wrong = "--sim and --backend exclude each other";
	else if (o->watch.sample_ms != -1 && o->watch.interval_ms == -1)
		wrong = "--sample needs --interval";
	else if (o->watch.sample_ms > o->watch.interval_ms)
		wrong = "--sample is longer than --interval";
	else if (o->check && (o->watch.interval_ms != -1 || o->watch.on_demand))
		wrong = "--check excludes --interval and --on-demand";
	else if (o->prometheus &&
	    (o->check || o->watch.interval_ms != -1 || o->watch.on_demand))
		wrong = "--prometheus is for one look";
	if (wrong != NULL) {
		warnx("%s", wrong);
		usage(stderr, GS_BAD);
	}
}

enum {
	OPT_INTERVAL = 256,
	OPT_SAMPLE,
	OPT_DEMAND,
	OPT_CHECK,
	OPT_BACKEND,
	OPT_GPU_MEM,
	OPT_PROMETHEUS,
	OPT_SIM
};

static const struct option longopts[] = {
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"prometheus", no_argument, NULL, OPT_PROMETHEUS},
    {"sample", required_argument, NULL, OPT_SAMPLE},
    {"on-demand", no_argument, NULL, OPT_DEMAND},
    {"check", no_argument, NULL, OPT_CHECK},
    {"backend", required_argument, NULL, OPT_BACKEND},
    {"gpu-mem", required_argument, NULL, OPT_GPU_MEM},
    {"sim", required_argument, NULL, OPT_SIM},
    {"gpus", required_argument, NULL, 'g'},
    {"log-dir", required_argument, NULL, 'l'},
    {"timeout", required_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void
opts_parse(struct opts *o, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+g:l:t:hV", longopts, NULL)) != -1)
		switch (c) {
		case OPT_INTERVAL:
			o->watch.interval_ms = seconds("interval", optarg);
			break;
		case OPT_SAMPLE:
			o->watch.sample_ms = seconds("sample", optarg);
			break;
		case OPT_DEMAND:
			o->watch.on_demand = true;
			break;
		case OPT_CHECK:
			o->check = true;
			break;
		case OPT_PROMETHEUS:
			o->prometheus = true;
			break;
		case OPT_GPU_MEM:
			gpu_mem(&o->gpumem, optarg);
			break;
		case OPT_BACKEND:
			o->backend = optarg;
			break;
		case OPT_SIM:
			o->sim = optarg;
			break;
		case 'g':
			o->gpus = gpu_list(optarg);
			break;
		case 'l':
			free(o->log_dir);
			o->log_dir = log_dir(optarg);
			break;
		case 't':
			o->timeout_ms = seconds("timeout", optarg);
			break;
		case 'h':
			usage(stdout, GS_OK);
		case 'V':
			gs_version();
			gs_close_stdout(GS_BAD);
			exit(GS_OK);
		default:
			usage(stderr, GS_BAD);
		}
	if (optind < argc) {
		warnx("'%s': no operand is expected", argv[optind]);
		usage(stderr, GS_BAD);
	}
	opts_check(o);
}

/* The backend asked for; NULL if none was. */
static const struct backend *
backend_asked(const struct opts *o, struct backend_conf *conf)
{
	const struct backend *b;

	conf->timeout_ms = o->timeout_ms;
	conf->arg = o->sim;
	if (o->sim != NULL)
		return backend_find("sim", &(const char *){NULL});
	if (o->backend == NULL)
		return NULL;
	b = backend_find(o->backend, &conf->arg);
	if (b == NULL) {
		warnx("--backend '%s': unknown backend", o->backend);
		usage(stderr, GS_BAD);
	}
	return b;
}

/*
 * Open that one, or else the first that can be opened and is not only for the
 * asking.
 */
static void
backend_open(
    struct probe *p, const struct backend *b, const struct backend_conf *conf)
{
	struct buf all = {0}, why = {0};
	size_t i;

	for (i = 0; p->state == NULL && backends[i] != NULL; i++) {
		if (b != NULL ? backends[i] != b : backends[i]->on_request)
			continue;
		p->backend = backends[i];
		p->state = backends[i]->open(conf, &why);
		if (p->state == NULL)
			buf_printf(&all, "%s%s: %s", all.len > 0 ? "; " : "",
			    backends[i]->name, why.p);
		buf_reset(&why);
	}
	if (p->state == NULL)
		errx(GS_BAD, "%s", all.p);
	/* Why an earlier one could not be: --check tells. */
	buf_free(&all);
	buf_free(&why);
}

/* One frame, or a stream of them. */
static int
show(struct probe *p, const struct opts *o)
{
	if (o->watch.interval_ms != -1 || o->watch.on_demand)
		return watch(p, &o->watch);
	if (!probe_look(p))
		return GS_BAD;
	if (o->prometheus)
		return probe_prometheus(p, o->log_dir) == 0 ? GS_OK : GS_BAD;
	probe_print(p, 1);
	return GS_OK;
}

int
main(int argc, char **argv)
{
	struct opts o = {
	    .timeout_ms = 10000,
	    .watch = {.interval_ms = -1, .sample_ms = -1},
	};
	const struct backend *asked;
	struct backend_conf conf;
	struct probe p = {0};
	int status;

	gs_open_std();
	umask(077);
	opts_parse(&o, argc, argv);
	asked = backend_asked(&o, &conf);
	if (o.check) {
		status = check(asked, &conf) ? GS_OK : GS_NO;
	} else {
		backend_open(&p, asked, &conf);
		p.gpumem = o.gpumem;
		p.select.gpus = o.gpus;
		if (!p.backend->tells_all)
			p.select.visible = getenv("CUDA_VISIBLE_DEVICES");
		p.attrib.scope.dir = o.log_dir;
		status = show(&p, &o);
		probe_close(&p);
	}
	free(o.log_dir);
	gs_close_stdout(GS_BAD);
	return status;
}
