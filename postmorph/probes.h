/* probes.h - static probe points; internal to PostMorph */
#ifndef POSTMORPH_PROBES_H
#define POSTMORPH_PROBES_H

#include "postmorph/ir/text.h"

/* prog->probe[], and functions that are skipped because of one. */
void probes_mark(struct text *t);
/* block->probe, once there are blocks. */
void probes_settle(struct prog *prog);

#endif
