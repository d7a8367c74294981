/* emit.h - what the parts of emit share: the plan of the new text, and each part's functions
 *
 * The parts of emit.c, in the order in which each may use those before it:
 *
 *   edgecounter.c     instructions of one edge counter   (edgecounter.h)
 *   emit_counters.c   edge counters in a block's image: size and place
 *   emit_longer.c     instructions whose images are longer
 *   emit_lines.c      where the ends of lines lie in the images of what runs most
 *   emit_plan.c       the plan: what is placed where, how each block ends
 *   emit_redirect.c   pointers and symbols that lead to images
 *   emit_code.c       bytes of new text and of new jump tables
 *   emit_unwind.c     unwind rows of new text
 *   emit_lsda.c       exception tables of new text
 *   emit_probes.c     notes of static probe points
 *   emit_dynsyms.c    dynamic symbols for parts of exported functions
 *   emit_runtime.c    the counter runtime (counterruntime.h)
 *
 * generation.h declares what emit.c offers to others.  The plan has an arena of its own, so
 * that it can be freed before the file is put together.
 */
#ifndef EDITOR_EMIT_EMIT_H
#define EDITOR_EMIT_EMIT_H

#include "editor/emit/ehframe.h"
#include "editor/emit/relax.h"
#include "editor/emit/edgecounter.h"
#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct elfout;
struct elfout_dynsym;
struct elfout_patch;
struct err;

#define NO_PLACE UINT32_MAX

struct emit_dest {			/* where a branch goes */
	/* index in emit_plan.place[]; NO_PLACE: to addr */
	uint32_t place;
	vaddr addr;			/* unchanged address in the original */
};

/* The image of one block: `nkept` instructions copied (some may have become longer), then the
 * re-encoded branch if `branched`, then a synthetic jmp if `jumps`, or NOPs if `fills`.  To
 * relaxation it is item[item .. item + nitem): the first ends with the branch; the second is
 * the jmp if there are both. */
struct emit_place {
	uint32_t fn, block;
	uint32_t item, nitem;
	uint32_t nkept;			/* leading instructions that are copied */
	/* the last `nentry` items are edge counters of the edges from its jump table */
	uint32_t nentry;
	/* meaningless prefixes in front of instructions of nkept, in all */
	uint8_t front;
	bool branched, inverted, jumps;
	/* control runs on, over NOPs if there are any, into the next place */
	bool fills;
	bool starts_part;		/* first block of a function's hot or fluff part */
	bool hot;			/* in the hot text */
	struct emit_dest branch, jump;
	vaddr slot;			/* the branch is a jump through this; 0: it is direct */
};

struct emit_table {			/* a new jump table */
	uint32_t fn, table;		/* of prog->fn[fn].table[table] */
	uint64_t off;			/* from the start of the new tables */
};

struct emit_plan {
	const struct prog *prog;
	const struct edgecounters *counters;	/* NULL: nothing is counted */
	struct arena *arena;		/* of the arrays below */
	/* [nplace] in emit order: all hot, all warm, all cold ones */
	struct emit_place *place;
	struct relax_item *item;	/* [nitem] */
	/* [nfn] -> [nblock] index in place[]; NULL if the function is not moved.  An empty
	 * block has the place of the block that it runs into, a block that stays has
	 * NO_PLACE. */
	uint32_t **place_of;
	struct emit_table *table;	/* [ntable] ascending by off */
	/* [nfn] -> [ninsn] index in table[] of the table whose address the instruction forms,
	 * else NO_TABLE; NULL if the function has no tables */
	uint32_t **table_of;
	uint32_t nplace, nhot, nitem, ntable;
	bool fitted;	/* there may be padding in front of hot places (emit_lines.c) */
	uint64_t text_size, hot_size, tables_size;
	new_vaddr text_addr, tables_addr;
};

/* Fills the plan but for text_addr and tables_addr, which the caller sets.  -1, naming function
 * and address, when the program cannot be laid out.  The caller frees *plan in either case. */
int emit_plan_fill(struct emit_plan *plan, const struct prog *prog,
		   const struct edgecounters *counters, struct err *err);
void emit_plan_free(struct emit_plan *plan);	/* twice is allowed */
/* emit_lines.c: notes whether places are fitted; then, when all items are there, places these.
 * back[nplace]: how often each place is reached by a branch from itself or a later one.  The
 * size of the text. */
