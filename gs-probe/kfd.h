/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's compute driver for AMD says: the order in which ROCm
 * numbers the cards, and the memory of compute processes, which everybody may
 * read.
 */
#ifndef GS_KFD_H
#define GS_KFD_H

#include "gs-probe/snap.h"

/* Name each card by its number in ROCR_VISIBLE_DEVICES. */
void kfd_name(struct snap *s);

/* Add what its processes have.  What is known already is not added to. */
void kfd_procs(struct snap *s);

#endif
