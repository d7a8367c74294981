/* dynamic.h - relocations and symbols of an image, one by one; not used by the Verifier */
#ifndef BINARY_DYNAMIC_H
#define BINARY_DYNAMIC_H

#include "binary/image.h"

struct reloc {
	vaddr place;
	uint32_t type;		/* R_X86_64_* */
	uint32_t sym;		/* index in .dynsym, 0 = none */
	vaddr value;		/* addend; for RELR the word in the file */
	file_off at;		/* of the 8 bytes that hold the value */
	bool plt;		/* of DT_JMPREL: perhaps not applied before it is used */
};

struct symbol {
	const char *name;	/* "" when unreadable */
	vaddr value;
	uint64_t size;
	uint8_t type;		/* STT_* */
	uint16_t section;	/* SHN_* */
	bool defined;
	file_off at;		/* of its entry */
};

typedef void reloc_fn(void *ctx, const struct reloc *r);
typedef void symbol_fn(void *ctx, uint32_t index, const struct symbol *s);

/* Fails when a table of relocations is not in the file, or when the place that a relocation
 * changes is not writable. */
int relocs_each(const struct image *img, reloc_fn *f, void *ctx, struct err *err);
/* All symbols of the first section of that type (SHT_DYNSYM, SHT_SYMTAB); none if absent. */
void symbols_each(const struct image *img, uint32_t section_type, symbol_fn *f, void *ctx);

#endif
