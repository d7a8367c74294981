/* stacks.h - evidence as stacks: program, and functions with the calls that were inlined
 *
 * Where samples came without pieces of their stacks, no caller is known: a stack has one
 * function, the calls inlined into it and in front, if that is another file, its module.  Else
 * it has all callers; STACKS_CUT stands behind the program where the outermost ones are
 * missing.  A frame stands for a function, not for a line of it.
 */
#ifndef MANAGER_REPORT_STACKS_H
#define MANAGER_REPORT_STACKS_H

#include "manager/report/evidence.h"

#define STACKS_CUT "[cut off]"

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
