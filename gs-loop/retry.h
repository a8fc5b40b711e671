/* SPDX-License-Identifier: MIT */
/* Attempts that ran out of GPU memory: which they are, and what follows. */
#ifndef GS_LOOP_RETRY_H
#define GS_LOOP_RETRY_H

#include <stdint.h>

#include "lib/fold.h"
#include "lib/json.h"
#include "lib/oom.h"

struct loop;
struct run;

/*
 * What the end of its log says of an attempt that has ended.  Only one that
 * failed by itself is looked at.  A weak sign is a strong one if a GPU of the
 * job was nearly full not long before.
 */
enum oom_class retry_class(const struct run *r, const struct job_fold *j);

/* How often the job may be tried again after running out of memory. */
int64_t retry_limit(const struct loop *l, const struct run *r);

/*
 * The `retry` event, if one more is allowed; NULL if not.  The declaration
 * becomes 1.25 times the greater of it and the observed peak.
 */
cJSON *retry_event(
    const struct loop *l, const struct run *r, const struct job_fold *j);

#endif
