/* SPDX-License-Identifier: MIT */
/* The words for states and causes. */
#include <string.h>

#include "lib/fold.h"

static const char *const states[] = {
    [JOB_PENDING] = "pending",
    [JOB_RUNNING] = "running",
    [JOB_FROZEN] = "frozen",
    [JOB_OK] = "ok",
    [JOB_FAILED] = "failed",
    [JOB_FAILED_OOM] = "failed_oom",
    [JOB_TIMEOUT] = "timeout",
    [JOB_INFEASIBLE] = "infeasible",
    [JOB_CANCELLED] = "cancelled",
    [JOB_SKIPPED] = "skipped",
};

static const char *const causes[] = {
    [CAUSE_NONE] = NULL,
    [CAUSE_EXIT] = "exit",
    [CAUSE_SIGNAL] = "signal",
    [CAUSE_TIMEOUT] = "timeout",
    [CAUSE_STOPPED] = "stopped",
    [CAUSE_EXEC] = "exec",
};

static int
parse(const char *const *words, size_t n, const char *s)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (words[i] != NULL && strcmp(words[i], s) == 0)
			return (int)i;
	return -1;
}

bool
state_is_terminal(enum job_state s)
{
	return s >= JOB_OK;
}

const char *
state_name(enum job_state s)
{
	return states[s];
}

int
state_parse(const char *s)
{
	return parse(states, sizeof(states) / sizeof(states[0]), s);
}

const char *
cause_name(enum exit_cause c)
{
	return causes[c];
}

int
cause_parse(const char *s)
{
	return parse(causes, sizeof(causes) / sizeof(causes[0]), s);
}
