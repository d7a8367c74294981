/* bytememo.h - where to remember what was found of an instruction, by its bytes
 *
 * Of the instructions of a program most have been there before, byte for byte.  What does not
 * depend on where they stand is the same each time, and asking Zydis costs a hundred times as
 * much as looking it up.  A table of BYTEMEMO_SLOTS of { key, what was found }, of which the
 * last one stays, is enough.  There are three keys, by what counts:
 *
 *    bytememo_key          all bytes
 *    bytememo_key_placed   all but the field that depends on where the instruction stands
 *    bytememo_key_pattern  what insn_pattern() has of it: neither displacement nor immediates
 *
 * decode_memo.c remembers forms, which are fewer still: there most registers do not count
 * either.
 */
#ifndef BINARY_BYTEMEMO_H
#define BINARY_BYTEMEMO_H

#include "binary/decode.h"

enum { BYTEMEMO_SLOTS = 1 << 12, BYTEMEMO_LONGEST = 7 };

/* `code` is one instruction, without anything behind it.  0: too long to be remembered. */
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
