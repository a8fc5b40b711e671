/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli), as RFC 3720 appendix B.4 has it. */
#ifndef GS_CRC32C_H
#define GS_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *p, size_t n);

#endif
