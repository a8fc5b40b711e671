/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C, eight bytes at a time: table k holds the effect of a byte that is
 * followed by k zero bytes, so eight look-ups do not wait for each other.
 */
#include "lib/crc32c.h"

#include <stdbool.h>

static uint32_t table[8][256];
static bool ready;

static void
table_fill(void)
{
	uint32_t crc;
	int i, k;

	for (i = 0; i < 256; i++) {
		crc = (uint32_t)i;
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
		table[0][i] = crc;
	}
	for (i = 0; i < 256; i++)
		for (k = 1; k < 8; k++) {
			crc = table[k - 1][i];
			table[k][i] = crc >> 8 ^ table[0][crc & 0xff];
		}
	ready = true;
}

static uint32_t
eight(uint32_t crc, const unsigned char *s)
{
	return table[7][(crc ^ s[0]) & 0xff] ^
	    table[6][(crc >> 8 ^ s[1]) & 0xff] ^
	    table[5][(crc >> 16 ^ s[2]) & 0xff] ^
	    table[4][(crc >> 24 ^ s[3]) & 0xff] ^ table[3][s[4]] ^
	    table[2][s[5]] ^ table[1][s[6]] ^ table[0][s[7]];
}

uint32_t
crc32c(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint32_t crc = 0xffffffff;

	if (!ready)
		table_fill();
	for (; n >= 8; n -= 8, s += 8)
		crc = eight(crc, s);
	for (; n > 0; n--, s++)
		crc = crc >> 8 ^ table[0][(crc ^ *s) & 0xff];
	return ~crc;
}
