/* callers.h - the calls by which a program came to where it is, from return addresses on its
 * stack */
#ifndef EDITOR_INTERPRET_CALLERS_H
#define EDITOR_INTERPRET_CALLERS_H

#include "lib/addr.h"
#include "postmorph/unwind/cfi.h"
#include "binary/image.h"
#include "postmorph/machine/machine.h"

/* Goes on where the function that runs at `at` returns to, with what registers its caller
 * has then as far as that is known.  False, and nothing changed, where unwind information,
 * registers or stack end. */
bool callers_unwind(const struct cfi *cfi, vaddr at, struct machine *m);

struct caller {
	/* direct call in this module; its return address is on the stack */
	new_vaddr insn;
	new_vaddr called;	/* start of the piece of code that ran then: its FDE's */
};

/* Innermost first.  Stops where unwind information, registers or the piece of the stack end,
 * and at the first frame of another module; calls of other forms are left out. */
uint32_t callers_find(const struct image *img, const struct cfi *cfi, const struct machine *m,
		      struct caller *out, uint32_t max);

#endif
