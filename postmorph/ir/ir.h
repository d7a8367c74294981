/* ir.h - the annotated program: what a Morph compiler back-end would have told us
 *
 * PostMorph FILLS it (prog_analyze), the profile and inference fill the counts, passes PERMUTE
 * fn->order / prog->order and MARK block->cold and warm, emit WRITES, verify REFUSES.  Nobody
 * changes bytes in here.  Everything lives in the job's arena.
 *
 * INVARIANTS (ir_check)
 *   I1  fn[] ascends by entry; ranges of all functions are disjoint;
 *   I2  a function without skip that is kept is decoded completely: its blocks, in id order,
 *       ascend by address within a range, cover every byte of every range exactly once;
 *       block[0] begins at the entry;
 *   I3  fn->order is a permutation of its block ids that begins with 0, and block[0] is hot;
 *   I4  edges agree with the last instruction of a block: see struct block;
 *   I5  prog->order lists exactly the functions with `moved`, each once, all without skip;
 *   I6  a block that stays is cold and may stay (block_may_stay), and its function leaves; no
 *       other does.
 */
#ifndef POSTMORPH_IR_IR_H
#define POSTMORPH_IR_IR_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/digest.h"
#include "lib/rd.h"
#include "postmorph/unwind/cfi.h"
#include "binary/decode.h"
#include "binary/image.h"

struct cpu_costs;
struct err;
struct plt;

#define NO_BLOCK UINT32_MAX
#define NO_TABLE UINT32_MAX
#define NO_FN    UINT32_MAX

enum skip {			/* why a function is left exactly as it was */
#define SKIP(id, text) SKIP_##id,
#include "postmorph/ir/skip.def"
#undef SKIP
	NSKIP
};
extern const char *const skip_text[NSKIP];
extern const char *const skip_id[NSKIP];	/* as skip.def has it */

enum ijump_kind {		/* of an indirect jump */
#define JUMP(id, name) JUMP_##id,
#include "postmorph/ir/jump.def"
#undef JUMP
	NJUMP
};
extern const char *const jump_name[NJUMP];

struct ijump {
	uint32_t insn;		/* index in fn->insn[] */
	enum ijump_kind kind;
};

/* It may stay inside its function, and no new table stands for what it goes by. */
static inline bool ijump_is_unproven(enum ijump_kind kind)
{
	return kind != JUMP_TABLE && kind != JUMP_GUARDED && kind != JUMP_TAIL;
}

/* How sure inference is of what it says of a block: how often it runs, where it leads. */
enum confidence {
	CONFIDENCE_LOW,		/* hardly any sample or edge tells about it */
	CONFIDENCE_MEDIUM,
	CONFIDENCE_HIGH,
	NCONFIDENCE
};
extern const char *const confidence_name[NCONFIDENCE];

/* A block ends after a control transfer other than a call, before any branch target, landing
 * pad or range end.  Calls do not end blocks.  Edges:
 *   fall   the next block in address order in the same range, if control can run into it;
 *          NO_BLOCK if it cannot, or if it leaves the range: then fall_out is the address
 *          behind the range that control would run into (0: it cannot);
 *   taken  the target of the last instruction if JMP, JCC, LOOP, XBEGIN and inside this
 *          function; else NO_BLOCK and taken_out is the target address (0: no branch, or one
 *          to address 0, where absent weak functions of static programs are);
 *   table  the jump table when the last instruction is an IJMP with a proven one. */
struct block {
	vaddr addr;
	uint32_t size;		/* bytes in the original, trailing NOPs included */
	uint32_t insn, ninsn;	/* fn->insn[insn .. insn + ninsn) */
	uint32_t range;		/* index in fn->range[] */
	uint32_t fall, taken;	/* block ids */
	vaddr fall_out, taken_out;
	uint32_t table;		/* index in fn->table[], NO_TABLE if none */
	/* address known to be taken (lea, relocation, unproven table) */
	bool pinned : 1;
	bool landing : 1;	/* landing pad: the unwinder comes in here */
	bool padding : 1;	/* nothing but NOPs and nothing runs into or branches to it:
				 * emit leaves it out, its place in order[] has no meaning */
	/* begins with the NOP of a static probe point, which stays in it */
	bool probe : 1;
	/* ends in a call that is known not to come back; fall is kept */
	bool noreturn : 1;

