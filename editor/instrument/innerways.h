/* innerways.h - into which functions something but branches leads
 *
 * There a computed jump at which the frame is that of the entry need not be a tail call:
 * compilers dispatch like that in functions without a frame, and keep flags across it.
 */
#ifndef EDITOR_INSTRUMENT_INNERWAYS_H
#define EDITOR_INSTRUMENT_INNERWAYS_H

#include "postmorph/ir/ir.h"

struct memview_file;

/* [nfn], in the arena; `words` are those that the loader fills.  NULL, nobody knows them: then
 * something leads into each. */
const bool *innerways_find(const struct prog *prog, const struct memview_file *words,
			   struct arena *a);

#endif
