/* SPDX-License-Identifier: MIT */
#include "gs-loop/orphan.h"

#include <sys/pidfd.h>
#include <sys/wait.h>

#include <err.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gs-loop/loop.h"
#include "gs-loop/say.h"
#include "lib/clock.h"
#include "lib/gs.h"
#include "lib/procfs.h"
#include "lib/xalloc.h"

enum {
	RETRY_MS = 1000, /* of what the journal did not take */
	GLANCE_MS = 100, /* between looks at something that is about to end */
};

static bool
marked(const struct loop *l, const struct run *r, pid_t pid)
{
	char *job = procfs_env(pid, "GS_JOB");
	char *dir = procfs_env(pid, "GS_LOG_DIR");
	bool is = job != NULL && dir != NULL && strcmp(job, r->id) == 0 &&
	    strcmp(dir, l->log_dir) == 0;

	free(job);
	free(dir);
	return is;
}

/*
 * Whether a process is of this job.  A number alone proves nothing once the
 * leader is gone, so beyond the leader itself it takes the mark in the
 * environment, or the session together with the fact that we inherited it.
 */
static bool
belongs(const struct loop *l, const struct run *r, const struct pstat *st)
{
	if (st->state == 'Z' || st->pid == getpid())
		return false;
	if (st->pid == (pid_t)r->pgid)
		return st->start == r->start;
	if (st->sid == (pid_t)r->pgid && st->ppid == getpid())
		return true;
	return st->start >= r->start && marked(l, r, st->pid);
}

/* Signal every process of the job; how many there were. */
static size_t
signal_all(const struct loop *l, const struct run *r, int sig)
{
	struct pstat *list = NULL;
	size_t n = 0, i, found = 0;
	int fd;

	/* What cannot be seen, for want of descriptors, say, is not gone. */
	if (procfs_list(&list, &n) == -1)
		return 1;
	for (i = 0; i < n; i++) {
		if (!belongs(l, r, &list[i]))
			continue;
		found++;
		if (sig == 0 || (fd = pidfd_open(list[i].pid, 0)) == -1)
			continue;
		if (procfs_alive(list[i].pid, list[i].start))
			pidfd_send_signal(fd, sig, NULL, 0);
		close(fd);
	}
	free(list);
	return found;
}

static void
leader_gone(struct loop *l, void *arg)
{
	struct run *r = arg;

	loop_close(l, &r->src);
	r->check_at = 0;
}

void
orphan_adopt(struct loop *l, struct run *r)
{
	r->phase = RUN_ORPHAN;
	r->check_at = 0;
	if (!procfs_alive((pid_t)r->pgid, r->start))
		return;
	warnx("job %s: its supervisor is gone; it is watched until it ends",
	    r->id);
	r->src.fd = pidfd_open((pid_t)r->pgid, 0);
	if (r->src.fd == -1)
		return;
	r->src.ready = leader_gone;
	r->src.arg = r;
	loop_watch(l, &r->src);
	r->check_at = INT64_MAX;
	if (r->stop)
		orphan_stop(l, r);
}

void
orphan_stop(struct loop *l, struct run *r)
{
	int64_t now = clock_ms();

	if (r->kill_at == 0) {
		signal_all(l, r, SIGTERM);
		signal_all(l, r, SIGCONT);
		r->kill_at = now + l->o->grace_ms;
	} else {
		r->kill_at = now;
	}
	r->check_at = r->kill_at;
}

/* Nobody will ever know how it ended, if it ever began.  -1: not recorded. */
static int
lost(struct loop *l, struct run *r)
{
	if (run_interrupted(l, r, "lost") == 0)
		return 0;
	loop_retry(l);
	r->check_at = clock_ms() + RETRY_MS;
	return -1;
}

/* The run whose leader this child of ours is, with its attempt open. */
static struct run *
led_by(struct loop *l, pid_t pid)
{
	struct job_fold *j;
	struct run *r;

	TAILQ_FOREACH(r, &l->runs.list, link) {
		j = fold_find(l->ledger.fold, r->id);
		if (j != NULL && j->open && j->pgid == pid)
			return r;
	}
	return NULL;
}

static cJSON *
exit_event(const struct run *r, const siginfo_t *si, double started)
{
	cJSON *ev = ledger_event("exit", r->id, r->attempt);
	bool killed = si->si_code != CLD_EXITED;
	enum exit_cause cause = r->stop ? CAUSE_STOPPED
	    : killed			? CAUSE_SIGNAL
					: CAUSE_EXIT;

	json_str(ev, "cause", cause_name(cause));
	json_int(ev, "status",
	    r->stop	 ? GS_SIGNAL + SIGTERM
		: killed ? GS_SIGNAL + si->si_status
			 : si->si_status);
	json_real(ev, "wall", round((event_now() - started) * 1000) / 1000);
	return ev;
}