	/* filled by inference */
	/* enum confidence: in the likelier way out of the block if it has several, else in
	 * its count; for an unsampled block (unsampled.h), in that it does not run.  High
	 * with exact counts. */
	uint8_t confidence;
	/* no sample or seen edge says that it runs; `count` follows from guessed
	 * probabilities of branches and the counts around it */
	bool guessed : 1;
	bool leads_to_noreturn : 1; /* leads only to traps and calls that do not come back */

	/* marked by passes, read by emit */
	bool cold : 1;		/* does not run: last in the fluff text */
	/* not cold, but not known to run either: first in the fluff text */
	bool warm : 1;
	/* cold, and has no image: what leads to it leads to the original */
	bool stays : 1;
	/* runs often: lies where the ends of lines cost little (emit_lines.c) */
	bool in_line : 1;
	/* runs most often: the jump at its end lies in a half line, where that matters */
	bool jump_in_line : 1;
	/* its calls through the linkage table go through the slot itself, without the stub */
	bool direct : 1;

	/* filled from the profile and by inference */
	double samples;		/* in this block */
	double count;		/* executions, estimated; unit: samples per mean instruction, or
				 * with prog->exact_* true executions */
	double fall_count, taken_count;	/* of `count`, by edge; table edges: jump_table.count */
};

/* A jump table that may be replaced by a new one.  The new table gets exactly nentry
 * entries; nentry is at least the proven bound, and covers every further entry up to the
 * function's next table that still looks like one (target inside the function or exactly one
 * of its range ends), so that no index the original could use falls outside.  Entry i of the
 * new table leads to the image of target[i] if that is the start of a block of this
 * function, else to the unchanged absolute address target[i]. */
struct jump_table {
	vaddr addr;		/* of entry 0, as the dispatch addresses it */
	uint32_t kind;		/* enum blockmap_table_kind */
	uint32_t nentry, bound;	/* bound: proven by the compare (or mask, ...) */
	vaddr *target;		/* [nentry] */
	uint32_t *succ;		/* [nentry] block ids, NO_BLOCK for targets that are none */
	/* [nentry] edge counts by inference, of all jumps through it together; NULL before
	 * it.  Entries with the same succ share one edge: its count stands at the first */
	double *count;
	/* [nuser] fn->insn indices of every instruction that forms the table's address: `lea
	 * T(%rip)` (REL32) or the jmp/mov with the absolute disp32 (ABS64); or of every one
	 * that reads an entry (BESIDE32).  All of them are rewritten together. */
	uint32_t *user;
	uint32_t nuser;
	/* BESIDE32: the images of its users go on as the original does, in that, unless the
	 * index is below this number; 0: the bound is proven */
	uint32_t guard;
};

enum pointers {			/* what is known of the pointers to a function's entry */
	POINTERS_NONE,		/* there are none */
	POINTERS_KNOWN,		/* prog->ref[] lists every place where one comes from */
	POINTERS_UNKNOWN,	/* something else holds or forms its address, or may */
};

enum reference_kind {
	REFERENCE_ADDEND,	/* of a relative relocation, or a word that RELR relocates */
	REFERENCE_SYMBOL,	/* an entry of .dynsym */
	REFERENCE_LEA,		/* an instruction */
};

struct reference {		/* a place that holds or forms an address in a function */
	vaddr to;		/* that address: the entry, or that of a label inside */
	uint32_t fn;		/* that it is in */
	uint8_t kind;		/* enum reference_kind */
	/* to a label that keeps its address, whatever becomes of others */
	bool stays;
	uint32_t user;		/* LEA: the function that the instruction is in */
	/* of the 8 bytes that hold the address, or of the symbol; LEA: 0 */
	file_off at;
};

