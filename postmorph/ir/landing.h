/* landing.h - finds landing pads and the call sites that lead to them; internal to PostMorph */
#ifndef POSTMORPH_IR_LANDING_H
#define POSTMORPH_IR_LANDING_H

#include "postmorph/ir/text.h"
#include "postmorph/unwind/lsda.h"

/* Notes the ways out of a decoded piece to landing pads; the piece is skipped when it has an
 * exception table that cannot be made anew. */
void landing_decode(struct text *t, uint32_t piece);
/* Visits the call sites of a piece that have a landing pad; none when its exception table is of
 * unknown form. */
typedef void landing_visit(void *ctx, const struct lsda_site *site);
void landing_each(const struct text *t, uint32_t piece, landing_visit *visit, void *ctx);
/* Marks all landing pads, once functions are made. */
void landing_mark(struct text *t);

#endif
