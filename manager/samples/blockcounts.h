/* blockcounts.h - arrays of samples by block: sorts them, and adds two up
 *
 * Arrays are malloc-backed (lib/memory.h).
 */
#ifndef MANAGER_SAMPLES_BLOCKCOUNTS_H
#define MANAGER_SAMPLES_BLOCKCOUNTS_H

#include <stdint.h>

struct blockcount {
	uint32_t block;
	uint32_t samples;
};

/* Makes count[0 .. n) ascending by block, every block once, its samples added up (UINT32_MAX at
 * most); returns how many are left. */
uint32_t blockcounts_sort(struct blockcount *count, uint32_t n);
/* Adds `more`, of the same form, to *to, which is malloc'd. */
void blockcounts_add(struct blockcount **to, uint32_t *nto, const struct blockcount *more,
		uint32_t n);

#endif
