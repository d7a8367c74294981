/* text.h - the code of a file while it is analysed; internal to PostMorph
 *
 * The code covered by one FDE is a *piece*.  Every piece is decoded; then pieces that are
 * fragments (.cold) find their parent, and each remaining one becomes a function.
 *
 * text.mark has one byte of flags for every byte from prog->base to the end of executable
 * segments.  All of struct text is scratch: it goes when prog_analyze() returns.
 *
 * A large program has ten million instructions.  All of them have to be looked at, but only
 * those of functions with fn->kept stay in memory as struct insn.  So a step that looks at all
 * functions either reads each with a scan (struct fn_scan), or loads it (fn_load) while it
 * looks at it.  A scan decodes nothing: two bytes of each instruction (struct short_insn) are
 * scratch, too.
 */
#ifndef POSTMORPH_IR_TEXT_H
#define POSTMORPH_IR_TEXT_H

#include "postmorph/ir/ir.h"
#include "postmorph/ir/plt.h"

enum {	/* flags in text.mark */
       MARK_INSN = 1,	/* an instruction of a piece begins here */
       MARK_BRANCH = 2,	/* direct branch target */
       MARK_POINTER = 4,	/* its address is, or may be, taken */
       MARK_TABLE = 8,	/* target of a proven jump table */
       MARK_RETURN = 16,	/* an instruction of a piece, with a call right before it */
       MARK_PAD = 32,	/* landing pad of some function */
       MARK_SYMBOL = 64, /* a symbol of .symtab names it: nothing that runs knows it by that */
       /* something that could not be made to hold another address holds or forms it, or may */
       MARK_STRAY = 128,
       MARK_HELD = MARK_POINTER | MARK_SYMBOL,
};

struct short_insn {		/* struct insn without its place */
	uint16_t len : 4, kind : 4, field : 4;
	uint16_t near : 1;	/* the field has 4 bytes */
	uint16_t constants : 1;
};

struct piece {
	vaddr addr;
	const struct short_insn *insn;	/* [ninsn] */
	uint32_t size;
	uint32_t ninsn;		/* 0: not all of it decodes */
	/* index of the piece it belongs to; its own index when it stands for itself */
	uint32_t parent;
	uint32_t fn;		/* index in prog->fn[] */
	uint32_t kin;		/* union-find: pieces with jumps into each other's middle */
	enum skip skip;		/* first reason found */
	bool returns;		/* has a return or an indirect jump */
	bool fragment;		/* not entered by a call: its CFA is not rsp + 8 */
	/* of a fragment that only its symbol tells from a function; or NULL */
	const char *name;
};

struct table_start {		/* what looks like a jump table of a function */
	vaddr addr;
	uint32_t fn;
};

struct limit {			/* an address of code that other code forms: between.c */
	uint32_t piece;		/* of the code that forms it */
	bool gap;		/* it is in no FDE */
	bool asked;		/* what is above or below, or it is rounded */
	vaddr addr, from;	/* from: the start of its page where it is rounded */
	vaddr call;		/* that has it as an argument, or 0 */
};

struct text_jump {		/* a direct jump or an exception out of a piece */
	uint32_t piece;
	vaddr target;
};

struct text_call {		/* a direct call of code */
	uint32_t piece;
	uint32_t off;		/* from prog->base */
};

