/* cfi.h - call frame information: CIEs, FDEs, and the unwind row at every instruction
 *
 * Reads .eh_frame (found by section or through PT_GNU_EH_FRAME).  A row is the complete rule
 * set (CFA and registers) that holds from one address to the next row; equal rule sets are
 * interned, so rows compare by index.
 */
#ifndef POSTMORPH_UNWIND_CFI_H
#define POSTMORPH_UNWIND_CFI_H

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/bracket.h"
#include "lib/rd.h"

struct err;
struct image;

/* DWARF numbers: 7 = rsp, 6 = rbp, 16 = return address.  Behind those are vector and mask
 * registers, which functions of other conventions save (17: xmm0, 67: xmm16, 118: k0), and
 * the sixteen newest general ones. */
enum { CFI_NREG = 17, CFI_RA = 16, CFI_REG_END = 160 };

enum cfi_kind {
	CFI_UNSPEC,		/* no rule given: same value, by the ABI */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,		/* saved at CFA + off */
	CFI_VAL_OFFSET,		/* value is CFA + off */
	CFI_REGISTER,		/* saved in register `off` */
	CFI_EXPR,		/* saved at the address that expr computes */
	CFI_VAL_EXPR,		/* value is what expr computes */
};

struct cfi_rule {
	uint8_t kind;		/* enum cfi_kind */
	int64_t off;
	struct bytes expr;	/* points into the file; DWARF expression without its length */
};

struct cfi_other {		/* the rule of a register from CFI_NREG on */
	uint32_t reg;
	struct cfi_rule rule;
};

struct cfi_state {		/* one complete rule set; interned in cfi.state[] */
	bool cfa_is_expr;
	uint8_t cfa_reg;
	int64_t cfa_off;
	struct bytes cfa_expr;
	struct cfi_rule reg[CFI_NREG];
	/* [nother], ascending by reg; none of them CFI_UNSPEC */
	const struct cfi_other *other;
	uint32_t nother;
	uint64_t args_size;	/* DW_CFA_GNU_args_size */
};

struct cfi_row {
	vaddr addr;		/* holds from here to the next row or the FDE's end */
	uint32_t state;		/* index in cfi.state[] */
};

/* Which LSDAs a personality routine takes. */
enum cfi_reads {
	CFI_READS_ALL,		/* landing pads may count from a place that it names */
	CFI_READS_FROM_START,	/* they count from the function */
	CFI_READS_ITS_OWN,	/* not known of any but the original's */
};

struct cie {
	uint64_t off;		/* of the length field, from the start of .eh_frame */
	uint64_t size;		/* whole record with its length field */
	const char *augmentation;
	uint64_t code_align;
	int64_t data_align;
	uint8_t ra_reg;
	uint8_t fde_enc, lsda_enc, personality_enc;	/* DW_EH_PE_*, 0xff = omitted */
	/* decoded: address, or address of the pointer when indirect; 0 none */
	uint64_t personality;
	uint32_t personality_off;	/* of the encoded personality in the record, 0 = none */
	uint32_t insn_off;	/* in the record: of the initial instructions */
	bool signal_frame;	/* 'S' */
	uint32_t initial;	/* state after the initial instructions */
	bool has_address;	/* its instructions hold an address, or may */
	bool understood;	/* false: unknown augmentation, version or encoding */
	enum cfi_reads reads;	/* of its routine (personality.h) */
};

struct fde {
	uint64_t off, size;	/* record in .eh_frame, as in struct cie */
	uint32_t cie;		/* index in cfi.cie[] */
	vaddr addr;		/* first byte covered */
	uint64_t len;
	vaddr lsda;		/* 0 = none */
	uint32_t pc_off;	/* in the record: of the encoded pc begin */
	uint32_t lsda_off;	/* in the record: of the encoded LSDA pointer, 0 = none */
	uint32_t insn_off;	/* in the record: of the instructions */
	uint32_t row, nrow;	/* in cfi.rows[] */
	bool has_address;	/* as in struct cie: DW_CFA_set_loc */
	/* false: its instructions have a form we do not model; it has no rows then */
	bool understood;
};

struct cfi {
	vaddr eh_frame;		/* address of .eh_frame */
	struct bytes bytes;	/* its content up to and without the terminator */
	struct cie *cie;
	/* ascending by addr, disjoint; those that cover nothing are left out */
	struct fde *fde;
	struct cfi_row *rows;
	struct cfi_state *state;
	uint32_t ncie, nfde, nrow, nstate;
	struct bracket by_addr;	/* of fde[] */
};

/* Parses everything.  Malformed .eh_frame is an error, records whose pointers we could not move
 * are ERR_REFUSED; no .eh_frame gives nfde == 0. */
int cfi_parse(const struct image *img, struct arena *a, struct cfi *out, struct err *err);
/* The FDE that covers addr, UINT32_MAX if none. */
uint32_t cfi_find(const struct cfi *cfi, vaddr addr);
/* State index in force at addr, which must lie in fde[i]; 0 when that is not understood. */
uint32_t cfi_state_at(const struct cfi *cfi, uint32_t fde, vaddr addr);
/* Bytes from rsp to the CFA at addr, which must lie in fde[i], or in any FDE; 0 when the CFA is
 * something else, or not known. */
int64_t cfi_depth_in(const struct cfi *cfi, uint32_t fde, vaddr addr);
int64_t cfi_depth(const struct cfi *cfi, vaddr addr);
/* The rule of any register under CFI_REG_END. */
const struct cfi_rule *cfi_rule_of(const struct cfi_state *state, uint32_t reg);

#endif
