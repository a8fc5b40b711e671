/* SPDX-License-Identifier: MIT */
/*
 * The claim: the one step that makes an attempt ours.  Whoever holds the
 * journal's lock and finds no trace of the attempt writes its start, so that
 * no two can, whatever they know of each other.
 */
#ifndef GS_LAUNCH_CLAIM_H
#define GS_LAUNCH_CLAIM_H

#include "gs-launch/launch.h"
#include "gs-launch/report.h"

/* The start is on disk on return; else -1 with *why. */
int claim(const struct launch *l, const struct names *n, struct refusal *why);

#endif
