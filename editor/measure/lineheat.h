/* lineheat.h - how often 64-byte lines of code are executed, in some layout of a program
 *
 * As text, words separated by tabs, in the order of addresses:
 *
 *	heat NAME ADDRESS COUNT		a line, and the sum of executions of blocks in it
 *
 * Lines of which nothing runs are left out.
 */
#ifndef EDITOR_MEASURE_LINEHEAT_H
#define EDITOR_MEASURE_LINEHEAT_H

#include "editor/measure/placement.h"
#include "lib/wr.h"

enum { LINEHEAT_LINE = 64 };

/* `prog` has its counts; its arena is used. */
void lineheat_write(const struct prog *prog, const struct placement *pl, const char *name,
		    struct wr *out);

#endif
