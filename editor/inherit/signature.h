/* signature.h - what of a program can be recognised in another version of it
 *
 * Made of a file while it is there, kept when another version takes its place: hashes of names
 * and of blocks, and how control flows between these; no bytes of the file.  Little-endian,
 * without gaps:
 *
 *   header   "MORPHSIG" | u32 version = 1 | 32 bytes SHA-256 of the file | u64 base
 *            | u32 nfn | u32 nblock | u32 ncall | u32 nword
 *   fn       u64 entry | u64 name | u32 nblock | u32 ncall | u32 nword	ascending by entry
 *   block    u32 off | u32 ninsn | u32 fall | u32 taken | u32 exact | u32 loose | u32 rough
 *            | u32 label
 *   call     u32 off | u32 block | u32 callee | u32 import
 *   word     u32
 *
 * Blocks, calls and words are those of function after function, as their numbers say: a
 * function's blocks are in the order of their addresses, but for its fragments', which come
 * last; its calls and jumps out of it are in the order of its blocks.
 */
#ifndef EDITOR_INHERIT_SIGNATURE_H
#define EDITOR_INHERIT_SIGNATURE_H

#include "lib/addr.h"
#include "lib/digest.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct arena;
struct err;
struct prog;

#define SIGNATURE_NONE UINT32_MAX

struct signature_block {
	uint32_t off;		/* from base */
	uint32_t ninsn;		/* without NOPs, at least 1 */
	uint32_t fall, taken;	/* where it leads: numbers within the function, or NONE */
	/* hashes of its instructions without NOPs and addresses; of these without constants
	 * and some registers; of what operations they are */
	uint32_t exact, loose, rough;
	/* the how many-th it is, from 1, of those blocks of the function to which tables or
	 * pointers in data lead, in their order; 0: none does */
	uint32_t label;
};

struct signature_call {
	uint32_t off;		/* of the instruction, from base */
	uint32_t block;		/* number within the function */
	uint32_t callee;	/* index of the function; NONE: not known, or of another file */
	uint32_t import;	/* hash of the name of another file's function; 0: not known */
};

struct signature_fn {
	vaddr entry;
	uint64_t name;		/* hash of it, 0: it has none */
	uint32_t block, nblock;	/* in block[] */
	uint32_t call, ncall;	/* in call[], ascending by block */
	/* in word[], ascending, each once: hashes of the texts that it refers to, and of the
	 * names of other files' functions that it calls */
	uint32_t word, nword;
};

struct signature {
	struct digest original;
	vaddr base;
	uint32_t nfn, nblock, ncall, nword;
	struct signature_fn *fn;
	struct signature_block *block;
	struct signature_call *call;
	uint32_t *word;
};

/* Of a program that was analysed; everything lives as long as the program. */
void signature_of(const struct prog *prog, struct signature *out);
void signature_write(const struct signature *s, struct wr *out);
/* Checks all that the head says; -1 and ERR_INPUT if something is not so. */
int signature_read(struct bytes b, struct arena *a, struct signature *out, struct err *err);
/* The calls of block `b` of the function: how many, and *first of them in call[]. */
uint32_t signature_calls(const struct signature *s, const struct signature_fn *fn, uint32_t b,
			 uint32_t *first);

#endif
