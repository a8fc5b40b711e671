/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's compute driver for AMD says: the order in which ROCm
 * numbers the cards, and the memory of compute processes, which everybody may
 * read.
 */
#ifndef GS_KFD_H
#define GS_KFD_H

#include "gs-probe/snap.h"

/*
 * Name each card by its number in ROCR_VISIBLE_DEVICES, and add what its
 * processes have.  Of what is known already the greater counts.
 */
void kfd(struct snap *s);

#endif
