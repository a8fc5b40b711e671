/* SPDX-License-Identifier: MIT */
/* The cards that amdgpu and xe drive, out of sysfs. */
#ifndef GS_DRMCARD_H
#define GS_DRMCARD_H

#include "gs-probe/snap.h"

/*
 * Append them, by PCI address.  What sysfs says of memory and use is all that
 * is known of a card.
 */
void drmcards(struct snap *s);

/* The position of a card by its PCI address; -1. */
ssize_t drmcard_at(const struct snap *s, const char *pci);

#endif
