/* annotation.h - what an annotate job says of a function, as tables
 *
 * Its words are those of editor/annotate/annotate.h.
 *
 * The job looked at a hostile file: its words are cells of tables, and numbers no more than
 * text.
 */
#ifndef MANAGER_WORK_ANNOTATION_H
#define MANAGER_WORK_ANNOTATION_H

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/rd.h"

struct table;

enum { ANNOTATION_WORDS = 9 };

struct annotation_line {	/* an instruction, and what several jobs say of it */
	vaddr addr;
	const char *word[ANNOTATION_WORDS];	/* annotate's */
	const char *text, *source;		/* "": not known */
};

struct annotation {
	struct arena *arena;
	struct table *fn, *causes, *blocks;
	VEC(struct annotation_line) line;	/* ascending by addr */
};

/* Tables without rows, which are the caller's then. */
void annotation_begin(struct annotation *a, struct arena *arena);
/* The job's answer. */
void annotation_take(struct annotation *a, struct bytes answer);
/* What a disassembling job says. */
void annotation_take_text(struct annotation *a, struct bytes answer);

/* Ranges of addresses in which the instructions lie: from that of line[*from] to that of
 * line[to - 1], which is returned, the last one before a gap; *from < line.n. */
uint32_t annotation_range(const struct annotation *a, uint32_t from);
/* The instructions; the caller's. */
struct table *annotation_insns(const struct annotation *a);

#endif
