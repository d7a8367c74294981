/* stacks.h - evidence as stacks: program, module if that is another file, function, calls that
 * were inlined
 *
 * Samples are of instructions, so a stack has one function, and the calls inlined into it; no
 * caller is known.  A frame stands for a function, not for a line of it.
 */
#ifndef MANAGER_REPORT_STACKS_H
#define MANAGER_REPORT_STACKS_H

#include "manager/report/evidence.h"

struct stacks_frame {
	const char *name, *file;	/* file "": not known, or no function */
};

struct stacks_one {
	const uint32_t *frame;		/* [n] outermost first */
	uint32_t n;
	double count;
};

struct stacks {
	uint32_t nframe, n;
	struct stacks_frame *frame;
	struct stacks_one *at;		/* each once, in the order of their names */
};

/* Lives in the arena of the evidence. */
void stacks_make(const struct evidence *e, struct stacks *out);

#endif
