/* placement.h - the addresses of a program's blocks in some layout of it
 *
 * A layout is the original itself, a generation, whose block map gives the addresses, or what
 * another tool made of the original (placement_walk.c).  All have the same form, so that they
 * can be measured with the same figures (measure.h).
 */
#ifndef EDITOR_MEASURE_PLACEMENT_H
#define EDITOR_MEASURE_PLACEMENT_H

#include "postmorph/ir/ir.h"

struct blockmap;
struct err;

struct placed {			/* the image of one block */
	vaddr addr;
	/* bytes up to where control leaves it; 0: the image is empty */
	uint32_t size;
	bool known;		/* else the rest means nothing */
};

struct placement {
	struct image img;	/* the file that holds the images */
	/* [nfn] -> [nblock]; NULL for a function without blocks */
	struct placed **block;
	bool *jumped;		/* [nfn] its original entry leads to the image by a jump */
	bool *pointed;		/* [nfn] pointers to it in data lead to the image */
	/* Of a generation: bytes of its hot text, and of the original instructions whose images
	 * are there, without NOPs at the ends of blocks; else 0. */
	uint64_t hot_text, hot_text_before;
	vaddr fluff, fluff_end;	/* where its fluff text is; else 0 */
};

/* Allocates the arrays in prog->arena, with no block known; img stays as it is. */
void placement_make(const struct prog *prog, struct placement *out);
/* Fills pointed[], from data of img that differs from the original's at the same place. */
void placement_find_pointed(const struct prog *prog, struct placement *pl);
/* The three below fill *out, in prog->arena.  They measure functions that have blocks; those
 * that read another file fail (-1) when it is malformed. */
void placement_original(const struct prog *prog, struct placement *out);
/* `file` is a generation of prog whose block map is `map`. */
int placement_of_map(const struct prog *prog, struct bytes file, const struct blockmap *map,
		     struct placement *out, struct err *err);
/* `file` is any other layout: blocks are found from the symbols of functions, or from their
 * original entries, by walking both programs at once. */
int placement_walk(const struct prog *prog, struct bytes file, struct placement *out,
		   struct err *err);

/* True when all `n` placements know where the block is. */
bool placement_all_know(const struct placement *pl, uint32_t n, uint32_t f, uint32_t id);

#endif
