/* annotation.h - what an annotate job says of a function, as tables
 *
 * Its words are those of editor/annotate/annotate.h; in a generation, what a job says of that
 * (lib/placed.h) gives the order.
 *
 * The job looked at a hostile file: its words are cells of tables, and numbers no more than
 * text.
 */
#ifndef MANAGER_WORK_ANNOTATION_H
#define MANAGER_WORK_ANNOTATION_H

#include <stdbool.h>

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/placed.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct table;

enum { ANNOTATION_WORDS = 9 };

struct annotation_line {	/* an instruction, and what several jobs say of it */
	vaddr addr;
	const char *word[ANNOTATION_WORDS];	/* annotate's */
	const char *text, *source;		/* "": not known */
};

struct annotation_key {		/* where what is at an address stands */
	vaddr addr;
	uint32_t at;
};

struct annotation_index {	/* ascending by addr, then at */
	uint32_t n;
	struct annotation_key *key;
};

struct annotation {
	struct arena *arena;
	struct table *fn, *causes, *blocks;
	VEC(struct annotation_line) line;	/* ascending by addr */
	VEC(struct placed_line) placed;		/* in the generation that is shown, if any is */
	struct annotation_index insn, block;	/* placed[] by original */
};

/* Tables without rows, which are the caller's then. */
void annotation_begin(struct annotation *a, struct arena *arena);
/* The job's answer. */
void annotation_take(struct annotation *a, struct bytes answer);
/* What a disassembling job says. */
void annotation_take_text(struct annotation *a, struct bytes answer);
/* The instructions as the job of editor/exchange/places.h reads them, and what it says.  True
 * if it knows a source line. */
void annotation_write_places(const struct annotation *a, struct wr *out);
bool annotation_take_source(struct annotation *a, struct bytes answer);

/* The function's blocks, a line for each as the job that places them reads it. */
void annotation_write_blocks(const struct annotation *a, struct wr *out);
/* What that job says, behind annotate's: `blocks` is then in the order of the generation, and
 * has a column more, their addresses in the original.  Blocks with samples that have no image
 * follow: they run in the original's place.  Returns the number of the generation; *nplaced is
 * how many lines there are, 0 when the function was left where it was. */
uint32_t annotation_take_placed(struct annotation *a, struct bytes answer, uint32_t *nplaced);

/* Ranges of addresses in which the instructions lie: from that of line[*from] to that of
 * line[to - 1], which is returned, the last one before a gap; *from < line.n. */
uint32_t annotation_range(const struct annotation *a, uint32_t from);
/* Of a table of blocks, those with samples, most first, `limit` at most; the caller's. */
struct table *annotation_hottest(const struct table *blocks, uint32_t limit);
/* A table of instructions without rows, the caller's; `placed`: with a column more, their
 * addresses in the original. */
struct table *annotation_insns_table(bool placed);
/* The instructions, in a generation as they lie there; the caller's. */
struct table *annotation_insns(const struct annotation *a);

#endif
