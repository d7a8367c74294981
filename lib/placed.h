/* placed.h - where blocks of an original lie in a generation, as `morph-edit placed` tells it
 *
 * The job may have been taken over by a hostile program: lines that are none are passed over.
 */
#ifndef LIB_PLACED_H
#define LIB_PLACED_H

#include <stdbool.h>

#include "lib/addr.h"

struct placed_line {
	bool insn;		/* else a block */
	new_vaddr addr;
	vaddr original;		/* of an instruction that was added: 0 */
	uint32_t size;		/* of a block, bytes of its image */
	const char *text;	/* of an instruction */
};

/* The generation's number, which is the first line; 0: it is not there. */
uint32_t placed_generation(char **rest);
/* The next line; *rest, which it cuts up, moves on.  False at the end. */
bool placed_next(char **rest, struct placed_line *out);

#endif
