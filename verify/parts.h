/* parts.h - what the parts of the Verifier share
 *
 * THE CLAIM   A generation says: "I am the original, and its block map lists which pieces of
 *             new
 *             text are which pieces of the original's."  Every part shows one aspect of that or
 *             refuses; none of them repairs, guesses or skips.
 *
 * THE PROOF   is a simulation. A run of the generation and a run of the original go side by
 *             side and agree in memory and registers, except that return addresses may lie in
 *             images, registers on the way to a jump table may hold the new table's address, or
 *             entries and targets of it (dataflow.c shows that nothing else ever sees
 *             those), and pointers to a function are all those of its image, if
 *             redirected.c says so.
 *
 *   headers.c     original bytes are where they were; headers, segments, sections
 *   front.c   what gave way to the program headers is elsewhere, unchanged, and found
 *   sections.c  section headers name the same things and the new ones
 *   symbols.c  names for new text are those of its functions
 *   account.c  there is no byte in the file that no part has answered for
 *   entries.c   one walk over the original's code; entry jumps cut no way in half
 *   holders.c  nor does any address kept as data arrive inside one
 *   redirected.c  pointers that lead to images: all to a function, or none
 *   labelwords.c  the same of labels that an interpreter jumps to
 *   code.c    an image does what its original block does and leads where it leads
 *   casetables.c   a new jump table leads where the old one leads
 *   dataflow.c    the address of a new jump table is seen by nothing but the dispatch
 *   values.c   what registers hold on the way there
 *   shift.c   loads that read a new jump table by the address of the old one
 *   returns.c  calls that never come back
 *   callwrites.c  registers that calls overwrite
 *   frames.c     an interpreter for call frame information
 *   unwindrows.c  the same unwind row at every instruction; .eh_frame_hdr
 *   callsites.c    exceptions take the same ways
 *   probenotes.c  notes of static probe points lead to their images, too
 *
 * Nothing here shares code with what makes generations but the decoder (binary/decode.h),
 * the ELF reader (binary/image.h, loadtables.h) and the reader of the block map
 * (lib/blockmap.h).
 */
#ifndef VERIFY_PARTS_H
#define VERIFY_PARTS_H

#include <stdbool.h>

#include "verify/verify.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/bracket.h"
#include "lib/err.h"
#include "binary/decode.h"
#include "binary/image.h"

struct returns;
struct verify;

#define NO_FDE UINT32_MAX
enum { VERIFY_MAX_DYNAMIC = 32 };
#define ROW_NONE UINT32_MAX

struct vrow {
	vaddr addr;		/* holds from here to the next row or the FDE's end */
	/* interned: equal rule sets have equal numbers, in both files */
	uint32_t state;
};

struct vcie {
	uint64_t off;		/* from the start of .eh_frame */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	vaddr personality;	/* 0: none */
	bool indirect;		/* personality is the address of a pointer */
	bool signal_frame, has_augmentation, understood;
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

struct vsite {			/* a call site: a range of code and what exceptions do there */
	vaddr addr;
	uint64_t len;
	vaddr pad;		/* landing pad, 0: none */
	uint32_t action;	/* offset of the first action + 1, 0: none */
};

struct vlsda {			/* the exception table of one FDE; callsites.c */
	vaddr addr;
	struct bytes bytes;	/* from addr to the end of the segment */
	/* offset of the end of the types; only if type_enc is not 0xff */
	uint64_t types;
	uint64_t actions;	/* offset of the first action */
	uint32_t site, nsite;	/* in vcfi.site[], ascending by addr, disjoint */
	uint8_t type_enc;
	bool understood;	/* false: no sites */
};

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
};

struct vstates;			/* the interned rule sets; frames.c */

struct vformer {		/* an original instruction whose image refers to a new table */
	vaddr addr;
	uint32_t fde;		/* of the original */
	uint32_t table;		/* index in map.table[] */
};

struct vshifted {		/* an original load whose image reads at another displacement */
	vaddr addr;
	int32_t shift;
};

