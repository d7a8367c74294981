/* worth.h - which functions gain more by moving than their entry jumps cost */
#ifndef EDITOR_WORTH_H
#define EDITOR_WORTH_H

#include "postmorph/ir.h"

/* Takes functions out of prog->order, and clears their `moved`, whose move would cost more than it
 * gains.  Needs counts and the final fn->order and cold flags.  `redirect`: pointers to functions will
 * be changed where they can be. */
void worth_select(struct prog *prog, bool redirect);

#endif
