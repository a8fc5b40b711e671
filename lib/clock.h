/* SPDX-License-Identifier: MIT */
/* The two clocks: one to measure with, one to show to people. */
#ifndef GS_CLOCK_H
#define GS_CLOCK_H

#include <stdint.h>

/* Milliseconds of CLOCK_MONOTONIC: deadlines and durations. */
int64_t clock_ms(void);

/* Seconds of CLOCK_REALTIME: stamps. */
double clock_wall(void);

#endif
