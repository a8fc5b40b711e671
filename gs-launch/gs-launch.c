/* SPDX-License-Identifier: MIT */
/*
 * Start one job and look after it.
 *
 *	caller -- front (this process) -- supervisor -- the job
 *
 * The front parses, forks the supervisor, prints what that reports, and ends;
 * with --wait it stays.  The supervisor starts the job (start.c), then serves
 * it until its process tree is empty (supervise.c).
 */
#include <err.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gs-launch/command.h"
#include "gs-launch/front.h"
#include "gs-launch/launch.h"
#include "lib/gs.h"
#include "lib/jobs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	GRACE_MS = 10 * 1000
};

enum {
	OPT_ID = 256,
	OPT_ATTEMPT,
	OPT_NO,
	OPT_UUIDS,
	OPT_MASK,
	OPT_VRAM,
	OPT_LOG,
	OPT_JOURNAL,
	OPT_SEEN,
	OPT_GRACE,
	OPT_LINGER,
	OPT_CWD,
	OPT_ENV,
	OPT_SHELL,
};

static const struct option longopts[] = {
    {"id", required_argument, NULL, OPT_ID},
    {"attempt", required_argument, NULL, OPT_ATTEMPT},
    {"no", required_argument, NULL, OPT_NO},
    {"gpus", required_argument, NULL, 'g'},
    {"uuids", required_argument, NULL, OPT_UUIDS},
    {"mask", required_argument, NULL, OPT_MASK},
    {"vram", required_argument, NULL, OPT_VRAM},
    {"log", required_argument, NULL, OPT_LOG},
    {"journal", required_argument, NULL, OPT_JOURNAL},
    {"seen", required_argument, NULL, OPT_SEEN},
    {"timeout", required_argument, NULL, 't'},
    {"grace", required_argument, NULL, OPT_GRACE},
    {"linger", no_argument, NULL, OPT_LINGER},
    {"cwd", required_argument, NULL, OPT_CWD},
    {"env", required_argument, NULL, OPT_ENV},
    {"shell", required_argument, NULL, OPT_SHELL},
    {"wait", no_argument, NULL, 'w'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const char usage_line[] =
    "usage: gs-launch [options] -- command [arg ...]\n";

static const char help_text[] =
    "       gs-launch [options] --shell line\n"
    "\n"
    "      --id ID           what the job is called in records and journal\n"
    "      --attempt N       which try this is (default 1)\n"
    "      --no N            the job's number for people\n"
    "  -g, --gpus LIST       the GPUs it may see: indices or UUIDs\n"
    "      --uuids LIST      their identities, for the journal\n"
    "      --mask NAME=LIST  set this, not CUDA_VISIBLE_DEVICES=LIST\n"
    "      --vram SIZE       memory declared for each GPU\n"
    "      --log FILE        append the job's output to it\n"
    "      --journal FILE    claim the attempt there and record its end\n"
    "      --seen OFFSET     the caller has read the journal up to here\n"
    "  -t, --timeout TIME    stop the job after so long (90, 30m, 2h)\n"
    "      --grace TIME      between TERM and KILL (default 10s)\n"
    "      --linger          what the job leaves behind may stay\n"
    "      --cwd DIR         run it there\n"
    "      --env FILE        replace the environment by NAME=VALUE entries\n"
    "      --shell LINE      run /bin/sh -c LINE\n"
    "  -w, --wait            stay, and end with the job's status\n"
    "  -h, --help            print this\n"
    "  -V, --version         print the version\n";

static _Noreturn void
usage(void)
{
	fputs(usage_line, stderr);
	exit(GS_FAILED);
}

static _Noreturn void __attribute__((format(printf, 1, 2)))
wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarnx(fmt, ap);
	va_end(ap);
	usage();
}

static int64_t
number(const char *opt, const char *arg, int64_t min)
{
	const char *errstr;
	int64_t v = unit_num(arg, min, INT64_MAX, &errstr);

	if (errstr != NULL)
		wrong("%s '%s': %s", opt, arg, errstr);
	return v;
}

static int64_t
duration(const char *opt, const char *arg)
{
	const char *errstr;
	int64_t v = unit_ms(arg, &errstr);

	if (errstr != NULL)
		wrong("%s '%s': %s", opt, arg, errstr);
	return v;
}

static int64_t
limit(const char *arg)
{
	int64_t v = duration("--timeout", arg);

	if (v == 0)
		wrong("--timeout '%s': too small", arg);
	return v;
}

static int64_t
memory(const char *arg)
{
	const char *errstr;
	int64_t v = unit_mib(arg, &errstr);

	if (errstr != NULL)
		wrong("--vram '%s': %s", arg, errstr);
	return v;
}

/* An id becomes a file name, a field and a variable. */
static const char *
identity(const char *arg)
{
	if (*arg == '\0' || strlen(arg) >= JOB_ID_MAX)
		wrong("--id '%.40s': from 1 to %d bytes", arg, JOB_ID_MAX - 1);
	return arg;
}

/* Words of one kind joined by commas; "" holds none. */
static const char *
list(const char *opt, const char *arg)
{
	size_t len = strlen(arg);

	if (strpbrk(arg, " \t\n\r") != NULL || strstr(arg, ",,") != NULL ||
	    arg[0] == ',' || (len > 0 && arg[len - 1] == ','))
		wrong("%s '%s': not a list", opt, arg);
	return arg;
}

static size_t
list_count(const char *s)
{
	size_t n = *s != '\0';

	for (; *s != '\0'; s++)
		n += *s == ',';
	return n;
}

static const char *
file(const char *opt, const char *arg)
{
	if (*arg == '\0')
		wrong("%s '': no name", opt);
	return arg;
}

static void
line(struct launch *l, const char *arg)
{
	free(l->cmd);
	l->cmd = xstrdup(arg);
}

static _Noreturn void
help(void)
{
	fputs(usage_line, stdout);
	fputs(help_text, stdout);
	gs_close_stdout(GS_FAILED);
	exit(GS_OK);
}

static _Noreturn void
version(void)
{
	gs_version();
	gs_close_stdout(GS_FAILED);
	exit(GS_OK);
}

/* A variable and its value. */
static const char *
mask(const char *arg)
{
	const char *eq = strchr(arg, '=');

	if (eq == NULL || eq == arg)
		wrong("--mask '%s': not NAME=LIST", arg);
	return arg;
}

/* Options that say who the job is and what is kept of it.  0 if `ch` is none
 * of them. */
static int
option_who(struct launch *l, int ch, const char *arg)
{
	if (ch == OPT_ID)
		l->id = identity(arg);
	else if (ch == OPT_ATTEMPT)
		l->attempt = number("--attempt", arg, 1);
	else if (ch == OPT_NO)
		l->no = number("--no", arg, 1);
	else if (ch == 'g')
		l->gpus = list("--gpus", arg);
	else if (ch == OPT_UUIDS)
		l->uuids = list("--uuids", arg);
	else if (ch == OPT_MASK)
		l->mask = mask(arg);
	else if (ch == OPT_VRAM)
		l->vram_mib = memory(arg);
	else if (ch == OPT_LOG)
		l->log = file("--log", arg);
	else if (ch == OPT_JOURNAL)
		l->journal = file("--journal", arg);
	else if (ch == OPT_SEEN)
		l->seen = number("--seen", arg, 0);
	else
		return 0;
	return 1;
}

static void
option(struct launch *l, int ch, const char *arg)
{
	if (option_who(l, ch, arg))
		return;
	if (ch == 't')
		l->timeout_ms = limit(arg);
	else if (ch == OPT_GRACE)
		l->grace_ms = duration("--grace", arg);
	else if (ch == OPT_LINGER)
		l->linger = true;
	else if (ch == OPT_CWD)
		l->cwd = file("--cwd", arg);
	else if (ch == OPT_ENV)
		l->env = file("--env", arg);
	else if (ch == OPT_SHELL)
		line(l, arg);
	else if (ch == 'w')
		l->wait = true;
	else if (ch == 'h')
		help();
	else if (ch == 'V')
		version();
	else
		usage();
}

/* What is run: the words behind the options, or the --shell line. */
static void
command(struct launch *l, char **words)
{
	static char sh[] = "/bin/sh", c[] = "-c";
	static char *shell[] = {sh, c, NULL, NULL};

	if (l->cmd != NULL && words[0] != NULL)
		wrong("'%s': --shell takes no command beside it", words[0]);
	if (l->cmd == NULL && words[0] == NULL)
		wrong("no command");
	if (l->cmd != NULL) {
		shell[2] = l->cmd;
		l->argv = shell;
	} else {
		l->argv = words;
		l->cmd = command_text(words);
	}
}

static void
check(const struct launch *l)
{
	if (l->journal != NULL && l->id == NULL)
		wrong("--journal: needs --id");
	if (l->seen != -1 && l->journal == NULL)
		wrong("--seen: needs --journal");
	if (l->uuids != NULL && l->gpus != NULL &&
	    list_count(l->uuids) != list_count(l->gpus))
		wrong("--uuids: not as many as --gpus");
}

int
main(int argc, char **argv)
{
	struct launch l = {.attempt = 1,
	    .no = -1,
	    .vram_mib = -1,
	    .seen = -1,
	    .timeout_ms = -1,
	    .grace_ms = GRACE_MS};
	int ch, status;

	gs_open_std();
	xalloc_status = GS_FAILED;
	while ((ch = getopt_long(argc, argv, "+g:ht:Vw", longopts, NULL)) != -1)
		option(&l, ch, optarg);
	command(&l, argv + optind);
	check(&l);
	status = front(&l);
	free(l.cmd);
	gs_close_stdout(GS_FAILED);
	return status;
}
