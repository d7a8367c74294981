/* irtext.h - the annotated program from its text form (editor/passes/ir_print.h), for tests of
 * passes and of inference
 *
 *   # the error branch b1 is rare
 *   fn f
 *     b0 size 6 samples 100 -> b1 b2      falls to b1, branches to b2
 *     b1 size 8 insns 2 call g -> b2      goes to b2: falls if that is the next block, or jumps
 *     b2 size 3 -> ret
 *     .cold                               what follows stands in a .cold fragment
 *     b3 size 5 noreturn
 *     seen b0 b2 60                       the profile has this edge, so often
 *     seen call b1 g 30                   and this call: by the block's icall, or by its last
 *                                         instruction
 *     order b0 b2 b1 b3
 *   fn g ...
 *   run infer,align
 *   want order b0 b2 b1 b3
 *
 * Blocks are numbered in address order.  Behind `->` stand: one block, or two (fall, then
 * taken); `jmp b2` (a jump even to the next block); `table b1 b2 b1`, `ijmp`, `ret`, `trap`;
 * `out` is a target outside the function.  A target may carry its edge count: `b1:2`.  Without
 * `->` control runs on.  Properties: size, insns, samples, count (numbers), confidence
 * low|medium|high, call FN, icall (it begins with a call of a register), pinned, landing,
 * padding, noreturn, cold, warm, stays, guessed.  `table of b1` is the table of block b1, above
 * it.
 * For a function, behind its name: `still` (not to be moved), `unproven N`.
 * A line `exact` in front of all functions: samples are executions times insns; if there are
 * seen edges, they are complete.
 * From the first `run` line on, the rest are the test's own lines.
 */
#ifndef TEST_IRTEXT_H
#define TEST_IRTEXT_H

#include "postmorph/ir/ir.h"

struct irtext {
	struct prog prog;	/* satisfies ir_check(); its code bytes are made up to fit */
	const char *rest;	/* the lines from `run` on */
};

/* Arena lifetime; the text itself is not kept. */
int irtext_parse(struct bytes text, struct arena *a, struct irtext *out, struct err *err);

#endif
