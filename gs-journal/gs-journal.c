/* SPDX-License-Identifier: MIT */
/*
 * gs-journal: what happened?  Options are taken before and behind the verb;
 * the rest is the verb's, one file each.
 */
#include <err.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-journal/verb.h"
#include "lib/gs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	OPT_ATTEMPT = 256
};

static const struct option longopts[] = {
    {"journal", required_argument, NULL, 'j'},
    {"log-dir", required_argument, NULL, 'l'},
    {"follow", no_argument, NULL, 'f'},
    {"lines", required_argument, NULL, 'n'},
    {"attempt", required_argument, NULL, OPT_ATTEMPT},
    {"timeout", required_argument, NULL, 't'},
    {"compact", no_argument, NULL, 'c'},
    {"raw", no_argument, NULL, 'r'},
    {"slurp", no_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const struct verb {
	const char *name;
	int (*run)(const struct opts *);
	const char *options; /* that it takes, beyond -j and -l */
	size_t min, max; /* operands */
} verbs[] = {
    {"append", verb_append, "", 0, SIZE_MAX},
    {"state", verb_state, "", 0, SIZE_MAX},
    {"query", verb_query, "crs", 1, 1},
    {"show", verb_show, "", 1, SIZE_MAX},
    {"log", verb_log, "fna", 1, 1},
    {"wait", verb_wait, "t", 1, SIZE_MAX},
    {"check", verb_check, "", 0, 0},
};

static void
usage(FILE *out)
{
	fprintf(out,
	    "usage: gs-journal [-j FILE | -l DIR] VERB [OPTION...] "
	    "[OPERAND...]\n");
}

static const char help_text[] =
    "\n"
    "  append [EVENT KEY=VALUE...]\n"
    "                   record an event, or the start and exit\n"
    "                   records of frames on stdin\n"
    "  state [JOB...]   print a record for each job\n"
    "  query FILTER     run jq over the events\n"
    "  show JOB...      tell about jobs\n"
    "  log JOB          print a job's output\n"
    "  wait JOB...      wait until they have ended\n"
    "  check            print where the journal is damaged\n"
    "\n"
    "  -j, --journal FILE  the journal\n"
    "  -l, --log-dir DIR   the folder of journal.jsonl\n"
    "  -f, --follow        log: go on until the attempt has ended\n"
    "  -n, --lines N       log: only the last N lines\n"
    "      --attempt N     log: this attempt, not the latest\n"
    "  -t, --timeout D     wait: no longer than this\n"
    "  -c, --compact       query: one line for each result\n"
    "  -r, --raw           query: strings without quotes\n"
    "  -s, --slurp         query: all events as one array\n"
    "  -h, --help          print this help\n"
    "  -V, --version       print the version\n";

_Noreturn static void
help(void)
{
	usage(stdout);
	fputs(help_text, stdout);
	gs_close_stdout(GS_BAD);
	exit(GS_OK);
}

_Noreturn static void
version(void)
{
	gs_version();
	gs_close_stdout(GS_BAD);
	exit(GS_OK);
}

_Noreturn void
bad_use(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarnx(fmt, ap);
	va_end(ap);
	usage(stderr);
	exit(GS_BAD);
}

static int64_t
number(const char *option, const char *s, int64_t min)
{
	const char *errstr;
	int64_t v = unit_num(s, min, INT64_MAX, &errstr);

	if (errstr != NULL)
		bad_use("%s '%s': %s", option, s, errstr);
	return v;
}

static int64_t
duration(const char *s)
{
	const char *errstr;
	int64_t v = unit_ms(s, &errstr);

	if (errstr != NULL)
		bad_use("--timeout '%s': %s", s, errstr);
	return v;
}

static void
option(struct opts *o, int ch)
{
	switch (ch) {
	case 'j':
		o->journal = optarg;
		break;
	case 'l':
		o->logdir = optarg;
		break;
	case 'f':
		o->follow = true;
		break;
	case 'n':
		o->lines = number("--lines", optarg, 0);
		break;
	case OPT_ATTEMPT:
		o->attempt = number("--attempt", optarg, 1);
		break;
	case 't':
		o->timeout_ms = duration(optarg);
		break;
	case 'c':
		o->compact = true;
		break;
	case 'r':
		o->raw = true;
		break;
	case 's':
		o->slurp = true;
		break;
	case 'h':
		help();
	case 'V':
		version();
	default:
		usage(stderr);
		exit(GS_BAD);
	}
}

/*
 * Options and words in any order, up to "--".  getopt itself must not
 * permute: it would move the words.
 */
static void
parse(struct opts *o, int argc, char *argv[])
{
	int ch;

	o->arg = o->word = xcalloc((size_t)argc, sizeof(*o->word));
	for (;;) {
		ch = getopt_long(argc, argv, "+j:l:fn:t:crshV", longopts, NULL);
		if (ch != -1) {
			option(o, ch);
			continue;
		}
		if (optind >= argc)
			return;
		if (strcmp(argv[optind - 1], "--") == 0)
			break;
		o->arg[o->narg++] = argv[optind++];
	}
	while (optind < argc)
		o->arg[o->narg++] = argv[optind++];
}

/* Refuse what the verb does not take: an option ignored is a lie. */
static void
check_options(const struct opts *o, const struct verb *v)
{
	const struct {
		bool given;
		char letter;
		const char *name;
	} tab[] = {
	    {o->follow, 'f', "--follow"},
	    {o->lines != -1, 'n', "--lines"},
	    {o->attempt != -1, 'a', "--attempt"},
	    {o->timeout_ms != -1, 't', "--timeout"},
	    {o->compact, 'c', "--compact"},
	    {o->raw, 'r', "--raw"},
	    {o->slurp, 's', "--slurp"},
	};
	size_t i;

	for (i = 0; i < sizeof(tab) / sizeof(tab[0]); i++)
		if (tab[i].given && strchr(v->options, tab[i].letter) == NULL)
			bad_use(
			    "%s: not an option of '%s'", tab[i].name, v->name);
	if (o->journal != NULL && o->logdir != NULL)
		bad_use("--journal and --log-dir: only one of them");
	if (o->narg < v->min)
		bad_use("%s: what?", v->name);
	if (o->narg > v->max)
		bad_use("%s: '%s': one word too many", v->name, o->arg[v->max]);
}

static const struct verb *
verb_find(struct opts *o)
{
	size_t i;

	if (o->narg == 0)
		bad_use("no verb");
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, o->arg[0]) == 0) {
			o->arg++;
			o->narg--;
			return &verbs[i];
		}
	bad_use("'%s': no such verb", o->arg[0]);
}

static char *
journal_path(const struct opts *o)
{
	const char *dir = o->logdir;

	if (o->journal != NULL)
		return xstrdup(o->journal);
	if (dir == NULL)
		dir = getenv("GS_LOG_DIR");
	if (dir == NULL || *dir == '\0')
		dir = "gs_logs";
	return xasprintf("%s/journal.jsonl", dir);
}

int
main(int argc, char *argv[])
{
	struct opts o = {.lines = -1, .attempt = -1, .timeout_ms = -1};
	const struct verb *v;
	int status;

	gs_open_std();
	/* A limit on file sizes shall be an error that can be handled. */
	signal(SIGXFSZ, SIG_IGN);
	parse(&o, argc, argv);
	v = verb_find(&o);
	check_options(&o, v);
	o.path = journal_path(&o);
	status = v->run(&o);
	free(o.path);
	free(o.word);
	gs_close_stdout(GS_BAD);
	return status;
}
