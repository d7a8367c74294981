/* HEAD */
#include "verify/frames.h"

uint32_t vcfi_find(const struct vcfi *cfi, vaddr addr)
{
	uint32_t lo = 0, hi = cfi->nfde;

	bracket_narrow(&cfi->by_addr, addr, &lo, &hi);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (cfi->fde[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr - cfi->fde[lo - 1].addr < cfi->fde[lo - 1].len ? lo - 1 : NO_FDE;
}

uint32_t vcfi_state(struct vcursor *c, vaddr addr)
{
	const struct vcfi *cfi = c->cfi;

	if (c->fde == NO_FDE || addr < cfi->fde[c->fde].addr ||
	    addr - cfi->fde[c->fde].addr >= cfi->fde[c->fde].len) {
		c->fde = vcfi_find(cfi, addr);
		if (c->fde == NO_FDE)
			return ROW_NONE;
		c->row = cfi->fde[c->fde].row;
	}
	const struct vfde *fde = &cfi->fde[c->fde];

	if (!fde->understood)
		return ROW_NONE;
	uint32_t end = fde->row + fde->nrow;
	if (cfi->row[c->row].addr > addr) {
		/* row[lo].addr <= addr < row[hi].addr */
		uint32_t lo = fde->row, hi = c->row;

		while (hi - lo > 1) {
			uint32_t mid = lo + (hi - lo) / 2;

			if (cfi->row[mid].addr <= addr)
				lo = mid;
			else
				hi = mid;
		}
		c->row = lo;
	}
	while (c->row + 1 < end && cfi->row[c->row + 1].addr <= addr)
		c->row++;
	return cfi->row[c->row].state;
}
