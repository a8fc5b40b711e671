/* SPDX-License-Identifier: MIT */
/*
 * Does the log of a job that failed say that a GPU was out of memory?  Pure:
 * bytes in, a class out.  A job that ended well is not to be asked about.
 */
#ifndef GS_OOM_H
#define GS_OOM_H

#include <stddef.h>
#include <stdint.h>

enum oom_class {
	OOM_NO,
	OOM_WEAK, /* only if the GPU was nearly full at the last sample */
	OOM_ABSURD, /* it says so, but no room would have helped */
	OOM_YES, /* more room may help */
};

struct oom {
	enum oom_class class;
	int64_t requested_mib; /* by the allocation that failed; -1: not said */
	int64_t
	    capacity_mib; /* of the card, as the text has it; -1: not said */
};

/* The log may hold any bytes, and may begin inside a line. */
struct oom oom_scan(const char *text, size_t n);

/* "no", "weak", "absurd", "oom" */
const char *oom_name(enum oom_class c);

#endif
