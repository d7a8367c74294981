/* generation.h - writing a program with counts and a layout as the file of a generation */
#ifndef EDITOR_EMIT_GENERATION_H
#define EDITOR_EMIT_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct edit_stats {		/* of one generation; one line each in --stats, "name value" */
	uint32_t functions, functions_moved;
	uint32_t functions_redirected;		/* pointers to them lead to the new text */
	/* pointers to labels (blocks whose address is taken) in them lead to the new text */
	uint32_t functions_threaded;
	uint64_t hot_bytes, fluff_bytes;	/* of new text */
	uint64_t original_bytes;		/* of the moved functions */
	/* Ext-TSP score over the moved functions, normalised by the sum of all edge counts */
	double exttsp_before, exttsp_after;
	double samples;
	uint64_t file_bytes_before, file_bytes_after;
	uint32_t jump_tables, jump_tables_new;
	uint32_t calls_left_out;	/* calls in the profile where the code has no call */
	char layout;		/* 'F' or 'L': how the segments were added (elfout_room.c) */
};

struct err;

/* Appends the file to `out`, which must be empty, and its block map to `map`, from prog->order,
 * fn->order, block->cold and block->warm; fills the figures of *stats that emit knows (not
 * functions, samples, calls_left_out and exttsp_*).  `number` goes into the block map.  -1
 * with ERR_REFUSED when the file leaves no room or an address is out of reach; `out`, `map` and
 * `stats` are untouched then.  The caller frees `out` and `map`. */
int emit_generation(struct prog *prog, uint32_t number, struct wr *out, struct wr *map,
		    struct edit_stats *stats, struct err *err);

struct edgecounters;
/* The same with edge counters and the counter runtime: an instrumented generation, with number
 * 0.  Sets the addresses in *counters and what is missing in *counters->runtime. */
int emit_instrumented(struct prog *prog, struct edgecounters *counters, struct wr *out,
		      struct wr *map, struct edit_stats *stats, struct err *err);

#endif
