/* SPDX-License-Identifier: MIT */
/* Messages of a program that may meet the same trouble every second. */
#ifndef GS_SAY_H
#define GS_SAY_H

/*
 * Print the message as warnx() does, unless this very text was printed
 * before.  Nothing in it reaches a terminal raw.
 */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
