/* SPDX-License-Identifier: MIT */
/*
 * Attempts without a supervisor.  If it was killed while we live, its job
 * becomes our child (we are a subreaper), so its true status can be recorded.
 * If we are a later gs-loop, the job is somebody else's child: it is watched
 * until it ends and is then pending again, for nobody knows how it ended.
 */
#ifndef GS_LOOP_ORPHAN_H
#define GS_LOOP_ORPHAN_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct run;

/* Its supervisor is gone and the journal has no exit of it. */
void orphan_adopt(struct loop *l, struct run *r);

/* TERM now, KILL after the grace; KILL at once if asked again. */
void orphan_stop(struct loop *l, struct run *r);

/*
 * A child of ours ended and is not reaped yet.  If it is the leader of an
 * open attempt, its exit is recorded; false if that failed, and then it must
 * not be reaped.
 */
bool orphan_child(struct loop *l, pid_t pid);

/*
 * Is something of it left behind, that a supervisor would have swept?  It is
 * told to end.
 */
bool orphan_remains(struct loop *l, struct run *r);

int64_t orphans_due(const struct loop *l);
void orphans_tick(struct loop *l, int64_t now);

/*
 * Take over the attempts that nobody watches: those of an earlier gs-loop, and
 * those whose gs-launch died before it could answer.
 */
void orphans_attach(struct loop *l);

#endif
