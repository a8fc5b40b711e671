/* SPDX-License-Identifier: MIT */
/* What a user can do about a driver that does not answer. */
#ifndef GS_ADVICE_H
#define GS_ADVICE_H

/* For the messages of nvidia-smi and NVML; NULL: nothing special. */
const char *advice_nvidia(const char *why);

#endif