struct vformers {		/* VEC */
	struct vformer *v;
	uint32_t n, cap;
};

enum vholder_kind {
	HOLDS_FIXED,	/* the entry point, DT_INIT, DT_FINI */
	HOLDS_RELATIVE,	/* the addend of a RELATIVE relocation of DT_RELA */
	HOLDS_RELR,	/* a word that RELR relocates */
	HOLDS_RELOCATED,	/* any other relocation */
	HOLDS_SYMBOL,	/* a symbol of a .dynsym */
	HOLDS_LISTED,	/* in a section that nothing loads, or met again as one of these */
	HOLDS_WORD,	/* an aligned word of a program at a fixed address */
};

/* a place outside of instructions that may hold a code address */
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

enum vref_kind {
	REF_LEA,	/* lea to(%rip), of 64 bits */
	REF_OPERAND,	/* any other operand, or constant, that may be the address of code */
	REF_BRANCH,	/* of another function, not to a function's start */
	REF_JUMP,	/* an indirect jump, but through a slot of the GOT; no `to` */
};

/* an instruction of the original that leads or refers to code */
struct vref {
	vaddr addr, to;
	uint32_t fde;		/* that it is in; NO_FDE */
	uint8_t kind;		/* enum vref_kind */
};

struct vredirect {		/* pointers to `from` are pointers to `to` in the generation */
	vaddr from;
	new_vaddr to;
};

struct vchange {		/* bytes that redirected.c answers for */
	file_off off;
	vaddr addr;
	uint64_t n;
};

struct vbases {			/* VEC: ascending */
	vaddr *v;
	uint32_t n, cap;
};

struct vslot {			/* filled by the dynamic linker with a function's address */
	vaddr addr;
	vaddr local;		/* the function, when it is one of the module; else 0 */
	bool dead;		/* the function never returns */
};

struct verify {
	struct arena *a;
	struct arena *run;	/* of one run of dataflow.c; empty between them */
	struct err *err;
	struct verify_stats *stats;
	struct image orig, gen;
	struct blockmap map;
	const Elf64_Phdr **fresh;	/* [nfresh] segments that only the generation has */
	uint32_t nfresh;
	uint64_t lift;			/* file offsets of the original are smaller by this */
	uint64_t front_lo, front_hi;	/* file offsets of what gave way to program headers */
	vaddr front_off;		/* address less file offset there */
	uint64_t dynamic[VERIFY_MAX_DYNAMIC];	/* [ndynamic] file offsets of changed values */
	uint32_t ndynamic;
	struct vstates *states;
	struct vcfi ocfi, gcfi;
	/* steps left for reading and comparing exception tables */
	uint64_t lsda_budget;
	const struct vsite *last_site[2];	/* of both files, found to be the same */

	/* One bit per byte of the original file. */
	uint8_t *start;			/* an instruction inside an FDE begins here */
	uint8_t *cut;			/* byte 1..4 of an entry jump */
	/* [ocfi.nfde] union-find: fragments and their functions */
	uint32_t *group;
	/* [ocfi.nfde] entered by jumps in the middle of a frame */
	bool *fragment;
	/* VEC: addresses of what looks like jump tables, ascending */
	struct {
		vaddr *v;
		uint32_t n, cap;
	} tables;
	struct returns *returns;	/* returns.c's */
	struct {			/* VEC: slots of the original's GOT, ascending */
		struct vslot *v;
		uint32_t n, cap;
	} slots, locals;	/* by symbol; by relative relocation, and constant then */
	uint32_t *range_of;		/* [ocfi.nfde] dataflow.c's; zero between its runs */
	uint16_t *written;		/* [ocfi.nfde] callwrites.c's; NULL: nobody asked */

