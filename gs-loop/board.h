/* SPDX-License-Identifier: MIT */
/*
 * The board: status.txt for people (`watch cat gs_logs/status.txt`) and
 * status.json for programs, both replaced by rename, so that nobody ever
 * reads half of one.
 */
#ifndef GS_LOOP_BOARD_H
#define GS_LOOP_BOARD_H

struct loop;

void board_write(struct loop *l);

#endif
