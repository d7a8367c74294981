/* lineprogram.h - the line program of one unit: read into rows, written from rows
 *
 * Rows live in the arena.  A program keeps its header, with all names of files, byte for byte.
 */
#ifndef EDITOR_DEBUG_LINEPROGRAM_H
#define EDITOR_DEBUG_LINEPROGRAM_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct lineprogram_row {
	uint64_t addr;
	uint32_t file, line, column, discriminator, isa;
	bool is_stmt : 1, basic_block : 1, prologue_end : 1, epilogue_begin : 1;
	bool end : 1;			/* behind the last instruction of a sequence */
};
typedef VEC(struct lineprogram_row) lineprogram_rows;

struct lineprogram {
	struct bytes header;		/* from the length of the unit to its first opcode */
	struct bytes code;
	bool default_is_stmt;
	int8_t line_base;
	uint8_t line_range, opcode_base;
	const uint8_t *operands;	/* [opcode_base - 1], of standard opcodes */
	lineprogram_rows row;		/* as in the program */
};

/* Reads the header of the unit that `unit` is, from its length on.  1; 0: of a version or form
 * that is not known; -1: malformed. */
int lineprogram_read_header(struct bytes unit, struct lineprogram *out);
/* Runs the program; -1 if it is malformed, or makes more than `max` rows. */
int lineprogram_run(struct lineprogram *p, struct arena *a, uint32_t max);
/* Appends the unit with these rows. */
void lineprogram_write(const struct lineprogram *p, const lineprogram_rows *rows,
		       struct wr *out);

#endif
