/* holders.h - places outside of instructions that may hold a code address */
#ifndef VERIFY_HOLDERS_H
#define VERIFY_HOLDERS_H

#include <stdint.h>

#include "lib/addr.h"

struct verify;

enum vholder_kind {
	HOLDS_FIXED,	/* the entry point, DT_INIT, DT_FINI */
	HOLDS_RELATIVE,	/* the addend of a RELATIVE relocation of DT_RELA */
	HOLDS_RELR,	/* a word that RELR relocates */
	HOLDS_RELOCATED,	/* any other relocation */
	HOLDS_SYMBOL,	/* a symbol of a .dynsym */
	HOLDS_LISTED,	/* in a section that nothing loads, or met again as one of these */
	HOLDS_WORD,	/* an aligned word of a program at a fixed address */
};

struct vholder {
	vaddr value;
	vaddr at;		/* of the 8 bytes that hold it; of the symbol */
	/* of the word of the program that gets it; not FIXED, SYMBOL, LISTED */
	vaddr place;
	vaddr addend;		/* RELOCATED: part of the value */
	uint32_t symbol;	/* RELOCATED: number, 0 none */
	uint32_t type;		/* RELOCATED */
	uint16_t section;	/* st_shndx and type of the symbol, or of the relocation's */
	uint8_t symbol_type;
	uint8_t kind;		/* enum vholder_kind */
	const char *what;	/* with n: for messages */
	uint64_t n;
};

typedef int vholder_fn(struct verify *v, const struct vholder *h, void *ctx);

/* All places of the original; stops when f() returns -1, and returns that. */
int verify_each_holder(struct verify *v, vholder_fn *f, void *ctx);

#endif
