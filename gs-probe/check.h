/* SPDX-License-Identifier: MIT */
/* gs-probe --check: which backends work here, in words. */
#ifndef GS_CHECK_H
#define GS_CHECK_H

#include "gs-probe/backend.h"

/*
 * Print a line on stdout for each backend, or only for that one.  Does one
 * work?
 */
bool check(const struct backend *only, const struct backend_conf *conf);

#endif
