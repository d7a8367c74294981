/* postdom.h - where the ways behind a conditional branch meet again, and what is written on
 * them
 *
 * Whoever does not know which way a branch goes can go on where both have led, if he takes for
 * unknown what may have been written in between.
 */
#ifndef POSTMORPH_MACHINE_POSTDOM_H
#define POSTMORPH_MACHINE_POSTDOM_H

#include "postmorph/machine/machine.h"
#include "postmorph/ir/plt.h"

struct err;

enum { JOIN_STORES = 16 };

struct join {
	bool found;
	bool flags;		/* written */
	bool calls;		/* functions are called in between */
	bool stores;		/* at places that are not told below */
	uint16_t writes;	/* registers, bit i: number i in encoding order */
	vaddr at;
	int64_t rsp;		/* what is added to the stack pointer */
	struct join_store {	/* at what register `base` held at the branch, + disp */
		int32_t disp;
		uint16_t bytes;
		uint8_t base;
	} store[JOIN_STORES];
	uint32_t nstore;
};

struct joins;

/* Job lifetime; `img` must live as long. */
struct joins *joins_new(const struct image *img, struct arena *a, struct err *err);
/* Of the conditional branch at `branch`.  Valid until the next call. */
const struct join *joins_find(struct joins *j, vaddr branch);

#endif
