/* lack.h - notes what the machine does not offer the Monitor, and why; for `status` to show */
#ifndef MONITOR_LACK_H
#define MONITOR_LACK_H

enum lack {
#define LACK(id, name, loss) LACK_##id,
#include "monitor/lack.def"
#undef LACK
	NLACK
};

enum { LACK_WHY_MAX = 122, LACK_NOTE_MAX = 512 };	/* bytes, with the NUL */

struct lacks {			/* begins as zero */
	char why[NLACK][LACK_WHY_MAX];	/* "": the machine offers it, or nobody asked for it */
	char note[LACK_NOTE_MAX];	/* everything in one line */
};

/* Longer reasons are cut off. */
void lack_add(struct lacks *l, enum lack what, const char *why);
/* Adds to the note alone. */
void lack_note(struct lacks *l, const char *name, const char *why);

const char *lack_name(enum lack what);
const char *lack_loss(enum lack what);		/* what is lost by it */

#endif
