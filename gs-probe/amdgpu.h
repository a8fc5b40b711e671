/* SPDX-License-Identifier: MIT */
/* AMD GPUs, and what can be seen of Intel's, by way of the kernel's files. */
#ifndef GS_AMDGPU_H
#define GS_AMDGPU_H

#include "gs-probe/backend.h"

extern const struct backend amdgpu_backend;

#endif
