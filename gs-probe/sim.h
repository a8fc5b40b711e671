/* SPDX-License-Identifier: MIT */
/* GPUs that exist only in a directory (simdir.h). */
#ifndef GS_SIM_H
#define GS_SIM_H

#include "gs-probe/backend.h"

extern const struct backend sim_backend;

#endif
