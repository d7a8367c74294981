/* front.h - the bytes behind the original's program header table, and where they are now */
#ifndef VERIFY_FRONT_H
#define VERIFY_FRONT_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/rd.h"
#include "lib/addr.h"

struct verify;

enum { VERIFY_MAX_DYNAMIC = 32 };	/* there are 24 tags whose value may be an address */

struct vfront {			/* filled by front.c */
	/* Original file offsets [lo, hi): what gave way to program headers; empty where file
	 * offsets have grown instead. */
	uint64_t lo, hi;
	vaddr off;			/* address less file offset there */
	/* [ndynamic] original file offsets of changed values in the dynamic section */
	uint64_t dynamic[VERIFY_MAX_DYNAMIC];
	uint32_t ndynamic;
};

/* Section i of the original, which is loaded, has the header in the generation that it must
 * have, and its content where that says.  0, or -1 with the refusal. */
int verify_old_section(struct verify *v, uint32_t i);
/* It is at another address in the generation. */
bool verify_has_moved(const struct verify *v, uint32_t i);
/* Likewise, and it is one of the tables of dynamic symbols, with more in it (dynsyms.c). */
bool verify_has_grown(const struct verify *v, uint32_t i);
/* `want`, or how it has to be when `g` is the same thing at another place. */
Elf64_Phdr verify_moved_phdr(const struct verify *v, Elf64_Phdr want, const Elf64_Phdr *g);
/* Where the generation has the byte that stands at `off` in the original's file. */
uint64_t verify_new_off(const struct verify *v, uint64_t off);
/* The n bytes of the generation that stand for those at addr of the original; a reader
 * without bytes when the original has none there. */
struct rd verify_new_bytes(const struct verify *v, vaddr addr, uint64_t n);
/* The original has something at addr that the generation has elsewhere. */
bool verify_in_front(const struct vfront *front, vaddr addr);
/* Likewise, for a number that may be no address at all: what linkers make is referred to by
 * where it begins; a note of somebody else's by any of its bytes. */
bool verify_may_be_in_front(const struct verify *v, uint64_t number);

#endif
