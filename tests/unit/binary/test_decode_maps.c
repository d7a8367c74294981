/* test_decode_maps.c - what the decoder says of instructions of every map, against all that
 * Zydis says of them
 *
 * Instructions are made of prefixes, REX, VEX, EVEX or XOP, every opcode of every map and every
 * ModRM byte; what follows is by chance.  test_decode.c has the forms that decode_memo.c keeps;
 * here is everything.  Three things are compared with what Zydis says of the operands, which
 * binary/decode.c does not look at:
 *
 *   - length, kind, the field that depends on the place, and the constants, asked of the memory
 *     of forms;
 *   - instructions that may get prefixes (insn_front_room()): with these they are the same;
 *   - registers and flags that the Verifier (effect.c) and the Editor (absop.c,
 *     machine_lower.c) say are read and written.
 *
 * DECODE_ROUNDS=N does it N times with other bytes by chance; DECODE_ROUNDS=0 tries every
 * combination of prefixes with every opcode and ModRM byte (some minutes).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "binary/decode_form.h"
#include "postmorph/machine/machine.h"
#include "postmorph/tables/absop.h"
#include "tests/unit/opcodes.h"
#include "verify/effect.h"

enum { NOTHING = 0, AT = 0x401000, RSP = 1 << 4 };

struct full {
	struct bytes code;		/* all that is there */
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

static ZydisDecoder decoder;
static uint64_t compared, with_room, with_field, with_constants;

static void fail_at(const struct full *f, const char *what, uint64_t have, uint64_t want)
{
	char text[3 * OPCODES_MAX + 1] = "";

	for (uint32_t i = 0; i < OPCODES_MAX; i++)
		(void)snprintf(text + 3 * (size_t)i, 4, "%02x ", f->code.p[i]);
	fail_msg("%s(%s): %s is %#llx, by Zydis %#llx", text,
		 ZydisMnemonicGetString(f->in.mnemonic), what, (unsigned long long)have,
		 (unsigned long long)want);
}

static void expect(const struct full *f, const char *what, uint64_t have, uint64_t want)
{
	if (have != want)
		fail_at(f, what, have, want);
}

/* --- form --- */

