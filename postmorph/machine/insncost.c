/* insncost.c - estimates how long instructions take, by classes of instructions
 *
 * Samples of a clock fall where time passes, and instructions take unequal time.  How long a
 * single instruction takes depends on caches and on its operands; but on average loads through
 * pointers wait more often than others, divisions always, and pushes hardly ever.  The costs
 * were found by maximum likelihood from samples and exact counts of perl, gawk, python, sqlite
 * and cc1, each of which gave nearly the same.
 *
 * Tested by tests/unit/postmorph/machine/test_insncost.c.
 */
#include "postmorph/machine/insncost.h"

#include "binary/bytememo.h"
#include "binary/decoder.h"

static const struct {
	double plain, call, icall, ret, jcc, ijmp, jmp, push, divide, string, vector, chase,
		load, store;
} cost = {
	.plain = 0.6, .call = 0.2, .icall = 0.9, .ret = 1.0, .jcc = 0.65, .ijmp = 0.8,
	.jmp = 1.3, .push = 0.5, .divide = 15, .string = 40, .vector = 1.6, .chase = 2.4,
	.load = 1.0,
	.store = 0.7,
};

/* The address of what is loaded comes from another register than the frame's. */
static bool is_chase(const ZydisDecodedOperand *op)
{
	return op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_RBP &&
	       op->mem.base != ZYDIS_REGISTER_RIP;
}

static bool is_vector(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op->reg.value >= ZYDIS_REGISTER_XMM0 && op->reg.value <= ZYDIS_REGISTER_ZMM31;
}

static double cost_by_operands(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	bool load = false, store = false, chase = false;

	if (in->operand_count_visible && is_vector(&op[0]))
		return cost.vector;
	for (uint32_t i = 0; i < in->operand_count_visible; i++) {
		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    op[i].mem.type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		store |= (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
		if (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) {
			load = true;
			chase |= is_chase(&op[i]);
		}
	}
	return chase ? cost.chase : load ? cost.load : store ? cost.store : cost.plain;
}

static double ask(const uint8_t *bytes, uint8_t len)
{
	const ZydisInstructionAttributes repeated =
		ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
		ZYDIS_ATTRIB_HAS_REPNE;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), bytes, len, &in, op)))
		return cost.plain;
	if (in.meta.category == ZYDIS_CATEGORY_PUSH || in.meta.category == ZYDIS_CATEGORY_POP)
		return cost.push;
	if (in.mnemonic == ZYDIS_MNEMONIC_DIV || in.mnemonic == ZYDIS_MNEMONIC_IDIV)
		return cost.divide;
	if (in.attributes & repeated)
		return cost.string;
	return cost_by_operands(&in, op);
}

static double cost_of_plain(const uint8_t *bytes, uint8_t len)
{
	static struct { uint64_t key; double cost; } memo[BYTEMEMO_SLOTS];
	uint64_t key = bytememo_key_pattern((struct bytes){ bytes, len });
	uint32_t slot = bytememo_slot(key);

	if (!key)
		return ask(bytes, len);
	if (memo[slot].key != key) {
		memo[slot].cost = ask(bytes, len);
		memo[slot].key = key;
	}
	return memo[slot].cost;
}

static double insn_cost(const struct prog *prog, const struct insn *insn)
{
	switch ((enum insn_kind)insn->kind) {
	case INSN_NOP:
		return 0;
	case INSN_CALL:
		return cost.call;
	case INSN_ICALL:
		return cost.icall;
	case INSN_RET:
		return cost.ret;
	case INSN_JCC:
		return cost.jcc;
	case INSN_IJMP:
		return cost.ijmp;
	case INSN_JMP:
		return cost.jmp;
	default:
		return cost_of_plain(prog_insn_bytes(prog, insn), insn->len);
	}
}

double block_cost(const struct prog *prog, const struct fn *fn, const struct block *b)
{
	double sum = 0;

	for (uint32_t i = 0; i < b->ninsn; i++)
		sum += insn_cost(prog, &fn->insn[b->insn + i]);
	return sum;
}
