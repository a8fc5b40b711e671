/* SPDX-License-Identifier: MIT */
/*
 * gs-loop: run the shell commands of a jobs file, each on a GPU with room for
 * it, the moment there is room.
 *
 * It wires the other programs together: gs-probe says what the GPUs hold,
 * gs-place where the next jobs may go, gs-launch starts them, the journal
 * keeps what happened.  Everything it knows can be recomputed from the jobs
 * file and the journal, which is what makes it safe to kill.
 *
 * Read next: loop.c (what wakes it), queue.c (what is to be done), run.c
 * (what is being done), place.c (how the two meet).
 */
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <sys/epoll.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/procfs.h"
#include "lib/unit.h"
#include "lib/xalloc.h"

enum {
	LOCK_TRIES = 10, /* for the lock of the log directory */
	LOCK_PAUSE_MS = 10,
};

/* The log directory, made if need be, as an absolute path. */
static char *
log_dir_open(const char *dir)
{
	char real[PATH_MAX];
	struct stat st;

	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		err(GS_BAD, "%s", dir);
	if (realpath(dir, real) == NULL || stat(real, &st) == -1)
		err(GS_BAD, "%s", dir);
	if (!S_ISDIR(st.st_mode))
		errx(GS_BAD, "%s: not a directory", dir);
	if (access(real, R_OK | W_OK | X_OK) == -1)
		err(GS_BAD, "%s", dir);
	return xstrdup(real);
}

/*
 * One gs-loop for a log directory.  The kernel drops the lock with the
 * process, and the descriptor is close-on-exec, so no job can keep it.
 */
static void
lock_open(const char *log_dir)
{
	char *path = xasprintf("%s/lock", log_dir), holder[32] = "";
	int fd, n, tries = 0;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd == -1)
		err(GS_BAD, "%s", path);
	/* gs-journal takes it for an instant, to see whether we are there. */
	while (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		if (errno == EWOULDBLOCK && tries++ < LOCK_TRIES) {
			poll(NULL, 0, LOCK_PAUSE_MS);
			continue;
		}
		if (errno != EWOULDBLOCK)
			err(GS_BAD, "%s", path);
		n = (int)read(fd, holder, sizeof(holder) - 1);
		holder[n > 0 ? n : 0] = '\0';
		holder[strcspn(holder, "\n")] = '\0';
		errx(GS_BAD, "%s: another gs-loop is at work here, pid %s",
		    log_dir, holder[0] != '\0' ? holder : "unknown");
	}
	if (ftruncate(fd, 0) == -1 || dprintf(fd, "%ld\n", (long)getpid()) < 0)
		warn("%s", path); /* it only helps people */
	free(path);
}

/* Nothing of the old journal may still run, or it would be run twice. */
static void
refuse_if_alive(const struct ledger *g)
{
	const struct job_fold *j;
	char boot[BOOT_ID_MAX];
	size_t i;

	procfs_boot(boot);
	for (i = 0; i < fold_count(g->fold); i++) {
		j = fold_at(g->fold, i);
		if (!j->open || (j->boot != NULL && strcmp(j->boot, boot) != 0))
			continue;
		if (procfs_alive((pid_t)j->pgid, j->start) ||
		    procfs_alive((pid_t)j->supervisor, j->sup_start))
			errx(GS_BAD, "--fresh: job %s still runs (pid %lld)",
			    j->id, (long long)j->pgid);
	}
}

/* --fresh: the old journal is put aside, under the time of day. */
static void
put_aside(struct loop *l, const char *path)
{
	char stamp[32], *aside;
	struct stat st;
	struct tm tm;
	time_t now = time(NULL);
	int n = 0;

	refuse_if_alive(&l->ledger);
	journal_reader_close(&l->ledger.reader);
	fold_free(l->ledger.fold);
	free(l->ledger.path);
	l->ledger = (struct ledger){0};
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	aside = xasprintf("%s.%s", path, stamp);
	while (lstat(aside, &st) == 0) {
		free(aside);
		aside = xasprintf("%s.%s.%d", path, stamp, ++n);
	}
	if (rename(path, aside) == -1)
		err(GS_BAD, "%s", path);
	free(aside);
	ledger_open(&l->ledger, path);
}

static void
journal_open(struct loop *l)
{
	char *path = xasprintf("%s/journal.jsonl", l->log_dir);

	ledger_open(&l->ledger, path);
	if (l->o->fresh && fold_count(l->ledger.fold) > 0)
		put_aside(l, path);
	free(path);
}

/*
 * Jobs of a simulation find it, and gs-simjob, without being told: the
 * simulation lives in the log directory, and our own folder is searched last.
 */
static void
sim_env(const struct loop *l)
{
	char self[PATH_MAX], *dir, *path, *slash;
	const char *old = getenv("PATH");
	ssize_t n;

	if (l->o->sim == NULL)
		return;
	dir = xasprintf("%s/sim", l->log_dir);
	setenv("GS_SIM_DIR", dir, 0);
	free(dir);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return;
	self[n] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	path = xasprintf("%s%s%s", old ? old : "", old ? ":" : "", self);
	setenv("PATH", path, 1);
	free(path);
}

static void
note_seen(void *l, const cJSON *ev)
{
	say_note(l, ev);
}

static void
prepare(struct loop *l, const struct opts *o)
{
	struct jobs jobs;

	*l = (struct loop){
	    .o = o,
	    .signals.fd = -1,
	    .inotify.fd = -1,
	    .retry_at = INT64_MAX,
	    .board_at = INT64_MAX,
	    .begun_ms = clock_ms(),
	};
	runs_init(&l->runs);
	probe_init(&l->probe);
	place_init(&l->place);
	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epfd == -1)
		err(GS_BAD, "epoll");
	/* The user's mistakes first: before anything is made or locked. */
	if (jobsfile_open(&l->file, o->jobs, &jobs) == 0)
		jobs = (struct jobs){0};
	l->log_dir = log_dir_open(o->log_dir);
	lock_open(l->log_dir);
	journal_open(l);
	l->ledger.note = note_seen;
	l->ledger.arg = l;
	sim_env(l);
	queue_take(l, &jobs);
	/* If a supervisor is killed we inherit its job, and its status. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		err(GS_BAD, "prctl");
}

/* End as the signal would have ended us, so that the shell sees the truth. */
static void
end_by(int sig)
{
	sigset_t set;

	fflush(stdout);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	raise(sig);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

int
main(int argc, char **argv)
{
	/* Never freed: static, so that at the end it is not taken for lost. */
	static struct opts o;
	static struct loop l;
	int status;

	gs_open_std();
	opts_parse(&o, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	prepare(&l, &o);
	loop_run(&l);
	if (l.no_gpus)
		errx(GS_BAD,
		    "no GPUs; `gs-probe --check` says more, --sim N "
		    "needs none");
	say_summary(&l);
	status = queue_status(&l);
	if (l.signal != 0)
		end_by(l.signal);
	gs_close_stdout(GS_BAD);
	return status;
}