struct fn_range {
	vaddr addr;
	uint32_t size;
	uint32_t fde;		/* index in prog->cfi.fde[] */
};

struct relprofile;

/* Of the profile: control went straight from one block to another. */
struct seen_edge {
	uint32_t from, to;	/* block ids of one function */
	double count;
};

struct seen_call {		/* of the profile: a call, or a jump out of the function */
	uint32_t insn;		/* index in fn->insn[] of the call */
	vaddr target;		/* the function that it entered, by its original address */
	double count;
};

struct fn {
	const char *name;	/* from .symtab/.dynsym if any, else NULL */
	const char *symbol;	/* likewise; one that fits its fragments' names, too */
	vaddr entry;
	struct fn_range *range;	/* [nrange]; range[0] holds the entry at its start; .cold
				 * fragments follow */
	struct insn *insn;	/* [ninsn], ascending by range then address */
	struct block *block;	/* [nblock] */
	struct jump_table *table;	/* [ntable] */
	/* [nblock] block ids, emit order; hot first is not required here: emit takes hot,
	 * warm and cold ones apart, each in this order */
	uint32_t *order;
	uint32_t nrange, ninsn, nblock, ntable;
	/* the 5-byte jmp goes to entry + patch_off: 0, or 4 after endbr64 */
	uint32_t patch_off;
	/* indirect jumps that may stay inside but have no proven table */
	uint32_t unproven;
	struct ijump *jump;	/* [njump] ascending by insn; those through slots left out */
	uint32_t njump;
	/* what programs may expect of pointers to it: a power of two */
	uint16_t align;
	enum skip skip;		/* SKIP_NONE: passes may work on it */
	bool kept;		/* its instructions, blocks and tables are here; else insn[] and
				 * block[] are empty */
	enum pointers pointers;
	/* once the function is moved, its original code cannot run any more: nothing is known
	 * to lead into it but its entry */
	bool sealed;
	/* what is known of pointers to addresses inside of it that its computed jumps may go
	 * to (labels); NONE when it has no such jump */
	enum pointers labels;
	bool labels_stay;	/* some of them are known, but stay */
	/* moved, and all pointers to labels that go lead to their images */
	bool threaded;
	bool redirected;	/* moved, and all pointers to it lead to its image */
	bool moved;		/* selected for the generation (profile, callers or --all) */
	/* some of its blocks stay: control may go on in its original code there */
	bool leaves;
	double samples, entry_count;	/* profile: total samples; estimated calls */
	struct seen_edge *seen_edge;	/* [nseen_edge] ascending by from, to */
	struct seen_call *seen_call;	/* [nseen_call] ascending by insn, target */
	uint32_t nseen_edge, nseen_call;
	/* NULL unless it was counted exactly (editor/infer/relativeprofile.h) */
	struct relprofile *relprofile;
};

struct probe {			/* a static probe point that goes where its function goes */
	vaddr pc;		/* of its NOP; as the note tells it, and bias */
	uint64_t bias;
	uint32_t fn;
	file_off at;		/* of its note of `size` bytes */
	uint32_t size, desc;	/* offset in the note of the address */
};

/* direct call or tail jump from one function to another's entry */
struct call_site {
	uint32_t caller, callee;	/* fn indices */
	uint32_t block;		/* of the caller */
	/* of the call from the start of the caller's entry range or, in a fragment, from the
	 * start of the fragment */
	uint32_t off;
};