/* By category and branch type; decode.c goes by mnemonics. */
static uint8_t kind_of(const struct full *f)
{
	bool direct = f->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && f->op[0].imm.is_relative;

	switch (f->in.meta.category) {
	case ZYDIS_CATEGORY_NOP: case ZYDIS_CATEGORY_WIDENOP:
		return f->in.mnemonic == ZYDIS_MNEMONIC_NOP ? INSN_NOP : INSN_PLAIN;
	case ZYDIS_CATEGORY_CALL:
		return direct ? INSN_CALL : INSN_ICALL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (f->in.mnemonic == ZYDIS_MNEMONIC_XABORT)
			return INSN_PLAIN;	/* goes on, or back to behind xbegin */
		return direct ? INSN_JMP : INSN_IJMP;
	case ZYDIS_CATEGORY_COND_BR:
		if (f->in.meta.isa_set == ZYDIS_ISA_SET_RTM)
			return direct ? INSN_XBEGIN : INSN_PLAIN;
		for (int i = 0; i < f->in.operand_count; i++)
			if (f->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			    ZydisRegisterGetId(f->op[i].reg.value) == 1 &&
			    f->op[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
				return INSN_LOOP;	/* looks at rcx or ecx */
		return INSN_JCC;
	case ZYDIS_CATEGORY_RET: case ZYDIS_CATEGORY_SYSRET:
		/* that one always faults, and a handler may go on behind it */
		return f->in.mnemonic == ZYDIS_MNEMONIC_RSM ? INSN_PLAIN : INSN_RET;
	default:
		if (f->in.mnemonic == ZYDIS_MNEMONIC_UIRET)
			return INSN_RET;
		return f->in.mnemonic == ZYDIS_MNEMONIC_UD0 ||
		       f->in.mnemonic == ZYDIS_MNEMONIC_UD1 ||
		       f->in.mnemonic == ZYDIS_MNEMONIC_UD2 ||
		       f->in.mnemonic == ZYDIS_MNEMONIC_HLT ? INSN_TRAP : INSN_PLAIN;
	}
}

static const ZydisDecodedOperand *relative_operand(const struct full *f)
{
	for (int i = 0; i < f->in.operand_count; i++)
		if (f->op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && f->op[i].imm.is_relative)
			return &f->op[i];
	return NULL;
}

static const ZydisDecodedOperand *memory_at(const struct full *f, ZydisRegister base)
{
	for (int i = 0; i < f->in.operand_count; i++)
		if (f->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && f->op[i].mem.base == base)
			return &f->op[i];
	return NULL;
}

/* A base where the encoding has a displacement instead: an error of Zydis 4. */
static bool has_wrong_base(const struct full *f)
{
	for (int i = 0; i < f->in.operand_count; i++)
		if (f->op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM &&
		    f->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && f->in.raw.modrm.mod == 0 &&
		    f->in.raw.disp.size == 32 && !f->op[i].mem.disp.has_displacement)
			return true;
	return false;
}

/* decode.c refuses it: no field can be given another value without a closer look. */
static bool is_refused(const struct full *f, uint8_t kind)
{
	bool sized = (f->in.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !f->in.raw.rex.W;

	if (kind != INSN_PLAIN && kind != INSN_NOP && kind != INSN_TRAP && sized)
		return true;
	return has_wrong_base(f) || (kind != INSN_NOP && memory_at(f, ZYDIS_REGISTER_EIP));
}

/* Where the field leads, by Zydis. */
static void check_field(const struct full *f, const struct insn *insn, uint8_t kind)
{
	const ZydisDecodedOperand *operand = relative_operand(f);
	ZyanU64 want;

	if (!operand && kind != INSN_NOP)
		operand = memory_at(f, ZYDIS_REGISTER_RIP);
	expect(f, "field", insn->field > 0, operand != NULL);
	if (!operand)
		return;
	assert_true(ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&f->in, operand, AT, &want)));
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		expect(f, "size of the field", insn->field_size, 4);
	expect(f, "target", insn_target(insn, f->code.p, AT), want);
	with_field++;
}

/* Values that may be addresses, from the operands. */
static uint32_t constants_of(const struct full *f, uint64_t *value)
{
	uint32_t n = 0;

	for (int i = 0; i < f->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &f->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && f->in.raw.disp.size >= 32 &&
		    o->encoding != ZYDIS_OPERAND_ENCODING_NONE &&
		    o->mem.disp.has_displacement &&
		    o->mem.base != ZYDIS_REGISTER_RIP && o->mem.base != ZYDIS_REGISTER_EIP)
			value[n++] = f->in.address_width == 32 ? (uint32_t)o->mem.disp.value :
				     (uint64_t)o->mem.disp.value;
	}
	for (int i = 0; i < f->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &f->op[i];
		if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !o->imm.is_relative &&
		    o->encoding != ZYDIS_OPERAND_ENCODING_NONE && f->in.raw.imm[0].size >= 32)
			value[n++] = o->imm.value.u;
	}
	return n;
}

static void check_constants(const struct full *f, const struct insn *insn)
{
	uint64_t have[INSN_MAX_CONSTANTS], want[ZYDIS_MAX_OPERAND_COUNT];
	uint32_t n = insn_constants(f->code, have), nwant = constants_of(f, want);

	expect(f, "number of constants", n, nwant);
	expect(f, "that it has constants", insn->constants, n > 0);
	for (uint32_t i = 0; i < n; i++)
		expect(f, "a constant", have[i], want[i]);
	with_constants += n > 0;
}

static void check_form(const struct full *f, const struct insn *insn)
{
	struct insn_form remembered, asked;

	assert_true(insn_form_read(f->code, &asked));
	assert_true(insn_form_recall(f->code, &remembered));
	expect(f, "length", insn->len, f->in.length);
	expect(f, "length from memory", remembered.insn.len, asked.insn.len);
	expect(f, "kind", insn->kind, kind_of(f));
	check_field(f, insn, insn->kind);
	check_constants(f, insn);
}

/* --- prefixes that mean nothing --- */

