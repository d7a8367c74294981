/* flags.c - tells which condition flags an instruction reads and overwrites
 *
 * The answer comes from Zydis' tables, with corrections.  The tables say that some instructions
 * write flags which they may leave alone: shifts and rotations do so when their count is zero,
 * and repeated string instructions that do nothing.
 *
 * Answers are remembered by the instruction's pattern, since no constant counts but that of a
 * shift.
 */
#include "postmorph/machine/flags.h"

#include "binary/bytememo.h"
#include "binary/decoder.h"

static bool is_shift(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_SHL: case ZYDIS_MNEMONIC_SHR: case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SALC: case ZYDIS_MNEMONIC_SHLD: case ZYDIS_MNEMONIC_SHRD:
	case ZYDIS_MNEMONIC_ROL: case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RCL: case ZYDIS_MNEMONIC_RCR:
		return true;
	default:
		return false;
	}
}

/* D0 and D1 shift by one; an immediate counts modulo 64, if the operand has 64 bits, or 32.  Of
 * a byte or word that is rotated through the carry it counts modulo 9 or 17 after that. */
static bool shifts_for_sure(const ZydisDecodedInstruction *in)
{
	uint64_t count = in->raw.imm[0].value.u & (in->operand_width == 64 ? 63 : 31);

	if ((in->mnemonic == ZYDIS_MNEMONIC_RCL || in->mnemonic == ZYDIS_MNEMONIC_RCR) &&
	    in->operand_width < 32)
		count %= in->operand_width + 1u;
	if (in->raw.imm[0].size)
		return count != 0;
	return in->opcode == 0xd0 || in->opcode == 0xd1;
}

static bool saves_flags(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFD: case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_LAHF: case ZYDIS_MNEMONIC_INT: case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_XBEGIN:
		return true;
	default:
		return false;
	}
}

/* By way of the kernel, which restores them. */
static bool gives_back(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_SYSCALL || m == ZYDIS_MNEMONIC_SYSENTER ||
	       m == ZYDIS_MNEMONIC_INT || m == ZYDIS_MNEMONIC_INT1 || m == ZYDIS_MNEMONIC_INT3;
}

/* False when another constant may have another answer, or there is none. */
static bool ask(struct bytes code, struct flags *out)
{
	ZydisDecoderContext context;
	ZydisDecodedInstruction in;

	*out = (struct flags){ FLAGS_ALL, 0 };
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(), &context, code.p,
							code.n < 15 ? code.n : 15, &in)))
		return false;
	struct flags f = { 0, 0 };
	const ZydisAccessedFlags *z = in.cpu_flags;

	if (z) {
		f.reads = (uint16_t)(z->tested & FLAGS_ALL);
		f.writes = (uint16_t)((z->modified | z->set_0 | z->set_1 | z->undefined) &
				      FLAGS_ALL);
	}
	if (saves_flags(in.mnemonic))
		f.reads = FLAGS_ALL;
	if (gives_back(in.mnemonic) || (is_shift(in.mnemonic) && !shifts_for_sure(&in)) ||
	    (in.attributes &
	     (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
		f.writes = 0;
	*out = f;
	return !(is_shift(in.mnemonic) && in.raw.imm[0].size);
}

struct flags flags_of(struct bytes code)
{
	static struct { uint64_t key; struct flags flags; } memo[BYTEMEMO_SLOTS];
	uint64_t key = insn_pattern(code);
	uint32_t slot = bytememo_slot(key);
	struct flags f;

	if (key && memo[slot].key == key)
		return memo[slot].flags;
	if (ask(code, &f) && key) {
		memo[slot].key = key;
		memo[slot].flags = f;
	}
	return f;
}
