/* unwindtable.h - the unwind rows of a file in a form that a look-up reads as it is
 *
 * Made of a file's .eh_frame by one job, and used by another that unwinds stacks in which code
 * of many files is: a file that is not what it should be costs its own rows alone.
 * Little-endian, without gaps:
 *
 *   "MUNWIND1" | u32 nseg | u32 nrow | u32 nrule | u32 bytes of rules
 *   seg   u64 address | u64 offset in the file | u64 size     executable segments
 *   row   u64 address | u32 rule | u32 bits                   ascending by address; from there
 *         on, up to the next one, that rule holds; UNWINDTABLE_NO_RULE: none.  Bit 1: a frame
 *         that a signal made
 *   at    u32 where the rule begins, of each
 *   rules u8 1: CFA is what an expression gives: uleb length, it
 *         u8 0: u8 register | sleb offset
 *         u8 how many registers | of each: u8 DWARF number | u8 enum cfi_kind | sleb offset, or
 *         uleb length and the expression
 *
 * Registers are the general ones and the return address (16).
 */
#ifndef EDITOR_INTERPRET_UNWINDTABLE_H
#define EDITOR_INTERPRET_UNWINDTABLE_H

#include "lib/addr.h"
#include "lib/wr.h"
#include "postmorph/unwind/cfi.h"

struct err;
struct image;

void unwindtable_write(const struct image *img, const struct cfi *cfi, struct wr *out);

struct unwindtable {
	struct bytes seg, row, at, rules;
	uint32_t nseg, nrow, nrule;
};

/* Of the bytes that the reader is at, which must live as long; -1: malformed. */
int unwindtable_open(struct rd *r, struct unwindtable *out, struct err *err);

struct unwindtable_row {
	bool cfa_is_expr, signal_frame;
	uint8_t cfa_reg;
	int64_t cfa_off;
	struct bytes cfa_expr;
	struct cfi_rule reg[CFI_NREG];
};

/* The row at an offset of the file; false: there is none. */
bool unwindtable_find(const struct unwindtable *t, file_off off, struct unwindtable_row *out);

#endif
