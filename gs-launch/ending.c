/* SPDX-License-Identifier: MIT */
#include "gs-launch/ending.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "lib/gs.h"

static int64_t
tv_ms(struct timeval tv)
{
	return (int64_t)tv.tv_sec * 1000 + tv.tv_usec / 1000;
}

int
ending_read(pid_t pid, struct ending *e)
{
	struct rusage ru = {0};
	siginfo_t si = {0};

	/*
	 * The system call has a parameter more than waitid(3): it is the one
	 * way to the resource usage of a process that stays unreaped.
	 */
	if (syscall(SYS_waitid, P_PID, pid, &si, WEXITED | WNOWAIT | WNOHANG,
		&ru) == -1 ||
	    si.si_pid == 0)
		return 0;
	*e = (struct ending){.own_status = -1,
	    .user_ms = tv_ms(ru.ru_utime),
	    .sys_ms = tv_ms(ru.ru_stime),
	    .maxrss_kib = ru.ru_maxrss};
	e->cause = si.si_code == CLD_EXITED ? CAUSE_EXIT : CAUSE_SIGNAL;
	e->status = si.si_status;
	if (e->cause == CAUSE_SIGNAL)
		e->status += GS_SIGNAL;
	return 1;
}

void
ending_stopped(struct ending *e, enum exit_cause why)
{
	e->own_status = e->status;
	e->cause = why;
	e->status = why == CAUSE_TIMEOUT ? GS_TIMEOUT : GS_SIGNAL + SIGTERM;
}

void
ending_noexec(struct ending *e, int exec_errno)
{
	e->cause = CAUSE_EXEC;
	e->exec_errno = exec_errno;
	e->status = exec_errno == ENOENT ? GS_NOTFOUND : GS_NOEXEC;
}
