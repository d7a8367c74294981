/* bytememo.h - keys for tables that remember what was found out about an instruction
 *
 * Most instructions of a program are, byte for byte, equal to an earlier one.  What does not
 * depend on their place is the same each time, and asking Zydis costs a hundred times as much
 * as looking it up.  So the users keep a table of BYTEMEMO_SLOTS pairs of a key and what was
 * found; a new pair replaces the old one in its slot.  There are three keys, by what counts:
 *
 *    bytememo_key          all bytes
 *    bytememo_key_placed   all but the field that depends on where the instruction stands
 *    bytememo_key_pattern  what insn_pattern() says of it: neither displacement nor immediates
 *
 * decode_memo.c has keys of its own, by which most registers do not count either.
 *
 * Tested by tests/unit/binary/test_decode.c: effects and operations that are remembered.
 */
#ifndef BINARY_BYTEMEMO_H
#define BINARY_BYTEMEMO_H

#include "binary/decode.h"

/* A key is 7 bytes and a length in 64 bits.  The number of slots was chosen, not measured. */
enum { BYTEMEMO_SLOTS = 1 << 12, BYTEMEMO_LONGEST = 7 };

/* `code` is exactly one instruction.  0: it is too long to be remembered. */
static inline uint64_t bytememo_key(struct bytes code)
{
	if (code.n == 0 || code.n > BYTEMEMO_LONGEST)
		return 0;
	return bytes_first(code) | code.n << 56;
}

/* The field is cut out: what stands in front of it tells that there is one, and where. */
static inline uint64_t bytememo_key_placed(struct bytes code, const struct insn *insn)
{
	uint64_t n = code.n - insn->field_size, behind = insn->field + insn->field_size;

	if (n == 0 || n > BYTEMEMO_LONGEST)
		return 0;
	return bytes_first((struct bytes){ code.p, insn->field }) | n << 56 |
	       bytes_first((struct bytes){ code.p + behind, code.n - behind })
		       << 8 * insn->field;
}

static inline uint64_t bytememo_key_pattern(struct bytes code)
{
	uint64_t pattern = insn_pattern(code);

	return pattern ? pattern : bytememo_key(code);
}

static inline uint32_t bytememo_slot(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15 >> 52);
}
_Static_assert(BYTEMEMO_SLOTS == 1 << (64 - 52), "a slot for each number");

#endif
