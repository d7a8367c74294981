/* placement.h - where the blocks of a program stand in some layout of it
 *
 * A layout is the original itself, a generation, which says so in its block map, or what
 * another tool made of the original (placement_walk.c).  All are told in the same form, so that
 * they can be measured with the same figures (measure.h).
 */
#ifndef EDITOR_MEASURE_PLACEMENT_H
#define EDITOR_MEASURE_PLACEMENT_H

#include "postmorph/ir/ir.h"

struct blockmap;
struct err;

struct placed {			/* the image of one block */
	vaddr addr;
	/* bytes up to where control leaves it; 0: nothing is left of it */
	uint32_t size;
	bool known;
};

struct placement {
	struct image img;	/* the file that holds the images */
	/* [nfn] -> [nblock]; NULL: a function of which nothing is known */
	struct placed **block;
	bool *jumped;		/* [nfn] its original entry leads to the image by a jump */
	bool *pointed;		/* [nfn] pointers to it in data lead to the image */
	/* Of a generation: bytes of its hot text, with all that is added to it, and of the
	 * originals of what is in there, without NOPs behind them; else 0. */
	uint64_t hot_text, hot_text_before;
	vaddr fluff, fluff_end;	/* where its fluff text is; else 0 */
};

/* Nothing known of any block; img stays as it is. */
void placement_make(const struct prog *prog, struct placement *out);
/* Fills pointed[], from data of img that differs from the original's at the same place. */
void placement_find_pointed(const struct prog *prog, struct placement *pl);
/* All need functions with blocks, give job lifetime (prog->arena) and cannot fail but for the
 * reading of the other file. */
void placement_original(const struct prog *prog, struct placement *out);
/* `file` is a generation of prog whose block map is `map`. */
int placement_of_map(const struct prog *prog, struct bytes file, const struct blockmap *map,
		     struct placement *out, struct err *err);
/* `file` is any other layout: blocks are found from the symbols of functions, or from their
 * original entries, by walking both programs at once. */
int placement_walk(const struct prog *prog, struct bytes file, struct placement *out,
		   struct err *err);

#endif
