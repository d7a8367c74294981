/* picture.h - what a page shows of a module: its hottest functions, and its text before and
 * after it is laid out anew
 *
 * As text, words separated by tabs.  First the text:
 *
 *	area NAME ADDRESS SIZE		"text": executable segments of the original; "hot",
 *					"fluff": new text
 *	heat before|after ADDRESS COUNT	as editor/measure/lineheat.h says
 *	note SENTENCE			why there is no other layout
 *
 * Then functions, most first.  Of each come the lines of annotate.h and behind them:
 *
 *	text ADDRESS TEXT		instructions of blocks that run
 *	edge FROM TO KIND COUNT		as editor/exchange/flowdot.h says
 *	image BLOCK ADDRESS		where a block is in the other layout
 */
#ifndef EDITOR_ANNOTATE_PICTURE_H
#define EDITOR_ANNOTATE_PICTURE_H

#include "editor/annotate/annotate.h"
#include "editor/measure/placement.h"

struct blockmap;

struct picture {
	struct annotated program;
	/* the other layout; note NULL: there is one */
	struct placement after;
	const struct blockmap *map;
	const char *note;
};

void picture_text(const struct picture *p, struct wr *out);
/* At most so many functions. */
int picture_functions(const struct picture *p, uint64_t most, struct wr *out, struct err *err);

#endif
