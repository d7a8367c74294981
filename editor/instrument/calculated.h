/* calculated.h - computed jumps to what registers were calculated to hold
 *
 * Whom a tail call reaches was fetched from memory as it was, or is an argument.  What was
 * added up, or made of fewer bits, may be a label that stands nowhere.
 */
#ifndef EDITOR_INSTRUMENT_CALCULATED_H
#define EDITOR_INSTRUMENT_CALCULATED_H

#include "postmorph/ir/ir.h"

/* [fn->njump] May the target of the function's computed jump be that?  Of jumps by tables the
 * answer says nothing.  `part`: control goes on in the function without a call. */
const bool *calculated_find(const struct prog *prog, const struct fn *fn, bool part,
			    struct arena *a);

#endif