void emit_lines_mark(struct emit_plan *plan);
uint64_t emit_lines_relax(struct emit_plan *plan, const double *back);
/* Leading instructions of a block that its image keeps, the branch at its end not counted. */
uint32_t emit_count_kept(const struct prog *prog, const struct fn *fn, const struct block *b);
bool emit_ends_in_branch(const struct fn *fn, const struct block *b);
/* The block's image is empty: what leads to the block leads to the block that it runs into. */
bool emit_is_empty(const struct prog *prog, const struct fn *fn, const struct block *b);
/* Where a branch to block `id` goes: to its image, or to the original if the block stays; -1 if
 * there is neither. */
int emit_find_block(const struct emit_plan *plan, uint32_t fn, uint32_t id,
		    struct emit_dest *dest);
/* The moved function whose entry is at `addr`; NO_FN if there is none. */
uint32_t emit_moved_entry(const struct prog *prog, vaddr addr);

static inline new_vaddr emit_place_addr(const struct emit_plan *plan, uint32_t place)
{
	return plan->text_addr + plan->item[plan->place[place].item].addr;
}

/* Bytes of a place without the NOPs after it. */
static inline uint64_t emit_place_code(const struct emit_plan *plan, uint32_t place)
{
	const struct emit_place *p = &plan->place[place];
	const struct relax_item *last = &plan->item[p->item + p->nitem - 1];

	return last->addr + relax_size(last) - plan->item[p->item].addr;
}

/* Bytes of NOPs after a place that `fills`, up to the next one. */
static inline uint64_t emit_place_fill(const struct emit_plan *plan, uint32_t place)
{
	if (!plan->place[place].fills)
		return 0;
	return emit_place_addr(plan, place + 1) - emit_place_addr(plan, place) -
	       emit_place_code(plan, place);
}

static inline uint64_t emit_place_size(const struct emit_plan *plan, uint32_t place)
{
	return emit_place_code(plan, place) + emit_place_fill(plan, place);
}

/* emit_counters.c: edge counters of place `p` (edgecounter.h); there are none unless the
 * generation is an instrumented one. */
const struct edgecounter *emit_counters_find(const struct emit_plan *plan,
					     const struct emit_place *p,
					     enum edgecounter_at at, uint32_t where);
/* Bytes of one; `insn` as for edgecounter_write(). */
uint32_t emit_counters_size(const struct emit_plan *plan, const struct edgecounter *c,
			    const struct insn *insn);
/* Bytes of all in front of an instruction of the block, of that on the taken edge, of that on
 * the fall-through edge; 0 if there is none. */
uint32_t emit_counters_before(const struct emit_plan *plan, const struct emit_place *p,
			   uint32_t insn);
uint32_t emit_counters_taken(const struct emit_plan *plan, const struct emit_place *p);
uint32_t emit_counters_fall(const struct emit_plan *plan, const struct emit_place *p);
/* Bytes of the branch that leads around the edge counter on a taken edge, without prefixes. */
uint32_t emit_counters_around(const struct insn *branch);
/* The address that the entry of a jump table for block `to` gets so that the edge is counted:
 * of its edge counter; 0 if it has none. */
new_vaddr emit_counters_entry(const struct emit_plan *plan, uint32_t fn, uint32_t table,
			   uint32_t to);

/* The slot through which the image of an instruction of a block calls or jumps, instead of
 * to a stub of the linkage table that does so; 0 if it does not. */
vaddr emit_slot_of(const struct prog *prog, const struct block *b, const struct insn *insn);
/* The new table whose entry instruction number `insn` of a function reads by the old one's
 * address, with a displacement; NULL if it is no such load. */
const struct emit_table *emit_load_of(const struct emit_plan *plan, uint32_t fn, uint32_t insn);
/* How many meaningless prefixes the place's instructions may get, up to `most`; how many of
 * those that it has instruction `k` gets. */
uint32_t emit_front_room(const struct emit_plan *plan, const struct emit_place *p,
			 uint32_t most);
uint32_t emit_front_size(const struct emit_plan *plan, const struct emit_place *p, uint32_t k);
/* Bytes of the image of instruction `k` of the place's block, which is not the branch at its
 * end. */
uint32_t emit_insn_size(const struct emit_plan *plan, const struct emit_place *p, uint32_t k);

/* Both need text_addr and tables_addr, and append exactly text_size and tables_size bytes. */
int emit_code_write(const struct emit_plan *plan, struct wr *text, struct err *err);
int emit_tables_write(const struct emit_plan *plan, struct wr *tables, struct err *err);

