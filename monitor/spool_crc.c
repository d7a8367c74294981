/* spool_crc.c - computes the CRC-32 of IEEE 802.3 and zlib, four bytes a step */
#include "monitor/spool_format.h"

static uint32_t table[4][256];

__attribute__((constructor)) static void fill_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int t = 1; t < 4; t++)
			table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 255];
}

static uint32_t update(uint32_t c, struct bytes b)
{
	const uint8_t *p = b.p, *end = b.p + b.n;

	for (; end - p >= 4; p += 4) {
		uint32_t v;

		memcpy(&v, p, sizeof(v));
		c ^= v;
		c = table[3][c & 255] ^ table[2][c >> 8 & 255] ^ table[1][c >> 16 & 255] ^
		    table[0][c >> 24];
	}
	for (; p < end; p++)
		c = c >> 8 ^ table[0][(c ^ *p) & 255];
	return c;
}

uint32_t spool_crc(struct bytes a, struct bytes b)
{
	return ~update(update(~0u, a), b);
}
