/* plt.h - which library function a call through the linkage table reaches; internal to PostMorph */
#ifndef POSTMORPH_PLT_H
#define POSTMORPH_PLT_H

#include "postmorph/image.h"

struct arena;

struct plt_slot {
	vaddr slot;		/* word that the loader fills */
	const char *name;	/* of the symbol */
};

struct plt {
	struct plt_slot *v;	/* [n], ascending by slot */
	uint32_t n;
};

int plt_read(const struct image *img, struct arena *a, struct plt *out, struct err *err);
/* The symbol that the loader puts into `slot`, NULL if none. */
const char *plt_name(const struct plt *plt, vaddr slot);
/* The word through which a stub `[endbr64] [bnd] jmp *slot(%rip)` at addr jumps, 0 if there is none. */
vaddr plt_stub_slot(const struct image *img, vaddr addr);
/* The symbol that it leads to, NULL if none. */
const char *plt_stub_name(const struct plt *plt, const struct image *img, vaddr addr);
/* True when a C library function of that name never returns. */
bool plt_noreturn(const char *name);

#endif