struct prog {
	struct arena *arena;
	struct image img;
	struct digest digest;	/* of the file */
	struct cfi cfi;
	vaddr base;		/* insn.off counts from here: lowest executable address */
	/* [nfn], ascending by entry; .cold fragments are no functions */
	struct fn *fn;
	uint32_t nfn;
	uint32_t *fn_of_fde;	/* [cfi.nfde] function that the FDE is a range of */
	struct call_site *call;	/* [ncall], ascending by caller, block */
	uint32_t ncall;
	struct reference *ref;	/* [nref], ascending by fn */
	uint32_t nref;
	struct probe *probe;	/* [nprobe], in the order of their notes */
	uint32_t nprobe;
	const struct plt *plt;	/* slots of the linkage table; NULL: not known */
	uint64_t text_size;	/* bytes of executable sections (segments when no sections) */
	uint64_t fde_bytes;	/* bytes covered by FDEs */
	/* first address behind the program header table that code or data refers to, as far as
	 * the analysis has seen */
	vaddr seen_in_front;

	/* profile: samples are executions times instructions, seen edges and calls complete */
	bool exact;
	uint32_t calls_left_out;	/* calls of the profile that are at no instruction */

	/* layout, filled by passes */
	uint32_t *order;	/* [norder] fn indices in hot-text order */
	uint32_t norder;
	new_vaddr text_at;	/* where new text goes; 0: behind everything */
	/* what the ends of lines cost; NULL: no block is in_line */
	const struct cpu_costs *line_costs;
};

/* Checks all invariants; a violation is our bug, told as an error that names function and
 * invariant. */
int ir_check(const struct prog *prog, struct err *err);
/* Checks I3, I5 and I6 alone: what passes may change. */
int ir_check_order(const struct prog *prog, struct err *err);
/* Checks I5 alone. */
int ir_check_layout(const struct prog *prog, struct err *err);

/* The function one of whose ranges holds addr; NO_FN if none.  O(log n). */
uint32_t prog_find_fn(const struct prog *prog, vaddr addr);
/* When `addr` is a stub of the linkage table: the slot that it jumps through; else 0. */
vaddr prog_stub_slot(const struct prog *prog, vaddr addr);
/* The block of fn that holds addr; NO_BLOCK if none.  O(log n). */
uint32_t fn_find_block(const struct fn *fn, vaddr addr);
static inline vaddr prog_insn_addr(const struct prog *prog, const struct insn *insn)
{
	return prog->base + insn->off;
}

/* True when an image of it may go on in the original where it reads a table. */
static inline bool fn_has_guard(const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->ntable; i++)
		if (fn->table[i].guard)
			return true;
	return false;
}

/* True when samples or seen edges say that it runs. */
static inline bool fn_is_seen(const struct fn *fn)
{
	return fn->samples > 0 || fn->nseen_edge > 0;
}

/* Number of instructions without NOPs: those that a sample can meet. */
uint32_t block_length(const struct fn *fn, const struct block *b);
/* Instructions that it executes, by its blocks' counts. */
double fn_work(const struct fn *fn);

/* Counts of a jump table's entries are those of all blocks that jump through it together.
 * fn_table_runs() fills runs[ntable] with how often these blocks run; fn_table_share() is the
 * part of each count that falls to block `id`, in proportion to how often it runs (0: it has no
 * table). */
void fn_table_runs(const struct fn *fn, double *runs);
double fn_table_share(const struct fn *fn, const double *runs, uint32_t id);

/* True when images may lead to the block's original instead of an image of it.  That is not so
 * where the entry jump cuts the original off; where everything that enters the block has to
 * enter its image (the entry jump, exceptions, probes, redirected pointers to labels); for
 * jumps to such labels; and where the image might be empty, because a block map does not list
 * empty ones. */
bool block_may_stay(const struct fn *fn, const struct block *b);
/* Instruction i is a trap, and more than NOPs is behind it in its range, which ends in front of
 * instruction `end`: a handler may go on there. */
bool fn_trap_falls(const struct fn *fn, uint32_t i, uint32_t end);
/* The same of a block's last instruction. */
bool block_trap_falls(const struct fn *fn, uint32_t id);

/* Bytes of an instruction in the original. */
static inline const uint8_t *prog_insn_bytes(const struct prog *prog, const struct insn *insn)
{
	return image_rest(&prog->img, prog_insn_addr(prog, insn)).p;
}

#endif
