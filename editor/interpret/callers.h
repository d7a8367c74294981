/* callers.h - unwinds from a sample, to find the calls whose return addresses are on the
 * stack */
#ifndef EDITOR_INTERPRET_CALLERS_H
#define EDITOR_INTERPRET_CALLERS_H

#include "lib/addr.h"
#include "postmorph/unwind/cfi.h"
#include "binary/image.h"
#include "postmorph/machine/machine.h"

/* Sets the machine to the moment after the function that runs at `at` has returned: pc is the
 * return address, registers are the caller's as far as they are known.  False, with *m
 * unchanged, where there is no unwind information for `at` or a register or word of the stack
 * that it needs is not known. */
bool callers_unwind(const struct cfi *cfi, vaddr at, struct machine *m);

struct caller {
	new_vaddr insn;		/* a direct call in this module */
	new_vaddr called;	/* start of the FDE of the code that ran because of it */
};

/* Fills out[] with at most `max` direct calls, innermost first, looking at `max` frames;
 * returns how many.  Stops where callers_unwind() fails and at the first frame of another
 * module. */
uint32_t callers_find(const struct image *img, const struct cfi *cfi, const struct machine *m,
		      struct caller *out, uint32_t max);

#endif