static void check_room(const struct full *f, const struct insn *insn)
{
	uint32_t room = insn_front_room(insn, f->code.p);
	struct full padded;
	uint8_t code[2 * OPCODES_MAX];
	struct effect e;

	if (room == 0)
		return;
	memset(code, INSN_FRONT, room);
	memcpy(code + room, f->code.p, f->in.length);
	padded = (struct full){ .code = { code, room + f->in.length } };
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, padded.code.n, &padded.in,
						 padded.op)))
		fail_at(f, "with prefixes, decoded", 0, 1);
	expect(f, "with prefixes, length", padded.in.length, f->in.length + room);
	expect(f, "with prefixes, mnemonic", padded.in.mnemonic, f->in.mnemonic);
	expect(f, "with prefixes, operands", padded.in.operand_count, f->in.operand_count);
	for (int i = 0; i < f->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &f->op[i], *p = &padded.op[i];

		expect(f, "with prefixes, type", p->type, o->type);
		expect(f, "with prefixes, size", p->size, o->size);
		expect(f, "with prefixes, actions", p->actions, o->actions);
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			expect(f, "with prefixes, register", p->reg.value, o->reg.value);
		if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			expect(f, "with prefixes, constant", p->imm.value.u, o->imm.value.u);
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		expect(f, "type of memory", o->mem.type, ZYDIS_MEMOP_TYPE_AGEN);
		expect(f, "with prefixes, base", p->mem.base, o->mem.base);
		expect(f, "with prefixes, index", p->mem.index, o->mem.index);
		expect(f, "with prefixes, distance", (uint64_t)p->mem.disp.value,
		       (uint64_t)o->mem.disp.value);
	}
	expect(f, "branch", f->in.meta.branch_type, ZYDIS_BRANCH_TYPE_NONE);
	assert_true(effect_decode(f->code, AT, &e));
	expect(f, "that it may fault", e.faults, false);
	with_room++;
}

/* --- registers and flags --- */

struct access {			/* of general registers, as Zydis lists the operands */
	uint16_t read, written;
	uint16_t whole;			/* written in any case, and all of it */
	uint8_t tested, flags_written;
};

static uint16_t bit_of(ZydisRegister reg)
{
	ZydisRegister r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR64 ?
	       (uint16_t)(1u << ZydisRegisterGetId(r)) : 0;
}

/* In the order of Zydis's bits: CF PF AF ZF SF OF. */
static uint8_t flags_of_mask(ZydisAccessedFlagsMask m)
{
	return (uint8_t)((m & 1) | (m >> 2 & 1) << 1 | (m >> 4 & 1) << 2 | (m >> 6 & 1) << 3 |
			 (m >> 7 & 1) << 4 | (m >> 11 & 1) << 5);
}

static struct access access_of(const struct full *f)
{
	struct access a = { 0 };

	for (int i = 0; i < f->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &f->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			a.read |= bit_of(o->mem.base) | bit_of(o->mem.index);
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		uint16_t reg = bit_of(o->reg.value);
		bool wide = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) >=
			    32;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			a.read |= reg;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			a.written |= reg;
		if ((o->actions & ZYDIS_OPERAND_ACTION_WRITE) && wide)
			a.whole |= reg;
	}
	if (f->in.cpu_flags) {
		const ZydisAccessedFlags *z = f->in.cpu_flags;

		a.tested = flags_of_mask(z->tested);
		a.flags_written =
			flags_of_mask(z->modified | z->set_0 | z->set_1 | z->undefined);
	}
	return a;
}

