/* flaglive.h - finds where condition flags are live: hold a value that is still read */
#ifndef EDITOR_INSTRUMENT_FLAGLIVE_H
#define EDITOR_INSTRUMENT_FLAGLIVE_H

#include "postmorph/ir/ir.h"

struct flaglive;

/* Analyses all moved functions; the result lives in arena `a`. */
struct flaglive *flaglive_new(const struct prog *prog, struct arena *a);
/* [ninsn] of function `fn`: the flags (postmorph/machine/flags.h) that are live before each
 * instruction, that is, that some path from there reads before it writes them.  NULL for a
 * function that is not moved. */
const uint16_t *flaglive_before(const struct flaglive *l, uint32_t fn);

#endif
