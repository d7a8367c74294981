/* calls.h - lists direct calls, and jumps to other functions' entries; internal to PostMorph */
#ifndef POSTMORPH_CALLS_H
#define POSTMORPH_CALLS_H

#include "postmorph/ir/text.h"

/* Fills prog->call[]; functions must have their blocks. */
void calls_find(struct text *t);
/* Visits the calls of prog->fn[f], and its jumps to others' entries, in the order of its
 * blocks. */
typedef void call_visit(void *ctx, const struct call_site *call);
void calls_each(const struct prog *prog, uint32_t f, call_visit *visit, void *ctx);

#endif
