/* worth.h - selects the functions that gain more by moving than their entry jumps cost */
#ifndef EDITOR_PASSES_WORTH_H
#define EDITOR_PASSES_WORTH_H

#include "postmorph/ir/ir.h"

/* Both take functions out of prog->order and clear their `moved`.  The first drops functions
 * that hardly run; it needs counts and the final cold marks. */
void worth_drop(struct prog *prog);
/* The second drops functions whose move would cost more than it gains; it needs the final
 * fn->order as well.  `redirect`: pointers to functions will be changed where they can be. */
void worth_select(struct prog *prog, bool redirect);

#endif
