/* spills.h - remembers where in the frame bits from jump tables may be; internal to PostMorph
 *
 * To keep a byte, compilers store a whole register, mov %eax, 8(%rsp), whose other bits may be
 * left over from a jump through a table.  A load from there has these bits again.  A place is
 * given by its distance from the CFA.  Places hold for the whole function, and are only ever
 * added.
 */
#ifndef POSTMORPH_TABLES_SPILLS_H
#define POSTMORPH_TABLES_SPILLS_H

#include <stdbool.h>

#include "lib/arena.h"

struct spill {
	int64_t at;		/* from the CFA */
	uint64_t may;		/* groups that the other bits may come from: bit group % 64 */
	uint8_t bytes, clean;	/* clean: lowest bits that do not */
};

struct spills {
	VEC(struct spill) all;
	bool changed;		/* since somebody has set it to false */
};

void spills_note(struct spills *s, struct arena *a, struct spill spill);
/* How many of the lowest bits of what is read there come from no table, UINT32_MAX for all
 * of them; *may: where the others come from. */
uint32_t spills_read(const struct spills *s, int64_t at, uint32_t bytes, uint64_t *may);
/* All groups. */
uint64_t spills_may(const struct spills *s);

#endif
