/* annotate.h - where the cycles of a function go, instruction by instruction
 *
 * Samples are lines "ADDRESS COUNT", by instruction, of the whole module (addresses as in
 * editor/exchange/places.h).  A clock's interrupt comes when an instruction has retired, so its
 * PC is that of the next one: time is charged to the instruction that ran before, over the
 * edges that lead to a block where that is its first one.
 *
 * Executions are those of an exact profile if there is one, else what inference makes of the
 * samples and of what was counted beside them: then they are in units of a sample per
 * instruction, and cycles are known up to a factor, which is the smallest with which neither
 * the function nor a block with many samples is faster than at best.
 *
 * Several instructions retire in a cycle, and the interrupt comes behind the last of them: time
 * at an instruction is first what it and those in front of it take at best.
 *
 * What an instruction takes longer than at best (bestcase.h) has causes that PCs do not tell
 * apart; each has a range, from what can only be it to what may be it.
 *
 * The answer is text, words separated by tabs:
 *
 *	function ENTRY SAMPLES ENTRIES SCALE	"counted", or "at-least" as has been said
 *	cause NAME LOW HIGH			percent of the function's time
 *	block ADDRESS SIZE INSTRUCTIONS SAMPLES EXECUTIONS CONFIDENCE CYCLES BEST
 *	insn ADDRESS SAMPLES EXECUTIONS CYCLES BEST CULPRIT WHY
 *
 * in the order of addresses; cycles are for each execution.  CULPRIT is the address of the
 * instruction that it waits for, or "-"; WHY is "" or the words of causes.
 */
#ifndef EDITOR_ANNOTATE_ANNOTATE_H
#define EDITOR_ANNOTATE_ANNOTATE_H

#include "lib/addr.h"
#include "lib/wr.h"

struct arena;
struct err;
struct prog;
struct profile;
struct samplelines;

struct annotate_input {
	struct bytes file, samples;
	struct bytes counts;		/* an exact profile; p NULL: none */
	struct bytes counted;		/* or one of some functions, beside the samples */
	vaddr function;			/* its entry, for annotate_write() */
	double cycles_per_sample;	/* with counts; 0: not known */
};

/* -1: malformed input, no such function, or one that is left alone, with the reason. */
int annotate_write(const struct annotate_input *in, struct arena *a, struct wr *out,
		   struct err *err);

/* A program with its samples, for what is said of several functions; lives in the arena. */
struct annotated {
	struct prog *prog;		/* with its counts */
	struct profile *profile;	/* what they are inferred from */
	struct samplelines *samples;
	double cycles_per_sample;	/* 0: not known */
};

int annotated_read(const struct annotate_input *in, struct arena *a, struct annotated *out,
		   struct err *err);
/* As annotate_write() says of one function. */
int annotated_function(const struct annotated *p, vaddr entry, struct arena *a, struct wr *out,
		       struct err *err);

#endif
