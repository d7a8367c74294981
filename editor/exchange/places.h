/* places.h - what stands at places of a program: function, block, source line, inlined calls
 *
 * Places are lines of text, addresses or (with a plus) offsets in the file:
 *
 *	0x4f2a0
 *	+0x3f2a0
 *
 * The answer has one line for each, in the same order, and in front of it the function when it
 * is the first place in it.  Words are separated by tabs, names are as lib/utf8.h shows them:
 *
 *	build-id HEX			at most once, first
 *	note SENTENCE			what could not be had
 *	function ENTRY SIZE NAME	numbered from 0 in this order
 *	place ADDRESS BLOCK NUMBER	the function's, "-": in none that is known
 *	frame LINE FILE NAME		of the place behind it: the innermost inlined first,
 *					the function last; line 0, file "": unknown
 *
 * A size of 0 stands for a function that is known by its symbol alone.  BLOCK is the start of
 * the basic block, or 0 where the code is not divided into blocks.
 */
#ifndef EDITOR_EXCHANGE_PLACES_H
#define EDITOR_EXCHANGE_PLACES_H

#include "lib/wr.h"

struct arena;
struct err;

struct places_input {
	struct bytes file;
	struct bytes places;
	struct bytes debug;	/* its separate debug file; p NULL: none */
};

/* -1 when the file is no ELF image or the places are malformed.  A file whose code Morph leaves
 * alone has symbols and lines all the same, which a note says. */
int places_resolve(const struct places_input *in, struct arena *a, struct wr *out,
		   struct err *err);

#endif