	/* What redirected pointers need; [ocfi.nfde] each. */
	bool *open;			/* original code may run: something leads inside */
	bool *followed;			/* of a group: dataflow.c has been there */
	/* one FDE of each group in which images may jump to original code by a table */
	VEC(uint32_t) stays;
	/* of a group: pointers to labels lead to their images */
	bool *labelled;
	bool *has_table;		/* forms the address of what looks like a jump table */
	struct vbases bases;		/* addresses that `lea` forms */
	vaddr dynamic_symbols;		/* DT_SYMTAB, or where nothing is */
	VEC(struct vref) refs;		/* of programs that are loaded at any address */
	VEC(struct vref) formed;	/* by any lea: what may be code */
	VEC(struct vredirect) redirects;
	VEC(struct vchange) changes;
	/* originals of instructions that form an image's address */
	VEC(vaddr) leas;
	/* ascending by table, then address, after verify_code() */
	struct vformers formers;
	VEC(struct vshifted) shifted;	/* ascending by address after verify_code() */
	/* addresses of tables whose new ones are read like that */
	struct vbases beside;
	/* if any are: redirected pointers into the middle of functions */
	struct vbases inner;
	uint32_t symbols;		/* index of .symtab, when that is a new one; else 0 */
	uint32_t probes;		/* likewise, of the notes of static probe points */
};

#define refuse(v, ...) err_set((v)->err, ERR_REFUSED, __VA_ARGS__)
#define ULL(x) ((unsigned long long)(x))

/* holders.c: part of verify_entries(). */
int verify_pointers(struct verify *v);
/* All places of the original; stops when f() returns -1, and returns that. */
int verify_each_holder(struct verify *v, vholder_fn *f, void *ctx);

/* redirected.c: part of verify_elf(); fills changes and redirects. */
int verify_find_redirects(struct verify *v);
/* The image of the lea at addr may form `to` where that forms `from`. */
bool verify_redirect_lea(struct verify *v, vaddr addr, vaddr from, new_vaddr to);
/* Something leads to this address of the original. */
void verify_note_inner(const struct verify *v, vaddr addr);
/* Part of the walk over the original: a way from that FDE (NO_FDE: from between) to another
 * one. */
void verify_note_way(struct verify *v, uint32_t fde, vaddr addr, vaddr to);
/* Likewise: an instruction. */
void verify_note_reference(struct verify *v, uint32_t fde, const struct insn *insn,
			   const uint8_t *code, vaddr addr, vaddr target);

/* watchedcode.c: part of the walk over the original: a lea. */
void verify_note_lea(struct verify *v, uint32_t fde, vaddr addr, vaddr to);

/* labelwords.c: part of verify_redirects().  In this order: of each redirected label; of
 * all. */
int verify_label_place(struct verify *v, vaddr from, new_vaddr to);
int verify_labels(struct verify *v);
/* Inside of a function with redirected labels, not at its start. */
bool verify_is_labelled(const struct verify *v, vaddr addr);
/* ways.c: where the computed jump at `jump` gets its target from. */
enum verify_way { WAY_CALCULATED, WAY_FETCHED, WAY_BY_TABLE };
enum verify_way verify_way_of(struct verify *v, vaddr jump);
bool verify_is_function(const struct verify *v, vaddr addr);

/* front.c: part of verify_elf(). */
int verify_front(struct verify *v);
/* A loaded section of the original. */
int verify_old_section(struct verify *v, uint32_t i);
/* It is at another address in the generation. */
bool verify_has_moved(const struct verify *v, uint32_t i);
/* `want`, or how it has to be when `g` is the same thing at another place. */
Elf64_Phdr verify_moved_phdr(const struct verify *v, Elf64_Phdr want, const Elf64_Phdr *g);
/* Where the generation has the byte that stands at `off` in the original's file. */
uint64_t verify_new_off(const struct verify *v, uint64_t off);
/* The original has something at addr that the generation has elsewhere. */
bool verify_in_front(const struct verify *v, vaddr addr);
/* Likewise, for a number that may be no address at all: what linkers make is referred to by
 * where it begins; a note of somebody else's by any of its bytes. */
bool verify_may_be_in_front(const struct verify *v, uint64_t number);

