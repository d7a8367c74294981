/* symbols.h - the functions that the symbols of a file, and of its debug file, name */
#ifndef EDITOR_EXCHANGE_SYMBOLS_H
#define EDITOR_EXCHANGE_SYMBOLS_H

#include <stdint.h>

#include "lib/addr.h"

struct arena;
struct bfd;

struct symbols {
	/* ascending by addr, each once: of several the first in .symtab, .dynsym, the linkage
	 * table's, the debug file's .symtab */
	struct symbols_one {
		vaddr addr;
		uint32_t order;
		const char *name;	/* without a version */
	} *at;
	uint32_t n;
};

/* debug: NULL: there is none.  Names are copied to the arena. */
void symbols_read(struct bfd *file, struct bfd *debug, struct arena *a, struct symbols *out);
/* The name of what begins there; NULL: none does. */
const char *symbols_at(const struct symbols *s, vaddr addr);
/* The last one that begins at `addr` or before it; NULL: there is none. */
const struct symbols_one *symbols_before(const struct symbols *s, vaddr addr);

#endif
