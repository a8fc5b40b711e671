/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs by way of nvidia-smi. */
#ifndef GS_SMI_H
#define GS_SMI_H

#include "gs-probe/backend.h"

extern const struct backend smi_backend;

#endif
