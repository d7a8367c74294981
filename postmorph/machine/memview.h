/* memview.h - the part of a program's memory that interpretation from a sample on knows
 *
 * Known are the bytes of the file that nothing can have changed, the stack and memory that came
 * with the sample, and bytes that interpretation has stored since.  Everything else is unknown,
 * and so are places where an unknown value was stored.
 */
#ifndef POSTMORPH_MACHINE_MEMVIEW_H
#define POSTMORPH_MACHINE_MEMVIEW_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/statememory.h"
#include "binary/image.h"

struct err;

enum unknown {			/* why a value is not known: where it came from */
	UNKNOWN_NOTHING,	/* it is known */
	UNKNOWN_HEAP,		/* memory outside of the module and of the stack */
	UNKNOWN_DATA,		/* writable memory of the module */
	UNKNOWN_STACK,		/* a part of the stack that did not come with the sample */
	UNKNOWN_CODE,		/* an instruction that is not modelled */
	NUNKNOWN
};

struct value {
	uint64_t v;		/* 0 in bytes that are not known */
	uint8_t known;		/* bit per byte */
	uint8_t why;		/* enum unknown, of the bytes that are not */
};

enum { VALUE_KNOWN = 0xff };	/* all bytes */

/* The constant bytes of one file; job lifetime. */
struct memview_word {
	vaddr place;		/* 8 bytes that the loader fills */
	vaddr value;		/* with this address and the bias; */
	bool known;		/* unless it is something else */
};

struct memview_file {
	const struct image *img;
	struct memview_word *word;	/* [nword], ascending */
	uint32_t nword;
	vaddr relro, relro_end;		/* read-only once relocated */
};

int memview_open(const struct image *img, struct arena *a, struct memview_file *out,
		 struct err *err);

/* Stores that are remembered; chosen: interpretation of a sample ends when there is no room. */
enum { MEMVIEW_CELLS = 96 };

struct memview {
	const struct memview_file *file;
	uint64_t bias;
	uint64_t stack_at;		/* address of stack.p[0] */
	struct bytes stack;		/* .n == 0: none */
	/* memory that came with the sample */
	struct statememory_piece piece[STATEMEMORY_SLOTS];
	uint32_t npiece;
	struct memview_cell {
		uint64_t at;		/* multiple of 8 */
		uint64_t v;
		uint8_t written, known;
		uint8_t why;
	} cell[MEMVIEW_CELLS];		/* words stored to */
	uint32_t ncell;
};

/* n bytes, 1 to 8, at a run-time address. */
struct value memview_read(const struct memview *m, uint64_t addr, unsigned n);
/* False when there is no more room to remember what was stored. */
bool memview_write(struct memview *m, uint64_t addr, unsigned n, struct value value);
/* Makes every byte that can be written unknown. */
void memview_forget(struct memview *m);
/* The same, except for the stack. */
void memview_forget_heap(struct memview *m);

#endif
