/* export_folded.c - evidence as folded stacks
 *
 * Tested by tests/e2e/export.sh.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "manager/report/export.h"
#include "manager/report/stacks.h"

/* A semicolon ends a frame. */
static void put_name(struct wr *out, const char *name)
{
	for (; *name; name++)
		wr_u8(out, *name == ';' ? ':' : (uint8_t)*name);
}

int export_folded(const struct evidence *e, struct wr *out, struct err *err)
{
	struct stacks s;

	(void)err;
	stacks_make(e, &s);
	for (uint32_t i = 0; i < s.n; i++) {
		double count = round(s.at[i].count);

		if (count < 1)
			continue;
		for (uint32_t k = 0; k < s.at[i].n; k++) {
			if (k)
				wr_u8(out, ';');
			put_name(out, s.frame[s.at[i].frame[k]].name);
		}
		wr_text(out, arena_printf(e->arena, " %.0f\n", count));
	}
	return 0;
}
