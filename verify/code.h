/* code.h - images that refer to new jump tables, as code.c has met them */
#ifndef VERIFY_CODE_H
#define VERIFY_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/rd.h"
#include "verify/entries.h"

struct verify;

struct vformer {		/* an original instruction whose image refers to a new table */
	vaddr addr;
	uint32_t fde;		/* of the original */
	uint32_t table;		/* index in map.table[] */
};

struct vshifted {		/* an original load whose image reads at another displacement */
	vaddr addr;
	int32_t shift;		/* new displacement less old one */
	uint32_t guard;		/* only of indexes below that; 0: whatever it is */
};

struct vtableuses {		/* ascending after verify_code() */
	VEC(struct vformer) formers;	/* by table, then address */
	VEC(struct vshifted) shifted;	/* by address */
	struct vbases beside;	/* addresses of tables whose new ones are read like that */
	/* redirected pointers into the middle of functions */
	struct vbases inner;
	/* [map.nblock] of a block: its image ends with its last instruction, and control goes
	 * on behind that, unless it is a call that never returns */
	bool *falls;
};

/* shift.c: the original's instruction `o` loads 32 bits without a displacement, and
 * `g` begins with the same load at the displacement *shift: how long that is; else 0. */
uint32_t vshift_read(struct bytes o, struct bytes g, int32_t *shift);
/* guards.c: the same of the load at out->addr, where `g`, which is at `at`, may have a guard in
 * front. */
uint32_t vguard_read(const struct verify *v, struct bytes o, struct bytes g, new_vaddr at,
		     struct vshifted *out);
/* shift.c: when all of `shifted` and pointers.redirects are there. */
void vshift_sort(struct verify *v);
/* shift.c: the instruction at addr; NULL: its image reads what it reads. */
const struct vshifted *vshift_at(const struct vtableuses *uses, vaddr addr);
/* shift.c: index of the first of inner[] that is not below addr. */
uint32_t vshift_first_inner(const struct vtableuses *uses, vaddr addr);

#endif
