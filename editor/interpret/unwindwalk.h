/* unwindwalk.h - the callers on a piece of a stack, by unwind rows and frame pointers */
#ifndef EDITOR_INTERPRET_UNWINDWALK_H
#define EDITOR_INTERPRET_UNWINDWALK_H

#include "editor/interpret/unwindtable.h"
#include "lib/callstack.h"

struct unwindwalk {
	const struct unwindtable *table;	/* [ntable] */
	uint32_t ntable;
};

/* `space` is that of the sample. */
void unwindwalk_sample(const struct unwindwalk *w, struct bytes space,
		       const struct callstack_sample *s, struct callstack *out);

#endif
