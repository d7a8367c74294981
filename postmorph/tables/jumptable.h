/* jumptable.h - finds jump tables and proves their bounds; internal to PostMorph */
#ifndef POSTMORPH_TABLES_JUMPTABLE_H
#define POSTMORPH_TABLES_JUMPTABLE_H

#include "postmorph/ir/text.h"

/* fn->insn[insn] is an indirect jump through fn->table[table]. */
struct table_use {
	uint32_t insn, table;
};
/* Fills fn->table[] and fn->jump[], and marks the targets of proven tables.  Returns the uses
 * in the scratch arena, ascending by insn. */
const struct table_use *jumptables_find(struct text *t, struct fn *fn, uint32_t *nuse);

#endif
