/* cfi_rows.h - runs call frame instructions; internal to cfi.c */
#ifndef POSTMORPH_UNWIND_CFI_ROWS_H
#define POSTMORPH_UNWIND_CFI_ROWS_H

#include "postmorph/unwind/cfi.h"

struct cfi_table;		/* interned states and the rows made so far */

/* State 0 is the empty one: no rule at all.  Lives in the arena. */
struct cfi_table *cfi_table_new(struct arena *a);
/* The arrays made so far; valid until the next cfi_run_*(). */
void cfi_table_get(const struct cfi_table *t, struct cfi *out);

/* Runs a CIE's initial instructions; false when they have a form that is not modelled.  The
 * resulting state goes to *state, which is 0 on false. */
bool cfi_run_cie(struct cfi_table *t, const struct cie *cie, struct bytes insns,
		 uint32_t *state);
/* Room for the rows of so many bytes of .eh_frame. */
void cfi_table_reserve(struct cfi_table *t, uint64_t bytes);
/* Runs an FDE's instructions, appending its rows and setting fde->row and fde->nrow; false
 * (and no row) when they have a form that is not modelled.  `insns_addr` is where they are
 * in memory. */
bool cfi_run_fde(struct cfi_table *t, const struct cie *cie, struct fde *fde,
		 struct bytes insns, vaddr insns_addr);

/* False when no instruction, read by its form alone, holds an address.  For instructions that
 * cannot all be run. */
bool cfi_may_hold_address(struct bytes insns);

/* Reads a pointer of encoding `enc` whose bytes stand at address `at`.  False when the
 * encoding is not modelled or the bytes end; *raw is what is stored, *value what it means.
 * A stored zero means no pointer and gives value 0. */
bool cfi_read_pointer(struct rd *r, uint8_t enc, vaddr at, uint64_t *raw, uint64_t *value);

#endif