bool
orphan_child(struct loop *l, pid_t pid)
{
	struct job_fold *j;
	struct run *r;
	siginfo_t si = {0};

	ledger_pull(&l->ledger);
	r = led_by(l, pid);
	if (r == NULL)
		return true;
	if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) == -1 ||
	    si.si_pid != pid)
		return true;
	/* A child whose gate never opened ends like this, without exec. */
	if (!r->executed && si.si_code == CLD_EXITED &&
	    si.si_status == GS_FAILED)
		return lost(l, r) == 0;
	j = fold_find(l->ledger.fold, r->id);
	r->attempt = j->attempt;
	if (ledger_append(&l->ledger, exit_event(r, &si, j->started), true) ==
	    -1)
		return false;
	l->settle = true;
	return true;
}

bool
orphan_remains(struct loop *l, struct run *r)
{
	int64_t now = clock_ms();
	int sig = 0;

	if (r->phase != RUN_ORPHAN || r->attr.linger)
		return false;
	if (r->kill_at == 0) {
		sig = SIGTERM;
		r->kill_at = now + l->o->grace_ms;
	} else if (now >= r->kill_at) {
		sig = SIGKILL;
	}
	if (signal_all(l, r, sig) == 0)
		return false;
	r->check_at = now + GLANCE_MS;
	return true;
}

static bool
our_zombie(const struct run *r)
{
	struct pstat st;

	return procfs_stat((pid_t)r->pgid, &st) == 0 && st.state == 'Z' &&
	    st.ppid == getpid() && st.start == r->start;
}

static void
look(struct loop *l, struct run *r, int64_t now)
{
	struct job_fold *j;

	r->check_at = INT64_MAX;
	ledger_pull(&l->ledger);
	j = fold_find(l->ledger.fold, r->id);
	if (j == NULL || !j->open || j->attempt != r->attempt) {
		l->settle = true;
		return;
	}
	if (r->kill_at != 0 && now >= r->kill_at)
		signal_all(l, r, SIGKILL);
	/* A zombie of ours is recorded when it is reaped. */
	if (our_zombie(r) || signal_all(l, r, 0) > 0)
		r->check_at = now +
		    (r->src.fd == -1 || r->kill_at != 0 ? GLANCE_MS
							: l->o->poll_ms);
	else
		lost(l, r);
}

int64_t
orphans_due(const struct loop *l)
{
	int64_t due = INT64_MAX;
	struct run *r;

	TAILQ_FOREACH(r, &l->runs.list, link)
		if (r->check_at < due)
			due = r->check_at;
	return due;
}

void
orphans_tick(struct loop *l, int64_t now)
{
	struct run *r;

	TAILQ_FOREACH(r, &l->runs.list, link)
		if (now >= r->check_at)
			look(l, r, now);
}

/* The attempt as the journal describes it. */
static struct run *
from_journal(struct loop *l, const struct job_fold *j)
{
	struct run *r = run_new(l, j->id, j->gpus, j->uuids);
	struct attr_err e;
	struct attr a;
	size_t i;

	r->no = j->no;
	r->announced = r->executed = true;
	r->attempt = j->attempt;
	r->cmd = xstrdup(j->cmd != NULL ? j->cmd : "");
	if (j->attrs != NULL && attr_parse_all(j->attrs, &a, &e) == 0) {
		attr_free(&r->attr);
		r->attr = a;
	}
	r->attr.vram_mib = j->vram;
	r->supervisor = j->supervisor;
	r->sup_start = j->sup_start;
	r->pgid = j->pgid;
	r->start = j->start;
	r->since = j->started;
	for (i = 0; i < r->nuse; i++)
		r->use[i].peak = r->use[i].kept = j->peak;
	return r;
}

static void
attach(struct loop *l, const struct job_fold *j, const char *boot)
{
	bool before = j->open && j->boot != NULL && strcmp(j->boot, boot) != 0;
	bool ended = !j->open; /* while nobody looked */
	struct run *r = from_journal(l, j);

	if (before && run_interrupted(l, r, "reboot") == -1)
		errx(GS_BAD, "%s: not writable", l->ledger.path);
	if (before || ended) {
		r->phase = RUN_GUARDED;
		r->supervisor = -1;
		l->settle = true;
		return;
	}
	run_guard(l, r);
	if (r->phase == RUN_GUARDED && r->supervisor != -1)
		say_attached(r);
}

void
orphans_attach(struct loop *l)
{
	char boot[BOOT_ID_MAX];
	struct job_fold *j;
	size_t i;

	procfs_boot(boot);
	for (i = 0; i < fold_count(l->ledger.fold); i++) {
		j = fold_at(l->ledger.fold, i);
		if (j->attempt > 0 && j->no >= 0 &&
		    runs_find(&l->runs, j->id) == NULL &&
		    (j->open || (state_is_terminal(j->state) && !j->settled)))
			attach(l, j, boot);
	}
}
