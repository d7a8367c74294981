/* measure.h - figures of a layout under a profile: what it does, without a stopwatch
 *
 * The counts are those of the annotated program; the same counts are laid over every placement,
 * so figures of different layouts of one program compare.  They are exact when the profile is.
 */
#ifndef EDITOR_MEASURE_MEASURE_H
#define EDITOR_MEASURE_MEASURE_H

#include "editor/measure/placement.h"

struct table;

enum measure_reach {		/* of direct calls: distance from the call to its target */
	REACH_PAGE,		/* up to 4 KiB */
	REACH_NEAR,		/* up to 64 KiB */
	REACH_FAR,		/* up to 1 MiB */
	REACH_BEYOND,
	NREACH
};

struct measure {
	double executions;	/* of blocks */
	/* of these, by the confidence in what was inferred of the block */
	double told[NCONFIDENCE];
	double fluff;		/* of these, in the fluff text of a generation */
	double instructions;
	double nops;		/* of these */
	double taken;		/* direct branches within functions that were taken */
	double falls;		/* control that ran on to the next block */
	double to_jumps;	/* of these, to a block that is nothing but a jmp */
	/* jumps, calls and returns that cross or end at a multiple of 32 bytes */
	double across;
	double jumps;		/* unconditional direct jumps among `taken` */
	double tail_jumps;	/* direct jumps out of the function */
	double entry_jumps;	/* from original entries to images */
	/* score over all edges within functions, divided by their counts */
	double exttsp;
	/* direct ones; out: to no known function (PLT) */
	double calls[NREACH], calls_out;
	/* bytes of a generation's hot text; the original's: of what is in it */
	uint64_t hot_text;
	/* With an execution: bytes, 64-byte lines, 4-KiB pages. */
	uint64_t hot_bytes, hot_lines, hot_pages;
};

/* Measures `n` placements, of the original first, over the blocks that all of them know;
 * *left_out gets the executions of others, as a share of all.  Needs counts; out[n]. */
void measure_run(const struct prog *prog, const struct placement *placement, uint32_t n,
		 struct measure *out, double *left_out);

/* One row a figure, one column a layout.  The caller frees it. */
struct table *measure_table(const struct measure *m, const char *const *name, uint32_t n,
			    double left_out);

#endif