struct text {
	struct prog *prog;
	struct arena *scratch;
	/* what belongs to one function in one step; empty between them */
	struct arena *pass;
	struct piece *piece;	/* [npiece], ascending and disjoint; index = index of the FDE */
	uint32_t npiece;
	VEC(struct text_jump) jumps;	/* by piece */
	struct arena *early;		/* of what goes once noreturn_find() is done: */
	VEC(struct text_call) calls;	/* by piece */
	/* by piece; the target is the word that holds the function */
	VEC(struct text_jump) slot_calls;
	uint8_t *mark;		/* [span] */
	uint64_t span;
	/* bit per byte: an instruction begins there that no decoded FDE has */
	uint8_t *swept;
	vaddr loaded_lo, loaded_hi;	/* of all segments, in memory */
	struct plt plt;
	bool *called;		/* [nfn] a direct call leads to its entry */
	bool *noreturn;		/* [nfn] calls of it do not come back */
	uint16_t *clobbers;	/* [nfn], filled on demand by clobbers_of(); 0: not yet */
	VEC(vaddr) symbols;	/* values of .dynsym, 0 for undefined ones */
	VEC(struct reference) refs;	/* in the order found */
	VEC(uint32_t) entered;	/* functions into whose middle others seem to run on */
	VEC(vaddr) gap_branches;	/* where branches lead that no decoded FDE has */
	VEC(vaddr) held;	/* addresses of instructions that data holds */
	VEC(struct limit) limits;	/* in the order found */
	VEC(vaddr) bases;	/* addresses outside of functions that some lea forms */
	VEC(struct table_start) tables;	/* ascending by address once all code was looked at */
	/* of the last executable section, of the last such segment, of all segments */
	vaddr end_of_code, end_of_exec, end;
	bool asks_end;		/* something holds or forms one of these */
	bool has_rseq;		/* some section holds restartable sequences */
	uint32_t last_symbol;		/* of those that relocations name */
	vaddr behind_headers;		/* end of the program header table */
	uint64_t nreturn_pointer;	/* pointers in data to return addresses */
};

static inline bool text_holds(const struct text *t, vaddr addr)
{
	return addr >= t->prog->base && addr - t->prog->base < t->span;
}

static inline uint8_t *text_mark(const struct text *t, vaddr addr)
{
	return &t->mark[addr - t->prog->base];
}

/* The address is in one of its ranges. */
static inline bool fn_holds(const struct fn *fn, vaddr addr)
{
	for (uint32_t r = 0; r < fn->nrange; r++)
		if (addr >= fn->range[r].addr && addr - fn->range[r].addr < fn->range[r].size)
			return true;
	return false;
}

/* True when some indirect jump of it may go anywhere. */
static inline bool fn_has_open_jump(const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->njump; i++)
		if (fn->jump[i].kind != JUMP_TABLE)
			return true;
	return false;
}

/* The piece that stands for all that have jumps into each other's middle. */
static inline uint32_t text_kin(const struct text *t, uint32_t piece)
{
	while (t->piece[piece].kin != piece)
		piece = t->piece[piece].kin;
	return piece;
}

/* The piece that holds addr, UINT32_MAX if none. */
static inline uint32_t text_piece(const struct text *t, vaddr addr)
{
	return cfi_find(&t->prog->cfi, addr);
}

/* Sets the reason to skip; an earlier reason remains. */
static inline void piece_skip(struct piece *p, enum skip reason)
{
	if (p->skip == SKIP_NONE)
		p->skip = reason;
}

/* The instructions of a function, one after the other.  None when a range of it does not
 * decode. */
struct fn_scan {
	const struct text *text;
	const struct fn *fn;
	uint32_t range;		/* next one */
	uint32_t left;		/* instructions of the last one */
	uint32_t off;		/* of the next instruction */
	const struct short_insn *next;
};
struct fn_scan fn_scan(const struct text *t, const struct fn *fn);
bool fn_scan_next(struct fn_scan *s, struct insn *out);
/* The next instruction that has a field or constants, or is the last of its range. */
bool fn_scan_next_value(struct fn_scan *s, struct insn *out);
/* Fills insn[] and ninsn, in arena `a`. */
void fn_load(const struct text *t, struct arena *a, struct fn *fn);

/* True when control that goes to `target`, or comes to the call `insn`, never comes back; by
 * text.noreturn[], as far as it is filled, and the names of library functions
 * (noreturn.def). */
bool text_target_noreturn(const struct text *t, vaddr target);
bool text_call_noreturn(const struct text *t, const struct insn *insn);

#endif
