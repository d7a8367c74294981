/* plt.h - tells which library function a call through the linkage table reaches; internal to
 * PostMorph */
#ifndef POSTMORPH_IR_PLT_H
#define POSTMORPH_IR_PLT_H

#include "binary/image.h"

struct arena;

struct plt_slot {
	vaddr slot;		/* word that the loader fills */
	const char *name;	/* of the symbol */
	bool noreturn;		/* a library function that is known never to return */
};

struct plt {
	struct plt_slot *v;	/* [n], ascending by slot */
	uint32_t n;
};

int plt_read(const struct image *img, struct arena *a, struct plt *out, struct err *err);
/* Copies it into another arena; names still point into the file. */
const struct plt *plt_copy(const struct plt *plt, struct arena *a);
/* The symbol that the loader puts into `slot`, NULL if none. */
const char *plt_name(const struct plt *plt, vaddr slot);
/* The word through which a stub `[endbr64] [bnd] jmp *slot(%rip)` at addr jumps, 0 if there
 * is none. */
vaddr plt_stub_slot(const struct image *img, vaddr addr);
/* The symbol that it leads to, NULL if none. */
const char *plt_stub_name(const struct plt *plt, const struct image *img, vaddr addr);
/* The slot of such a stub at addr, 0 if there is none: calling the stub is calling what the
 * slot holds, whoever fills it and when.  Nothing but an endbr64 and a bnd prefix may be
 * there besides. */
vaddr plt_plain_slot(const struct plt *plt, const struct image *img, vaddr addr);
/* What the loader puts into `slot` never returns (noreturn.def). */
bool plt_noreturn(const struct plt *plt, vaddr slot);

#endif
