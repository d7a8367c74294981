/* coderefs.h - instructions of the original that lead or refer to code */
#ifndef VERIFY_CODEREFS_H
#define VERIFY_CODEREFS_H

#include <stdint.h>

#include "lib/arena.h"
#include "lib/addr.h"

struct insn;
struct verify;

enum vref_kind {
	REF_LEA,	/* lea to(%rip), of 64 bits */
	REF_OPERAND,	/* any other operand, or constant, that may be the address of code */
	REF_BRANCH,	/* of another function, not to a function's start */
	REF_JUMP,	/* an indirect jump, but through a slot of the GOT; no `to` */
};

struct vref {
	vaddr addr, to;
	uint32_t fde;		/* that it is in; NO_FDE */
	uint8_t kind;		/* enum vref_kind */
};

struct vcoderefs {
	VEC(struct vref) all;		/* of programs that are loaded at any address */
	/* of any program: by any lea, what may be code; constants that may be addresses */
	VEC(struct vref) formed;
};

/* Parts of the walk over the original (entries.c).  A way from that FDE (NO_FDE: from between)
 * to another one. */
void verify_note_way(struct verify *v, uint32_t fde, vaddr addr, vaddr to);
/* Any instruction; `target` is where its field leads. */
void verify_note_reference(struct verify *v, uint32_t fde, const struct insn *insn,
			   const uint8_t *code, vaddr addr, vaddr target);
/* The n constants of the instruction, in a program linked to a fixed address. */
void verify_note_constants(struct verify *v, uint32_t fde, const uint8_t *code, vaddr addr,
			   const uint64_t *constant, uint32_t n);
/* A lea. */
void verify_note_lea(struct verify *v, uint32_t fde, vaddr addr, vaddr to);

#endif