/* One register, or constant bits, that the result does not depend on. */
static bool is_made_of_nothing(const struct full *f)
{
	const ZydisDecodedOperand *x = &f->op[0], *y = &f->op[1];

	if (f->in.operand_count_visible != 2 || x->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	if (f->in.mnemonic == ZYDIS_MNEMONIC_OR)
		return y->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && y->imm.value.s == -1;
	return (f->in.mnemonic == ZYDIS_MNEMONIC_XOR ||
		f->in.mnemonic == ZYDIS_MNEMONIC_SUB || f->in.mnemonic == ZYDIS_MNEMONIC_SBB) &&
	       y->type == ZYDIS_OPERAND_TYPE_REGISTER && x->reg.value == y->reg.value;
}

/* What op of an effect names besides the masks. */
static uint16_t named(const struct effect *e)
{
	uint16_t a = (uint16_t)(1u << e->a), b = (uint16_t)(1u << e->b),
		 c = (uint16_t)(1u << e->c);

	switch ((enum effect_op)e->op) {
	case FX_COPY: case FX_COPY_LOW: case FX_EXTEND: case FX_LOAD:
		return b;
	case FX_BITS: case FX_CHOOSE: case FX_LOW_BITS: case FX_ADD:
		return a | b;
	case FX_MIX: case FX_WORD: case FX_WORD_SUM: case FX_SUM:
		return b | c;
	case FX_PUSH:
		return a | RSP;
	case FX_JUMP: case FX_SPILL:
		return a;
	case FX_SCALE:
		return b;
	default:
		return 0;
	}
}

static void check_effect(const struct full *f, const struct access *a)
{
	const ZyanU64 repeated = ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
	struct effect e;

	assert_true(effect_decode(f->code, AT, &e));
	if (e.kind == INSN_NOP || e.kind == INSN_TRAP)
		return;		/* of ud1's operands nothing is read */
	uint16_t read = e.reads | e.low_reads | e.word_reads | named(&e);
	if (!is_made_of_nothing(f))
		expect(f, "effect: read", a->read & ~read, NOTHING);
	expect(f, "effect: written", a->written & ~(e.kills | e.clobbers), NOTHING);
	expect(f, "effect: overwritten", e.kills & ~a->whole, NOTHING);
	expect(f, "effect: low bits of", (e.low_kills | e.word_kills) & ~a->written, NOTHING);
	expect(f, "effect: flags written", e.flags_written & ~a->flags_written, NOTHING);
	if (!(f->in.attributes & repeated))
		expect(f, "effect: flags read", e.flags_read, a->tested);
}

static void check_op(const struct full *f, const struct insn *insn, const struct access *a)
{
	const ZyanU64 repeated = ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
	struct op op;

	op_decode((struct bytes){ f->code.p, insn->len }, insn, AT, &op);
	if (!is_made_of_nothing(f))
		expect(f, "op: read", a->read & ~(op.reads | op.reads16 | op.reads8), NOTHING);
	expect(f, "op: written", a->written & ~(op.writes | op.partial), NOTHING);
	expect(f, "op: flags written", op.flags_written & ~a->flags_written, NOTHING);
	expect(f, "op: flags change", op.flags, (a->flags_written & 0x9) != 0);
	if (!(f->in.attributes & repeated))
		expect(f, "op: flags read", op.flags_read, a->tested);
}

static void check_act(const struct full *f, const struct insn *insn, const struct access *a)
{
	struct act act;

	act_lower((struct bytes){ f->code.p, insn->len }, AT, &act);
	expect(f, "act: length", act.len, insn->len);
	if (act.kind == ACT_STOP || act.kind == ACT_CALL || act.kind == ACT_ICALL)
		return;
	expect(f, "act: written", a->written & ~act_writes(&act), NOTHING);
	if (a->flags_written)
		expect(f, "act: flags written", act_writes_flags(&act), true);
}

static void check_registers(const struct full *f, const struct insn *insn)
{
	struct access a = access_of(f);

	check_effect(f, &a);
	check_op(f, insn, &a);
	check_act(f, insn, &a);
}

/* --- all of them --- */

static void compare(const uint8_t *code)
{
	struct full f = { .code = { code, OPCODES_MAX } };
	struct insn insn;
	vaddr target;

	bool known = ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoder, code, OPCODES_MAX, &f.in, f.op));
	bool decoded = insn_decode(f.code, AT, &insn, &target);
	if (!known) {
		expect(&f, "decoded", decoded, false);
		return;
	}
	expect(&f, "decoded", decoded, !is_refused(&f, kind_of(&f)));
	if (!decoded)
		return;
	check_form(&f, &insn);
	check_room(&f, &insn);
	check_registers(&f, &insn);
	compared++;
}

static void every_map(void **state)
{
	const char *rounds = getenv("DECODE_ROUNDS");
	struct opcodes o = opcodes_first(rounds ? strtoull(rounds, NULL, 10) : 1, rounds &&
					 strcmp(rounds, "0") == 0);
	uint8_t code[OPCODES_MAX];

	(void)state;
	assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
						  ZYDIS_STACK_WIDTH_64)));
	while (opcodes_next(&o, code))
		compare(code);
	print_message("# %llu instructions, %llu with a field, %llu with constants, %llu with "
		      "room for prefixes\n", (unsigned long long)compared,
		      (unsigned long long)with_field, (unsigned long long)with_constants,
		      (unsigned long long)with_room);
	assert_true(compared > 700000 && with_field > 50000 && with_room > 8000 &&
		    with_constants > 150000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_map),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
