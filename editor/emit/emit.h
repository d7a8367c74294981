/* emit.h - between the parts of emit: the plan of the new text
 *
 * emit_plan.c decides what is placed where, emit_code.c writes bytes, emit_unwind.c gives the
 * unwind rows, emit_lsda.c the exception tables, emit_probes.c the notes of probes,
 * emit_longer.c says which instructions become longer, emit.c runs them all and puts the file
 * together.  The plan has an arena of its own, so that it can go before the file is put
 * together.
 */
#ifndef EDITOR_EMIT_EMIT_H
#define EDITOR_EMIT_EMIT_H

#include "editor/emit/ehframe.h"
#include "editor/emit/relax.h"
#include "editor/emit/edgecounter.h"
#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct elfout;
struct elfout_patch;
struct err;

#define NO_PLACE UINT32_MAX

struct emit_dest {			/* where a branch goes */
	uint32_t place;			/* index in emit_plan.place[], NO_PLACE: see addr */
	vaddr addr;			/* unchanged address in the original */
};

/* The image of one block: `nkept` instructions copied (some may have become longer), then
 * the re-encoded branch if `branched`, then a synthetic jmp if `jumps`, or NOPs if `fills`.
 * item[item] ends with the branch, item[item + 1] is the jmp if both are there. */
struct emit_place {
	uint32_t fn, block;
	uint32_t item, nitem;
	uint32_t nkept;			/* leading instructions that are copied */
	/* its last items: ways from its jump table that are counted */
	uint32_t nentry;
	/* prefixes without a meaning in front of the first of nkept */
	uint8_t front;
	bool branched, inverted, jumps;
	/* runs over NOPs into the next place, if there are any */
	bool fills;
	bool starts_piece;		/* first block of a function's hot or fluff part */
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
	struct arena *arena;		/* of what is below; sizes and addresses survive it */
	/* [nplace] in emit order: all hot, all warm, all cold ones */
	struct emit_place *place;
	struct relax_item *item;	/* [nitem] */
	/* [nfn] -> [nblock] index in place[], NULL if not moved.  An empty block has that of
	 * the block it runs into, one that stays NO_PLACE */
	uint32_t **place_of;
	struct emit_table *table;	/* [ntable] ascending by off */
	/* [nfn] -> [ninsn] index in table[] for the instructions that are its users, else
	 * NO_TABLE; NULL if without tables */
	uint32_t **table_of;
	uint32_t nplace, nhot, nitem, ntable;
	uint64_t text_size, hot_size, tables_size;
	new_vaddr text_addr, tables_addr;
};

/* Everything but the two addresses; *plan is to be freed in any case.  Fails, naming
 * function and address, when the program is one that cannot be laid out. */
int emit_plan_fill(struct emit_plan *plan, const struct prog *prog,
		   const struct edgecounters *counters, struct err *err);
void emit_plan_free(struct emit_plan *plan);	/* twice is allowed */
/* Leading instructions of a block that its image keeps, the branch at its end not counted. */
uint32_t emit_count_kept(const struct prog *prog, const struct fn *fn, const struct block *b);
bool emit_ends_in_branch(const struct fn *fn, const struct block *b);
/* Its image is empty: what leads to it leads to what it runs into. */
bool emit_is_empty(const struct prog *prog, const struct fn *fn, const struct block *b);
/* Where a way to block `id` goes: to its image, or to the original of what stays; -1:
 * nowhere. */
int emit_find_block(const struct emit_plan *plan, uint32_t fn, uint32_t id,
		    struct emit_dest *dest);
/* The function whose entry `addr` is, if it is moved; NO_FN else. */
uint32_t emit_moved_entry(const struct prog *prog, vaddr addr);

static inline new_vaddr emit_place_addr(const struct emit_plan *plan, uint32_t place)
{
	return plan->text_addr + plan->item[plan->place[place].item].addr;
}

