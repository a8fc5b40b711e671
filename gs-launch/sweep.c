/* SPDX-License-Identifier: MIT */
#include "gs-launch/sweep.h"

#include <signal.h>

enum {
	SETTLE_MS = 200, /* a tee behind a pipe has its last lines to write */
	ROUND_MS = 20, /* between rounds of KILL */
	GIVE_UP_MS = 10 * 1000, /* after the first of them */
	VAIN_ROUNDS = 3, /* before everybody is stopped first */
};

void
sweep_settle(struct sweep *s, int64_t now)
{
	if (s->stage != SWEEP_IDLE)
		return;
	s->stage = SWEEP_SETTLE;
	s->at = now + SETTLE_MS;
}

/*
 * TERM is sent once, so the one walk has to meet everybody.  A parent that
 * dies of it while we walk would hide its children, and one that forks the
 * new child: hence all are stopped first, and take their TERM when they go
 * on.
 */
static void
term(struct sweep *s, int64_t now, pid_t except)
{
	tree_freeze(&s->tree, except);
	tree_signal(&s->tree, SIGTERM);
	tree_signal(&s->tree, SIGCONT);
	s->stage = SWEEP_TERM;
	s->at = now + s->grace_ms;
}

/*
 * Processes that fork faster than one walk kills them are outrun by stopping
 * all of them first: a stopped process does not fork.
 */
static void
kill_round(struct sweep *s, pid_t except)
{
	if (s->vain >= VAIN_ROUNDS)
		tree_freeze(&s->tree, except);
	tree_walk(&s->tree, except, SIGKILL);
	if (s->tree.n < s->least) {
		s->least = s->tree.n;
		s->vain = 0;
	} else {
		s->vain++;
	}
}

static void
kill_begin(struct sweep *s, int64_t now)
{
	s->stage = SWEEP_KILL;
	s->at = now;
	s->give_up = now + GIVE_UP_MS;
	s->least = SIZE_MAX;
	s->vain = 0;
}

void
sweep_stop(struct sweep *s, int64_t now, pid_t except)
{
	switch (s->stage) {
	case SWEEP_IDLE:
	case SWEEP_SETTLE:
		term(s, now, except);
		break;
	case SWEEP_TERM:
	case SWEEP_GAVE_UP:
		kill_begin(s, now);
		break;
	case SWEEP_KILL:
		break;
	}
}

void
sweep_step(struct sweep *s, int64_t now, pid_t except)
{
	if (s->at == -1 || now < s->at)
		return;
	switch (s->stage) {
	case SWEEP_SETTLE:
		term(s, now, except);
		break;
	case SWEEP_TERM:
		kill_begin(s, now);
		break;
	case SWEEP_KILL:
		kill_round(s, except);
		s->at = now + ROUND_MS;
		if (now < s->give_up)
			break;
		s->stage = SWEEP_GAVE_UP;
		s->at = -1;
		break;
	case SWEEP_IDLE:
	case SWEEP_GAVE_UP:
		break;
	}
}
