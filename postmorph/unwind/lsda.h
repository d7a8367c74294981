/* lsda.h - reads language-specific data areas, which say where exceptions are caught
 *
 * One record of .gcc_except_table belongs to one FDE.  It lists call sites (ranges of
 * instructions, each with a landing pad or none, and an action), and what actions refer to: the
 * action table, the table of types, and lists of types for exception specifications.
 *
 * An instruction in no call site and one in a call site without landing pad are different
 * things: C++ ends the program in the first case and goes on unwinding in the second.
 */
#ifndef POSTMORPH_UNWIND_LSDA_H
#define POSTMORPH_UNWIND_LSDA_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/rd.h"

struct cfi;
struct image;

struct lsda_site {
	vaddr addr;			/* instructions [addr, addr + len) */
	uint64_t len;
	vaddr pad;			/* landing pad, 0 = none */
	/* 1 + offset of its first record in `actions`, 0 = none */
	uint64_t action;
};

struct lsda {
	vaddr start, pad_base;		/* what ranges and landing pads count from */
	uint8_t site_enc;
	struct bytes sites;
	struct bytes actions;		/* all that the sites can reach */
	uint8_t type_enc;		/* DW_EH_PE_omit: no types */
	uint8_t type_size;
	struct bytes types;		/* all that the actions refer to; type n (from 1) stands
					 * n * type_size before the end */
	vaddr types_addr;
	struct bytes specs;		/* lists of type numbers, behind the types */
};

/* Reads the LSDA of an understood FDE that has one.  False when its form is not known; then
 * nothing may be concluded from it.  When true, its sites ascend, are disjoint, not empty and
 * inside the FDE, and what it refers to is there.  Landing pads may be anywhere.  Keeps no
 * memory; the slices point into the file.  Its work is linear in the length of the FDE. */
bool lsda_read(const struct image *img, const struct cfi *cfi, uint32_t fde, struct lsda *out);

struct lsda_iter {
	const struct lsda *lsda;
	struct rd r;
};

static inline struct lsda_iter lsda_iter(const struct lsda *lsda)
{
	return (struct lsda_iter){ lsda, rd_of(lsda->sites) };
}

/* The next call site, ascending; false behind the last. */
bool lsda_next(struct lsda_iter *it, struct lsda_site *out);

#endif
