/* SPDX-License-Identifier: MIT */
/*
 * append without an event: the start and exit records that gs-launch prints
 * become events, a frame at a time.  Other records are passed over.
 */
#include <err.h>
#include <unistd.h>

#include "gs-journal/append.h"
#include "lib/gs.h"
#include "lib/journal.h"
#include "lib/rec.h"

static cJSON *
attempt_event(const struct rec *r, const char *name)
{
	const char *id = rec_field(r, 1);
	int64_t attempt = rec_int(r, 2);
	cJSON *ev;

	if (id == NULL || attempt < 1)
		errx(GS_BAD, "stdin: %s record without id or attempt", name);
	ev = event_new(name, event_now());
	json_str(ev, "id", id);
	json_int(ev, "attempt", attempt);
	return ev;
}

static cJSON *
start_event(const struct rec *r)
{
	cJSON *ev = attempt_event(r, "start");

	json_int(ev, "pgid", rec_int(r, 3));
	json_int(ev, "supervisor", rec_int(r, 4));
	json_int(ev, "start", rec_int(r, 5));
	json_str(ev, "boot", rec_field(r, 6));
	json_list(ev, "gpus", rec_field(r, 7));
	json_str(ev, "log", rec_field(r, 8));
	return ev;
}

static cJSON *
exit_event(const struct rec *r)
{
	cJSON *ev = attempt_event(r, "exit");

	json_str(ev, "cause", rec_field(r, 3));
	json_int(ev, "status", rec_int(r, 4));
	json_int(ev, "wall", rec_int(r, 5));
	json_int(ev, "user", rec_key_int(r, "user"));
	json_int(ev, "sys", rec_key_int(r, "sys"));
	json_int(ev, "maxrss", rec_key_int(r, "maxrss"));
	return ev;
}

static void
take_frame(const struct frame *f, struct buf *lines)
{
	cJSON *ev;
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (rec_is(&f->rec[i], "start"))
			ev = start_event(&f->rec[i]);
		else if (rec_is(&f->rec[i], "exit"))
			ev = exit_event(&f->rec[i]);
		else
			continue;
		event_line(lines, ev);
		cJSON_Delete(ev);
	}
}

int
append_frames(const char *path)
{
	struct frames in = {0};
	struct buf lines = {0};
	struct frame f;
	int got;

	while ((got = frames_read(&in, STDIN_FILENO, &f)) == 1) {
		take_frame(&f, &lines);
		frame_free(&f);
		if (lines.len > 0)
			append_lines(path, &lines, true);
		buf_reset(&lines);
	}
	if (got == -1)
		errx(GS_BAD, "stdin: %s", in.err);
	buf_free(&lines);
	frames_free(&in);
	return GS_OK;
}
