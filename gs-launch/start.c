/* SPDX-License-Identifier: MIT */
/*
 * The order matters:
 *
 * 1. The child is made first and waits at its gate, so that the claim can
 *    name it by pid and START.
 * 2. The claim is on disk before the gate opens: nothing runs that is not
 *    recorded.
 * 3. If we die in between, the gate falls shut: the child ends without exec,
 *    and the journal names a process that is not there.
 */
#include "gs-launch/start.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "gs-launch/child.h"
#include "gs-launch/claim.h"
#include "gs-launch/environ.h"

/* Out of the caller's session, with nothing of its dispositions.  SIGCHLD
 * that a caller ignored would reap the job under us. */
static int
detach(struct refusal *why)
{
	int sig;

	if (setsid() == -1 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
		return refuse(why, "fork", "supervisor: %s", strerror(errno));
	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	return 0;
}

/*
 * Where the job writes: the log, or what is standard error if the caller
 * waits for it, or nowhere.  It becomes our standard error, too.
 */
static int
output_open(const struct launch *l, int null, struct refusal *why)
{
	bool passing;
	int fd = null;

	/* O_NONBLOCK, so that a FIFO without a reader cannot hold us. */
	if (l->log != NULL)
		fd = open(l->log,
		    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY |
			O_NONBLOCK | O_CLOEXEC,
		    0600);
	else if (l->wait)
		return 0;
	if (fd != -1 && (l->log == NULL || fcntl(fd, F_SETFL, O_APPEND) == 0) &&
	    dup2(fd, STDERR_FILENO) != -1)
		return 0;
	/* A full disk passes; nothing is wrong with the job. */
	passing = errno == ENOSPC || errno == EDQUOT || errno == EMFILE ||
	    errno == ENFILE || errno == ENOMEM || errno == EIO ||
	    errno == EROFS || errno == ESTALE;
	return refuse(
	    why, passing ? "record" : "log", "%s: %s", l->log, strerror(errno));
}

/* The three streams, the report, and not one descriptor more. */
static int
streams(const struct launch *l, int report, struct refusal *why)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null == -1 || dup2(null, STDIN_FILENO) == -1 ||
	    dup2(null, STDOUT_FILENO) == -1)
		return refuse(why, "fork", "/dev/null: %s", strerror(errno));
	if (output_open(l, null, why) == -1)
		return -1;
	if (report > 3)
		close_range(3, (unsigned)report - 1, 0);
	close_range((unsigned)report + 1, ~0U, 0);
	return 0;
}

/* What the supervisor listens to.  All the rest stays blocked. */
static int
signals_open(struct refusal *why)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd == -1)
		refuse(why, "fork", "signalfd: %s", strerror(errno));
	return fd;
}

static int
name_both(struct names *n, pid_t leader, struct refusal *why)
{
	struct pstat st, self;

	if (procfs_stat(leader, &st) == -1 ||
	    procfs_stat(getpid(), &self) == -1)
		return refuse(why, "fork", "/proc: %s", strerror(errno));
	n->leader = leader;
	n->start = st.start;
	n->supervisor = getpid();
	n->sup_start = self.start;
	procfs_boot(n->boot);
	return 0;
}

int
start(
    const struct launch *l, int report, struct started *s, struct refusal *why)
{
	struct child c;

	if (detach(why) == -1 || streams(l, report, why) == -1 ||
	    environ_shape(l, why) == -1)
		return -1;
	s->sigfd = signals_open(why);
	if (s->sigfd == -1 || child_start(&c, l, report, why) == -1)
		return -1;
	if (name_both(&s->names, c.pid, why) == -1 ||
	    (l->journal != NULL && claim(l, &s->names, why) == -1)) {
		child_drop(&c);
		return -1;
	}
	s->exec_errno = child_release(&c);
	return 0;
}
