/* linefit.h - chooses the padding of a row of code blocks so that the ends of lines cut it
 * where that costs least; knows sizes and numbers only */
#ifndef EDITOR_GRAPH_LINEFIT_H
#define EDITOR_GRAPH_LINEFIT_H

#include <stdbool.h>
#include <stdint.h>

#define LINEFIT_LINE 64u		/* bytes */
#define LINEFIT_HALF 32u
#define LINEFIT_ENDS 16u		/* offsets of what some processors know a jump by */

/* A place where one line ends and the next begins.  Costs are given for both. */
enum linefit_cut { LINEFIT_AT_LINE, LINEFIT_AT_HALF, LINEFIT_CUTS };

/* A block of `size` bytes.  All costs are of the same unit, none is negative. */
struct linefit_item {
	uint32_t size;
	uint32_t align;			/* of the start; a power of two, at least 1 */
	/* at most `size`: bytes at its end that belong together */
	uint32_t tail;
	/* of an end of a line in it: anywhere behind its first byte; and on top of that in its
	 * tail; and in front of it: at its start, or in the padding there */
	double inside[LINEFIT_CUTS], in_tail[LINEFIT_CUTS], before[LINEFIT_CUTS];
	/* of any end of a line or half in its tail or right behind that */
	double tail_end;
	/* where the start is no multiple of 16 */
	double unaligned;
	/* of padding in front: of any, and of each byte (more than 0) */
	double pad, pad_byte;
	/* of its end, by offset of LINEFIT_ENDS bytes; NULL: none */
	const double *ends;
	bool joined;			/* no padding in front */
	bool parted;			/* some padding in front; not both */
	/* so many bytes may be added at its start, at so much each */
	uint8_t max_front;
	double front_byte;
	uint8_t start;			/* out: offset in its line */
	uint8_t front;			/* out: bytes added at its start, on top of `size` */
};

/* Fills start and front of a row whose padding in front of its first item begins at offset
 * `from` of a line, so that the sum of all costs is least, and returns that sum.  Time and
 * memory are proportional to n. */
double linefit_run(struct linefit_item *item, uint32_t n, uint32_t from);

#endif
