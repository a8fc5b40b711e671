/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs by way of the driver's library. */
#ifndef GS_NVML_H
#define GS_NVML_H

#include "gs-probe/backend.h"

extern const struct backend nvml_backend;

#endif
