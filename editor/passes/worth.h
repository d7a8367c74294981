/* worth.h - which functions gain more by moving than their entry jumps cost */
#ifndef EDITOR_PASSES_WORTH_H
#define EDITOR_PASSES_WORTH_H

#include "postmorph/ir/ir.h"

/* Both take functions out of prog->order and clear their `moved`: those that hardly run,
 * which counts and the final cold flags tell; */
void worth_drop(struct prog *prog);
/* and those whose move would cost more than it gains, for which fn->order must be final,
 * too.  `redirect`: pointers to functions will be changed where they can be. */
void worth_select(struct prog *prog, bool redirect);

#endif
