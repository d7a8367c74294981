/* callsites.h - exception tables (LSDAs) as callsites.c reads them */
#ifndef VERIFY_CALLSITES_H
#define VERIFY_CALLSITES_H

#include "verify/frames.h"

struct vsite {			/* a call site: a range of code and what exceptions do there */
	vaddr addr;
	uint64_t len;
	vaddr pad;		/* landing pad, 0: none */
	uint32_t action;	/* offset of the first action + 1, 0: none */
};

struct vlsda {			/* the exception table of one FDE */
	vaddr addr;
	struct bytes bytes;	/* from addr to the end of the segment */
	/* offset of the end of the types; only if type_enc is not 0xff */
	uint64_t types;
	uint64_t actions;	/* offset of the first action */
	uint32_t site, nsite;	/* in vcfi.site[], ascending by addr, disjoint */
	uint8_t start_enc, type_enc, site_enc;
	bool pads;		/* a site has a landing pad */
	bool understood;	/* false: no sites */
};

struct vexceptions {
	uint64_t budget;	/* steps left for reading and comparing exception tables */
	const struct vsite *last_site[2];	/* of both files, found to be the same */
};

/* Sets `reads` of all CIEs of the original. */
int verify_personality(struct verify *v);
/* NULL when the FDE has none. */
const struct vlsda *vlsda_of(const struct vcfi *cfi, uint32_t fde);
/* The call site of the FDE that holds addr; NULL: none, or no LSDA that is understood. */
const struct vsite *vlsda_site(const struct vcfi *cfi, uint32_t fde, vaddr addr);

/* Exceptions at an instruction and at its image go the same way; the cursors are there.  0, or
 * -1 with the refusal. */
int verify_exceptions(struct verify *v, const struct vpair *c, vaddr o, uint32_t olen,
		      new_vaddr g, uint32_t glen);
/* At an added jump or NOP they do what they do at `last` or at `dest`. */
int verify_exceptions_jump(struct verify *v, const struct vpair *c, vaddr last, vaddr dest,
			   new_vaddr g, uint32_t glen);
/* Asks without refusing: the same unwind row, and exceptions go the same way. */
bool verify_same_frame(struct verify *v, struct vpair at, vaddr o, new_vaddr g);

#endif
