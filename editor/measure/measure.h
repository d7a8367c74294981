/* measure.h - computes figures of a layout from the counts of a profile, without running it
 *
 * The counts are those of the program's blocks and edges.  All placements of a program are
 * measured with the same counts, so their figures can be compared.  They are exact when the
 * profile is.
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

/* Executions, where 64-byte lines end (linefigures.c says more). */
struct measure_lines {
	double blocks;		/* of blocks across the end of a line that would fit into one */
	double dispatches;	/* of these, that end in an indirect jump */
	/* of indirect jumps, times the chance that another one of the function, by executions,
	 * ends at the same offset of LINEFIT_ENDS bytes */
	double alike;
	double pairs;		/* of comparisons with their branch, across the end of a line */
	/* of lines in all rounds of short loops: as few as their bytes need, and as it is */
	double loops_need, loops_use;
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
	struct measure_lines lines;
	double jumps;		/* unconditional direct jumps among `taken` */
	double tail_jumps;	/* direct jumps out of the function */
	double entry_jumps;	/* from original entries to images */
	/* score over all edges within functions, divided by their counts */
	double exttsp;
	/* direct ones; out: to no known function (PLT) */
	double calls[NREACH], calls_out;
	/* bytes of a generation's hot text; the original's: of what is in it */
	uint64_t hot_text;
	/* of blocks that are executed: bytes, 64-byte lines, 4-KiB pages */
	uint64_t hot_bytes, hot_lines, hot_pages;
};

/* Measures `n` placements, that of the original first, over the blocks whose place all of them
 * know, and fills out[n]; *left_out gets the executions of other blocks as a share (0 to 1) of
 * all.  Needs counts in `prog`. */
void measure_run(const struct prog *prog, const struct placement *placement, uint32_t n,
		 struct measure *out, double *left_out);

/* A table with one row a figure and one column a layout, `n` at most 3; name[n] are the
 * columns' heads.  The caller frees it with table_free(). */
struct table *measure_table(const struct measure *m, const char *const *name, uint32_t n,
			    double left_out);

#endif
