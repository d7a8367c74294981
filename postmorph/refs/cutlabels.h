/* cutlabels.h - labels that calculated jumps may go to keep entry jumps out; internal to
 * PostMorph */
#ifndef POSTMORPH_REFS_CUTLABELS_H
#define POSTMORPH_REFS_CUTLABELS_H

#include "postmorph/ir/text.h"

/* A function of which something has an address inside, and that has an indirect jump which
 * calculates its target, may go by the distance between two labels, of which nothing tells
 * where it leads: to any instruction of which the unwind table says the same as of the jump.
 * So may one that fetches what has been calculated before, if nothing seems to lead to some
 * code.  Such instructions at the function's start are marked as targets of tables, so that no
 * entry jump is laid over them.  The function has its blocks. */
void cutlabels_guard(const struct text *t, const struct fn *fn);

#endif
