/* SPDX-License-Identifier: MIT */
/*
 * The stream.
 *
 * - Frames and looks are due at fixed times after the start; one that is
 *   missed because a look took long is left out, so looks never pile up.
 * - Lines that came before a look are answered by that look, each with a
 *   frame of its own.
 * - A failed look prints nothing.  What was due then is due at the next tick,
 *   a request included; without ticks there is none, and we end.  So do we
 *   if the first look of all fails: that is a machine without GPUs, not one
 *   whose driver is resting.
 * - A pipe nobody reads from is noticed while waiting, not at the next write.
 */
#include "gs-probe/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/gs.h"
#include "gs-probe/probe.h"

struct stream {
	const struct watch *how;
	int64_t frame_at; /* when the next one is due; -1: never */
	int64_t look_at;
	size_t asked; /* lines not yet answered */
	bool failed; /* the latest look did */
	bool began; /* some look did not */
	bool partial; /* stdin is inside a line */
	bool eof;
};

/* The first time after `now` that is a whole number of periods after `at`. */
static int64_t
tick(int64_t at, int64_t period, int64_t now)
{
	return at + (now < at ? 0 : ((now - at) / period + 1) * period);
}

static void
take_lines(struct stream *s)
{
	char in[4096];
	ssize_t n, i;

	n = read(STDIN_FILENO, in, sizeof(in));
	if (n == -1 && errno == EINTR)
		return;
	if (n <= 0) {
		s->eof = true;
		if (s->partial)
			s->asked++;
		s->partial = false;
		return;
	}
	for (i = 0; i < n; i++)
		if (in[i] == '\n')
			s->asked++;
	s->partial = in[n - 1] != '\n';
}

/* Milliseconds until something is due; -1: nothing will be. */
static int
patience(const struct stream *s)
{
	int64_t at = s->frame_at, left;

	if (s->how->interval_ms == -1)
		return -1;
	if (s->how->sample_ms != -1 && s->look_at < at)
		at = s->look_at;
	left = at - clock_ms();
	return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

/* Sleep until something is due, a line comes or the reader goes. */
static void
doze(struct stream *s)
{
	struct pollfd pfd[2] = {
	    {.fd = STDOUT_FILENO},
	    {.fd = STDIN_FILENO, .events = POLLIN},
	};

	if (!s->how->on_demand || s->eof)
		pfd[1].fd = -1;
	if (poll(pfd, 2, patience(s)) == -1)
		return;
	if ((pfd[0].revents & POLLERR) != 0) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	if (pfd[1].revents != 0)
		take_lines(s);
}

/* Look if it is time to; print what is due.  False if that cannot go on. */
static bool
turn(struct stream *s, struct probe *p)
{
	const struct watch *how = s->how;
	int64_t now = clock_ms();
	size_t due = s->failed ? 0 : s->asked;

	if (how->interval_ms != -1 && now >= s->frame_at)
		due = s->asked + 1;
	if (due == 0 && (how->sample_ms == -1 || now < s->look_at))
		return true;
	if (how->interval_ms != -1 && now >= s->frame_at)
		s->frame_at = tick(s->frame_at, how->interval_ms, now);
	if (how->sample_ms != -1 && now >= s->look_at)
		s->look_at = tick(s->look_at, how->sample_ms, now);
	s->failed = !probe_look(p);
	if (s->failed)
		return how->interval_ms != -1 && s->began;
	s->began = true;
	if (due > 0) {
		probe_print(p, due);
		s->asked = 0;
	}
	return true;
}

int
watch(struct probe *p, const struct watch *how)
{
	struct stream s = {.how = how};

	s.frame_at = s.look_at = clock_ms();
	for (;;) {
		if (!turn(&s, p))
			return GS_BAD;
		if (s.eof && how->interval_ms == -1 && s.asked == 0)
			return GS_OK;
		doze(&s);
	}
}