/* Bytes from a place to the end of the part of the function that it is in. */
uint64_t emit_part_size(const struct emit_plan *plan, uint32_t place);
/* The image of the function that begins at addr if pointers to it are redirected; else 0. */
new_vaddr emit_redirected(const struct emit_plan *plan, vaddr addr);
/* Changes of all redirected relocations, words and symbols: at most prog->nref. */
uint32_t emit_redirect_write(const struct emit_plan *plan, const struct elfout *eo,
			     struct elfout_patch *out);

/* Appends the new content of .note.stapsdt and gives the index of that section, or 0 when it
 * stays as it is. */
uint32_t emit_probes_write(const struct emit_plan *plan, struct wr *out);

/* Needs text_addr.  The number of dynamic symbols that the parts of exported functions want,
 * and those in *out, in the program's arena. */
uint32_t emit_dynsyms_fill(const struct emit_plan *plan, const struct elfout_dynsym **out);

struct emit_span {			/* one FDE of new text */
	uint32_t place, nplace;		/* plan->place[place .. place + nplace) */
	/* index in cfi.fde[]: the FDE that the code is of; where that has no exception table,
	 * the code may be of several FDEs without one */
	uint32_t fde;
};

struct emit_unwind {
	struct emit_span *span;		/* [nspan] */
	struct ehframe_span *row_span;	/* [nspan] the same ones for ehframe_write() */
	struct ehframe_row *row;
	uint32_t nspan, nrow;
};

/* Unwind spans and rows of all new text, in arena `a`.  Needs text_addr. */
int emit_unwind_fill(const struct emit_plan *plan, struct arena *a, struct emit_unwind *out,
		     struct err *err);

#define EMIT_NO_LSDA UINT64_MAX

struct emit_lsda_fix {			/* a field relative to its own address */
	uint64_t at;
	uint64_t value;			/* what it leads to */
	uint8_t enc;			/* DW_EH_PE_* */
};

struct emit_lsda {			/* new exception tables */
	struct wr bytes;		/* the caller frees it */
	/* [nspan] offset of the span's record in bytes, EMIT_NO_LSDA if it has none */
	uint64_t *off;
	uint64_t empty;			/* likewise, of the shared record without call sites */
	VEC(struct emit_lsda_fix) fixes;
};

/* Needs text_addr.  Afterwards the bytes have their final size; the fields in `fixes` are still
 * missing. */
int emit_lsda_fill(const struct emit_plan *plan, const struct emit_unwind *unwind,
		   struct emit_lsda *out, struct err *err);
/* The tables stand at `addr`: fills in the fields, and the tables' addresses in row_span[]. */
int emit_lsda_place(struct emit_lsda *lsda, new_vaddr addr, struct emit_unwind *unwind,
		    struct err *err);

/* emit_runtime.c: the counter runtime, which stands after all places of an instrumented
 * generation.  Its offset from the start of new text. */
uint64_t emit_runtime_off(const struct emit_plan *plan);
/* Its bytes. */
uint64_t emit_runtime_size(const struct emit_plan *plan);
/* First of all: lists the blocks that computed jumps may go to by addresses of the original.
 * Needs text_addr. */
void emit_runtime_moves(const struct emit_plan *plan);
/* Appends its FDE and rows to the arrays of `unwind`, in arena `a`; returns 1, or 0 where the
 * original has no CIE that fits.  unwind->nspan stays as it was: the span is of no place. */
uint32_t emit_runtime_unwind(const struct emit_plan *plan, struct arena *a,
			     struct emit_unwind *unwind);
/* Appends the code to `text`, which holds all places.  Last of all: what it has from the plan's
 * counters->runtime must be complete. */
void emit_runtime_write(const struct emit_plan *plan, struct wr *text);
/* The program's new entry point; 0 when the file has none. */
new_vaddr emit_runtime_entry(const struct emit_plan *plan, const struct elfout *eo);
/* Appends to patch[*npatch] the change of .dynamic by which a library runs the counter runtime
 * first; nothing for a program.  -1 when .dynamic has no room. */
int emit_runtime_init(const struct emit_plan *plan, const struct elfout *eo,
		    struct elfout_patch *patch, uint32_t *npatch, struct err *err);

/* For messages: "NAME at 0xADDRESS" or "function at 0xADDRESS", in the program's arena. */
const char *emit_fn_text(const struct prog *prog, const struct fn *fn);

#endif
