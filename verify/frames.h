/* frames.h - the unwind tables of one file: what .eh_frame says about each address
 *
 * framerecords.c splits .eh_frame into records, frames.c runs their programs, frametable.c
 * finds the FDE and the row of an address.
 */
#ifndef VERIFY_FRAMES_H
#define VERIFY_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bracket.h"
#include "lib/rd.h"
#include "lib/addr.h"

struct image;
struct verify;

#define NO_FDE UINT32_MAX
#define ROW_NONE UINT32_MAX

struct vrow {
	vaddr addr;		/* holds from here to the next row or the FDE's end */
	/* interned: equal rule sets have equal numbers, in both files */
	uint32_t state;
};

/* Which exception tables a personality routine takes (personality.c). */
enum verify_reads {
	READS_ALL,		/* but none whose landing pads count from the function */
	READS_FROM_START,	/* those, and none that say another place for that */
	READS_ITS_OWN,		/* the original's only */
};

struct vcie {
	uint64_t off;		/* from the start of .eh_frame */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	vaddr personality;	/* 0: none */
	bool indirect;		/* personality is the address of a pointer */
	bool signal_frame, has_augmentation, understood;
	enum verify_reads reads;	/* of the routine */
	uint8_t fde_enc, lsda_enc;
	struct bytes program;
};

struct vfde {
	vaddr addr;
	uint64_t len;
	vaddr record;		/* address of the record itself */
	vaddr lsda;		/* 0: none */
	uint32_t cie, row, nrow;
	uint32_t exceptions;	/* index in lsda[] + 1; 0: none, or of no interest */
	/* false: it has a form that the interpreter does not know; no rows */
	bool understood;
	struct bytes program;
};

struct vlsda;			/* callsites.h */
struct vsite;

struct vcfi {
	vaddr frame, hdr;	/* addresses of .eh_frame and .eh_frame_hdr */
	uint64_t frame_size;	/* of its records, with what ends them */
	struct vcie *cie;	/* ascending by off */
	struct vfde *fde;	/* ascending by addr, disjoint */
	struct vrow *row;
	struct vlsda *lsda;	/* in the order of fde[] */
	struct vsite *site;
	uint32_t ncie, nfde, nrow, nlsda;
	struct bracket by_addr;	/* of fde[] */
	/* [nfde] entered by jumps in the middle of a frame; of the original only */
	bool *fragment;
};

struct vstates;			/* the interned rule sets; frames.c */

struct vcursor {		/* remembers where it was: walking upwards costs nothing */
	const struct vcfi *cfi;
	uint32_t fde, row;
};

struct vpair {			/* an instruction and its image, side by side */
	struct vcursor orig, gen;
};

/* framerecords.c: fills all of *out but the rows and what callsites.c reads.  0, or -1 with the
 * refusal. */
int vcfi_parse(struct verify *v, const struct image *img, struct vcfi *out);

/* frametable.c: NO_FDE if none covers addr. */
uint32_t vcfi_find(const struct vcfi *cfi, vaddr addr);
/* frametable.c: state at addr; ROW_NONE when no understood FDE covers it. */
uint32_t vcfi_state(struct vcursor *c, vaddr addr);

/* frames.c: false when the program holds an address (DW_CFA_set_loc, DW_OP_GNU_encoded_addr),
 * or may. */
bool vcfi_is_free(struct bytes program);
/* True for the row "CFA is rsp + 8": what a call has just entered. */
bool vstates_is_entry(const struct vstates *s, uint32_t state);
/* CFA less rsp; 0 when the row does not say so. */
int64_t vstates_depth(const struct vstates *s, uint32_t state);

/* unwindrows.c: the rows at an instruction and its image agree, at every byte of both, and so
 * do their exceptions (callsites.c).  0, or -1 with the refusal. */
int verify_row(struct verify *v, struct vpair *c, vaddr o, uint32_t olen, new_vaddr g,
	       uint32_t glen);
/* The row at a jump that the original does not have: it stands for being at `dest`, reached
 * from the instruction at `last`, which may be a transfer that leaves the frame alone. */
int verify_row_jump(struct verify *v, struct vpair *c, vaddr last, bool last_transfers,
		    vaddr dest, new_vaddr g, uint32_t glen);
/* Likewise at a counter, where exceptions do not matter. */
int verify_row_counter(struct verify *v, struct vpair *c, vaddr last, bool last_transfers,
		       vaddr dest, new_vaddr g, uint32_t glen);

#endif
