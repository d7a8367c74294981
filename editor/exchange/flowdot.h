/* flowdot.h - the flow graph of a function, with what is known of how often it runs
 *
 * Blocks are in the order in which they lie in the file, or in which their images lie in a
 * generation of it: at[] has these by block, 0 for none; NULL: in the file.  Those that are
 * nothing but padding are left out.  Edges that are not known to run are there as well; ways
 * out of the function are not.
 */
#ifndef EDITOR_EXCHANGE_FLOWDOT_H
#define EDITOR_EXCHANGE_FLOWDOT_H

#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct err;

/* As text for people: a line for each block, and one for each edge behind it.
 * -1: no function begins at `entry`, or it is left alone, with the reason. */
int flowdot_text(const struct prog *prog, vaddr entry, const vaddr *at, struct wr *out,
		 struct err *err);
/* The edges alone, a line for each: "edge FROM TO KIND COUNT", separated by tabs. */
int flowdot_edges(const struct prog *prog, vaddr entry, struct wr *out, struct err *err);
/* As a graph for Graphviz; what runs more is drawn heavier. */
int flowdot_dot(const struct prog *prog, vaddr entry, const vaddr *at, struct wr *out,
		struct err *err);

#endif
