/* probes.h - finds static probe points; internal to PostMorph */
#ifndef POSTMORPH_PROBES_H
#define POSTMORPH_PROBES_H

#include "postmorph/ir/text.h"

/* Fills prog->probe[], and skips functions that cannot move because of a probe. */
void probes_mark(struct text *t);
/* Sets block->probe, once there are blocks. */
void probes_settle(struct prog *prog);

#endif