/* Bytes of its instructions. */
static inline uint64_t emit_place_code(const struct emit_plan *plan, uint32_t place)
{
	const struct emit_place *p = &plan->place[place];
	const struct relax_item *last = &plan->item[p->item + p->nitem - 1];

	return last->addr + relax_size(last) - plan->item[p->item].addr;
}

/* NOPs behind it, up to the next place. */
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
/* Bytes of the image of instruction `k` of the place's block, which is not the branch at its
 * end. */
uint32_t emit_insn_size(const struct emit_plan *plan, const struct emit_place *p, uint32_t k);

/* Both need text_addr and tables_addr.  Text and tables have the planned sizes afterwards. */
int emit_code_write(const struct emit_plan *plan, struct wr *text, struct err *err);
int emit_tables_write(const struct emit_plan *plan, struct wr *tables, struct err *err);

/* The image of the function that begins at addr if pointers to it are redirected; 0 else. */
new_vaddr emit_redirected(const struct emit_plan *plan, vaddr addr);
/* Changes of all redirected relocations, words and symbols: at most prog->nref. */
uint32_t emit_redirect_write(const struct emit_plan *plan, const struct elfout *eo,
			     struct elfout_patch *out);

/* Appends the new content of .note.stapsdt and gives the index of that section, or 0 when it
 * stays as it is. */
uint32_t emit_probes_write(const struct emit_plan *plan, struct wr *out);

struct emit_piece {			/* one FDE of new text */
	uint32_t place, nplace;		/* plan->place[place .. place + nplace) */
	/* in cfi.fde[]: whose exception table it goes by; when that has none, the code may
	 * be of several such FDEs */
	uint32_t fde;
};

struct emit_unwind {
	struct emit_piece *piece;		/* [npiece] */
	struct ehframe_piece *row_piece;	/* [npiece] the same ones for ehframe_write() */
	struct ehframe_row *row;
	uint32_t npiece, nrow;
};

/* Unwind pieces and rows of all new text; in arena `a`. */
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
	/* [npiece] where its record begins, EMIT_NO_LSDA if none */
	uint64_t *off;
	uint64_t empty;			/* likewise, of the record without call sites */
	VEC(struct emit_lsda_fix) fixes;
};

/* Needs text_addr.  The bytes have their final size, but not all of their content. */
int emit_lsda_fill(const struct emit_plan *plan, const struct emit_unwind *unwind,
		   struct emit_lsda *out, struct err *err);
/* They stand at `addr`: completes the bytes and tells the pieces. */
int emit_lsda_place(struct emit_lsda *lsda, new_vaddr addr, struct emit_unwind *unwind,
		    struct err *err);

/* emit_runtime.c: the routines of an instrumented generation, behind all places.  How far
 * from the start of new text; their FDEs, how many of them are behind those of `unwind`,
 * which keeps its number. */
uint64_t emit_runtime_off(const struct emit_plan *plan);
/* first of all, fills what jumps need */
void emit_runtime_moves(const struct emit_plan *plan);
uint32_t emit_runtime_unwind(const struct emit_plan *plan, struct arena *a,
			     struct emit_unwind *unwind);
/* Needs parts of the plan's counters->runtime: where the program goes on, and its file's head. */
void emit_runtime_write(const struct emit_plan *plan, struct wr *text);
/* Where the program begins now; 0 when it has no entry. */
new_vaddr emit_runtime_entry(const struct emit_plan *plan, const struct elfout *eo);
/* A change of .dynamic, so that a library runs its start routine first; none in programs. */
int emit_runtime_init(const struct emit_plan *plan, const struct elfout *eo,
		    struct elfout_patch *patch, uint32_t *npatch, struct err *err);

/* "NAME at 0xADDRESS" or "function at 0xADDRESS", in the arena: for messages. */
const char *emit_fn_text(const struct prog *prog, const struct fn *fn);

#endif
