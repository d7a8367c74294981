/* callers.h - the calls by which a program came to where it is, from return addresses on its stack */
#ifndef EDITOR_CALLERS_H
#define EDITOR_CALLERS_H

#include "lib/addr.h"
#include "lib/statesample.h"
#include "postmorph/cfi.h"
#include "postmorph/image.h"

struct caller {
	new_vaddr insn;		/* direct call in this module; its return address is on the stack */
	new_vaddr called;	/* start of the piece of code that ran then: its FDE's */
};

/* Innermost first.  Stops where unwind information, registers or the piece of the stack end, and at the first
 * frame of another module; calls of other forms are left out. */
uint32_t callers_find(const struct image *img, const struct cfi *cfi, const struct statesample *sample,
		      struct caller *out, uint32_t max);

#endif
