/* postdom.h - finds where the ways of a conditional branch meet again (its immediate
 * postdominator), and what is written on the ways
 *
 * An interpreter that does not know which way a branch goes can continue at the postdominator,
 * if it takes for unknown everything that may have been written on the way there.
 */
#ifndef POSTMORPH_MACHINE_POSTDOM_H
#define POSTMORPH_MACHINE_POSTDOM_H

#include "postmorph/machine/machine.h"
#include "postmorph/ir/plt.h"

struct err;

/* Stores that are told one by one; with more, any store may be anywhere.  Chosen, not
 * measured. */
enum { POSTDOM_STORES = 16 };

struct postdom {
	bool found;
	bool flags;		/* written */
	bool calls;		/* functions are called in between */
	bool stores;		/* at places that are not told below */
	uint16_t writes;	/* registers, bit i: number i in encoding order */
	vaddr at;
	int64_t rsp;		/* what is added to the stack pointer */
	struct postdom_store {	/* at what register `base` held at the branch, + disp */
		int32_t disp;
		uint16_t bytes;
		uint8_t base;
	} store[POSTDOM_STORES];
	uint32_t nstore;
};

struct postdoms;

/* Job lifetime; `img` must live as long. */
struct postdoms *postdom_new(const struct image *img, struct arena *a, struct err *err);
/* Of the conditional branch at `branch`.  Valid until the next call. */
const struct postdom *postdom_find(struct postdoms *p, vaddr branch);

#endif
