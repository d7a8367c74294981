/* flaglive.h - where condition flags hold something that is still to be read */
#ifndef EDITOR_INSTRUMENT_FLAGLIVE_H
#define EDITOR_INSTRUMENT_FLAGLIVE_H

#include "postmorph/ir/ir.h"

struct flaglive;

/* Looks at all moved functions; in arena `a`. */
struct flaglive *flaglive_new(const struct prog *prog, struct arena *a);
/* Flags (postmorph/machine/flags.h) that some path from in front of each instruction reads:
 * [ninsn], in the arena. */
const uint16_t *flaglive_before(const struct flaglive *l, uint32_t fn);

#endif
