/* SPDX-License-Identifier: MIT */
/* Snapshots that were recorded, or written by hand. */
#ifndef GS_FILE_H
#define GS_FILE_H

#include "gs-probe/backend.h"

extern const struct backend file_backend;

#endif
