/* generation.h - the annotated program, laid out, as the bytes of a generation */
#ifndef EDITOR_EMIT_GENERATION_H
#define EDITOR_EMIT_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wr.h"
#include "postmorph/ir/ir.h"

struct edit_stats {		/* of one generation; one line each in --stats, "name value" */
	uint32_t functions, functions_moved;
	uint32_t functions_redirected;		/* pointers to them lead to the new text */
	uint32_t functions_threaded;		/* pointers to labels in them do */
	uint64_t hot_bytes, fluff_bytes;	/* of new text */
	uint64_t original_bytes;		/* of the moved functions */
	/* Ext-TSP score over the moved functions, normalised by the sum of all edge counts */
	double exttsp_before, exttsp_after;
	double samples;
	uint64_t file_bytes_before, file_bytes_after;
	uint32_t jump_tables, jump_tables_new;
	uint32_t calls_left_out;	/* of the profile: at no instruction */
	char layout;		/* 'F' or 'L': how the segments were added (elfout_room.c) */
};

struct err;

/* Writes the generation from prog->order, fn->order and block->cold; `number` goes into the
 * block map. */
int emit_generation(struct prog *prog, uint32_t number, struct wr *out, struct wr *map,
		    struct edit_stats *stats, struct err *err);

/* The same with code that counts, and a routine that runs first; fills what is known only
 * then in `tallies` and their routine. */
struct tallies;
int emit_instrumented(struct prog *prog, struct tallies *tallies, struct wr *out,
		      struct wr *map, struct edit_stats *stats, struct err *err);

#endif