/* In running order; each returns 0, or -1 with the refusal in v->err. */
int verify_elf(struct verify *v);
int verify_cfi(struct verify *v);		/* fills ocfi, gcfi, fragment */
int verify_lsdas(struct verify *v);		/* fills lsda and site of both */
int verify_entries(struct verify *v);		/* fills start, cut, group */
int verify_code(struct verify *v);		/* fills formers */
int verify_tables(struct verify *v);
int verify_unwind(struct verify *v);
int verify_redirects(struct verify *v);
int verify_watched(struct verify *v);
int verify_sections(struct verify *v);		/* fills symbols, probes */
int verify_symbols(struct verify *v);
int verify_probes(struct verify *v);
int verify_account(struct verify *v);

/* verify.c */
bool verify_is_fresh(const struct verify *v, vaddr addr);
/* File bytes from addr to the end of its executable segment; .p == NULL if there are none. */
struct bytes verify_orig_code_anywhere(const struct verify *v, vaddr addr);
static inline struct bytes verify_orig_code(const struct verify *v, vaddr addr)
{
	return addr - v->orig.text_at < v->orig.text.n ? image_rest(&v->orig, addr) :
							 verify_orig_code_anywhere(v, addr);
}
bool verify_is_cut(const struct verify *v, vaddr addr);
/* The function that begins at addr has an entry jump (perhaps behind its endbr64). */
bool verify_has_entry(const struct verify *v, vaddr addr);
bool verify_is_start(const struct verify *v, vaddr addr);
/* The block whose original begins exactly at addr, NULL if none. */
const struct blockmap_block *verify_image_of(const struct verify *v, vaddr addr);
/* True when being at `to` in the generation is being at `addr` in the original: `to` is addr
 * itself (and not a cut byte), or the image of addr, or of what addr leads to through NOPs and
 * direct jumps. */
bool verify_leads(const struct verify *v, vaddr addr, new_vaddr to);
/* The same of a way that is not used: the original's code is not run by it. */
bool verify_may_lead(const struct verify *v, vaddr addr, new_vaddr to);
/* Root of a group of FDEs. */
uint32_t verify_group(const struct verify *v, uint32_t fde);

/* entries.c: where the next jump table behind addr begins, as far as the code that uses it
 * shows; UINT64_MAX if there is none. */
vaddr verify_next_table(const struct verify *v, vaddr addr);

/* frames.c */
int vcfi_parse(struct verify *v, const struct image *img, struct vcfi *out);
uint32_t vcfi_find(const struct vcfi *cfi, vaddr addr);	/* NO_FDE if none covers addr */
/* False when the program holds an address (DW_CFA_set_loc, DW_OP_GNU_encoded_addr), or may. */
bool vcfi_is_free(struct bytes program);
struct vcursor {		/* remembers where it was: walking upwards costs nothing */
	const struct vcfi *cfi;
	uint32_t fde, row;
};
/* State at addr; ROW_NONE when no understood FDE covers it. */
uint32_t vcfi_state(struct vcursor *c, vaddr addr);
/* True for the row "CFA is rsp + 8": what a call has just entered. */
bool vstates_is_entry(const struct vstates *s, uint32_t state);
/* CFA less rsp; 0 when the row does not say so. */
int64_t vstates_depth(const struct vstates *s, uint32_t state);

bool verify_same_bytes(struct bytes x, struct bytes y);	/* unwindrows.c */
/* unwindrows.c: the rows at an instruction and its image agree, at every byte of both. */
struct vpair {
	struct vcursor orig, gen;
};
int verify_row(struct verify *v, struct vpair *c, vaddr o, uint32_t olen, new_vaddr g,
	       uint32_t glen);
/* The row at a jump that the original does not have: it stands for being at `dest`, reached
 * from the instruction at `last`, which may be a transfer that leaves the frame alone. */
int verify_row_jump(struct verify *v, struct vpair *c, vaddr last, bool last_transfers,
		    vaddr dest, new_vaddr g, uint32_t glen);

