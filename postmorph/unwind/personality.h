/* personality.h - which personality routines take every exception table
 *
 * New exception tables say where landing pads count from (emit_lsda.c), which compilers leave
 * out.  Routines of some languages stop at that: those of D by LDC and of Crystal read no more
 * than their own compiler writes.  And a function gets a table for each of its parts where it
 * had one: the routine of D by GDC joins two exceptions on their way if both are for the same
 * table, by which it recognises the function.  So a routine that is known by a name, which is
 * not the name of one that is known to take everything, gets no new table with landing pads:
 * its functions stay.  One without a name is taken for a copy of one that does, as static
 * programs in C++ and programs in Rust have it, unless the file holds a runtime of D.
 */
#ifndef POSTMORPH_UNWIND_PERSONALITY_H
#define POSTMORPH_UNWIND_PERSONALITY_H

#include "postmorph/unwind/cfi.h"

/* Sets `reads` of all CIEs.  Fails as relocs_each() does. */
int personality_find(const struct image *img, struct arena *scratch, struct cfi *cfi,
		     struct err *err);

#endif
