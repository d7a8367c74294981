/* returns.h - what calls do: whether they come back (returns.c), what they overwrite
 * (callwrites.c) */
#ifndef VERIFY_RETURNS_H
#define VERIFY_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

struct effect;
struct returns;
struct verify;

struct vslot {			/* filled by the dynamic linker with a function's address */
	vaddr addr;
	vaddr local;		/* the function, when it is one of the module; else 0 */
	bool dead;		/* the function never returns */
	bool looks;		/* it reads, writes or protects what its arguments lead to */
};

struct vslots {			/* VEC: slots of the original's GOT, ascending */
	struct vslot *v;
	uint32_t n, cap;
};

struct vcalls {
	struct vslots slots;	/* filled by symbol */
	struct vslots locals;	/* by relative relocations, and constant then */
	/* by the start-up code of programs without dynamic entries, with the function that
	 * another one of the program chooses (R_X86_64_IRELATIVE) */
	struct vslots chosen;
	struct returns *returns;	/* returns.c's; NULL: nobody asked */
	uint16_t *written;	/* [ocfi.nfde] callwrites.c's; NULL: nobody asked */
};

/* The caller-saved registers of the System V ABI: rax rcx rdx rsi rdi r8-r11. */
static const uint16_t VERIFY_CALLER_SAVED = 0x0fc7;

/* Fills slots, locals and chosen; the others need that. */
void verify_collect_slots(struct verify *v);
bool verify_is_slot(const struct vcalls *calls, vaddr addr);
bool verify_is_chosen(const struct vcalls *calls, vaddr addr);
/* Is it known what the loader puts into the slot?  *function: one of the module's, 0: another
 * module's. */
bool verify_slot_function(const struct verify *v, vaddr addr, vaddr *function);
/* The call of this slot, or of a stub for it, is one of a library's function that reads, writes
 * or protects memory whose address it is given. */
bool verify_looks_at_arguments(const struct verify *v, vaddr called);
/* At addr stands a stub of the procedure linkage table: going there leaves the module. */
bool verify_is_stub(const struct verify *v, vaddr addr);
/* A stub that jumps to what the start-up code has chosen. */
bool verify_is_chosen_stub(const struct verify *v, vaddr addr);
/* There stands exactly `jmp *slot(%rip)`, perhaps behind endbr64 or with a bnd prefix, and
 * no entry jump: the slot; else 0. */
vaddr verify_stub_slot(const struct verify *v, vaddr addr);
/* False when the call certainly does not come back. */
bool verify_call_returns(struct verify *v, const struct effect *call);
/* Control may go on from the instruction at addr to the one behind it. */
bool verify_falls(struct verify *v, vaddr addr, const struct effect *e);
/* callwrites.c: registers of VERIFY_CALLER_SAVED that the call may overwrite, so that nobody
 * looks at what they had been. */
uint16_t verify_call_writes(struct verify *v, const struct effect *call);

#endif
