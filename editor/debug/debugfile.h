/* debugfile.h - the debug file of a generation: names, lines, variables for its new text
 *
 * The original's debug information describes the original's text.  What becomes of it:
 *
 *   entries      of functions, inlined functions and blocks get a list of ranges, images first,
 *                in place of one range; addresses of calls and labels become those of images
 *   lists        of ranges and of the places of variables get entries for images
 *   lines        get rows for images; where an instruction has an image, its original is no
 *                place for breakpoints any more
 *   symbols      of functions lead to images, as in the generation of a file with .symtab
 *
 * All else stays as it is, byte for byte, and no entry changes its place: what refers to
 * entries by offset stays right.
 */
#ifndef EDITOR_DEBUG_DEBUGFILE_H
#define EDITOR_DEBUG_DEBUGFILE_H

#include "lib/wr.h"

struct arena;
struct err;

/* Appends to `out` the debug file of `generation`, which was made of `original`.  `debug` is
 * the file with the original's debug information: a separate debug file, or n == 0: the
 * original itself.  -1 with ERR_REFUSED or ERR_INPUT and the reason; `out` is as it was. */
int debugfile_make(struct bytes original, struct bytes generation, struct bytes debug,
		   struct arena *a, struct wr *out, struct err *err);

#endif
