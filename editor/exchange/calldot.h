/* calldot.h - functions and their calls as a graph for Graphviz
 *
 * A node is a function, its share is that of the samples, or of executed instructions where
 * executions are known; an edge is as often as the calls are made.  Only the CALLDOT_MOST
 * functions with the largest shares are there; how many others are left out is the graph's
 * label.
 */
#ifndef EDITOR_EXCHANGE_CALLDOT_H
#define EDITOR_EXCHANGE_CALLDOT_H

#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct symbols;

enum { CALLDOT_MOST = 60 };	/* chosen: what can be read on a page */

void calldot_write(const struct prog *prog, const struct symbols *symbols, struct wr *out);

#endif