/* callsites.c: NULL when the FDE has none. */
const struct vlsda *vlsda_of(const struct vcfi *cfi, uint32_t fde);
/* The call site of the FDE that holds addr; NULL: none, or no LSDA that is understood. */
const struct vsite *vlsda_site(const struct vcfi *cfi, uint32_t fde, vaddr addr);
/* Exceptions at an instruction and at its image go the same way; the cursors are there. */
int verify_exceptions(struct verify *v, const struct vpair *c, vaddr o, uint32_t olen,
		      new_vaddr g, uint32_t glen);
/* Asks without refusing: the same unwind row, and exceptions go the same way. */
bool verify_same_frame(struct verify *v, struct vpair at, vaddr o, new_vaddr g);
/* At an added jump or NOP they do what they do at `last` or at `dest`. */
int verify_exceptions_jump(struct verify *v, const struct vpair *c, vaddr last, vaddr dest,
			   new_vaddr g, uint32_t glen);

/* dataflow.c: formers[former[0 .. n)], ascending, are in the group of FDEs member[], as
 * are some loads of shifted[], perhaps. */
int verify_flow(struct verify *v, const uint32_t *former, uint32_t n, const uint32_t *member,
		uint32_t nmember);

/* code.c: the claimed table with these two addresses; NULL if there is none. */
const struct blockmap_table *verify_find_table(const struct verify *v, vaddr orig,
					       new_vaddr gen, uint32_t kind);
/* casetables.c: the new table, used at `addr`, is as long as what looks like entries of the
 * function of group `group`. */
int verify_table_length(struct verify *v, const struct blockmap_table *t, uint32_t group,
			vaddr addr);

/* shift.c: the original's instruction `o` loads 32 bits without a displacement, and
 * `g` begins with the same load at the displacement *shift: how long that is; else 0. */
uint32_t vshift_read(struct bytes o, struct bytes g, int32_t *shift);
/* When all of shifted[] and redirects[] are there. */
void vshift_sort(struct verify *v);
/* A new table stands for that one which has distances from the old one. */
bool vshift_is_beside(const struct verify *v, vaddr table);
/* How far the image of the instruction at addr reads from where that does; 0: the same
 * place. */
int32_t vshift_at(const struct verify *v, vaddr addr);
/* Index of the first of inner[] that is not below addr. */
uint32_t vshift_first_inner(const struct verify *v, vaddr addr);

/* returns.c: false when the call certainly does not come back. */
void verify_collect_slots(struct verify *v);
bool verify_is_slot(const struct verify *v, vaddr addr);
/* At addr stands a stub of the procedure linkage table: going there leaves the module. */
bool verify_is_stub(const struct verify *v, vaddr addr);
/* There stands exactly `jmp *slot(%rip)`, perhaps behind endbr64 or with a bnd prefix, and
 * no entry jump: the slot; else 0. */
vaddr verify_stub_slot(const struct verify *v, vaddr addr);
struct effect;
bool verify_call_returns(struct verify *v, const struct effect *call);

static const uint16_t VERIFY_CALLER_SAVED = 0x0fc7;	/* rax rcx rdx rsi rdi r8-r11 */
/* callwrites.c: registers of these that the call may overwrite, so that nobody looks at
 * what they had been. */
uint16_t verify_call_writes(struct verify *v, const struct effect *call);

/* casetables.c: where entry i of the table leads; false when it is not in constant file
 * bytes. */
bool verify_table_entry(const struct image *img, vaddr table, uint32_t kind, uint64_t i,
			vaddr *target);
/* An entry of a table of this group of FDEs may lead to `addr`: an instruction of it, or
 * exactly behind one of its ranges, where fillers for cases that cannot be lead. */
bool verify_is_case(const struct verify *v, uint32_t group, vaddr addr);
/* Or to the start of what looks like another function: a part of this one whose frame is
 * gone, perhaps.  Where it is not known how long a table is, it goes on behind such entries. */
bool verify_may_be_case(const struct verify *v, uint32_t group, vaddr addr);

#endif
