/* test_decode.c - one instruction a row: kind, length, and the field that depends on the
 * place */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "verify/effect.h"
#include "postmorph/tables/absop.h"
#include "binary/decode_form.h"
#include "postmorph/machine/machine.h"

enum { AT = 0x401000, MAX = 15 };

static const struct row {
	const char *text;
	uint8_t code[MAX];
	uint8_t len;		/* 0: must not decode */
	uint8_t kind, field, field_size;
	vaddr target;		/* 0: none */
} rows[] = {
	{ "push %rbp", { 0x55 }, 1, INSN_PLAIN, 0, 0, 0 },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, INSN_PLAIN, 0, 0, 0 },
	{ "nop", { 0x90 }, 1, INSN_NOP, 0, 0, 0 },
	{ "xchg %ax,%ax", { 0x66, 0x90 }, 2, INSN_NOP, 0, 0, 0 },
	{ "xchg %eax,%eax", { 0x87, 0xc0 }, 2, INSN_PLAIN, 0, 0, 0 },
	{ "pause", { 0xf3, 0x90 }, 2, INSN_PLAIN, 0, 0, 0 },
	{ "nopl (%rax)", { 0x0f, 0x1f, 0x00 }, 3, INSN_NOP, 0, 0, 0 },
	{ "cs nopw 0(%rax,%rax,1)",
	  { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 },
	  10,
	  INSN_NOP,
	  0,
	  0,
	  0 },
	{ "nopl 0(%rip): its address means nothing",
	  { 0x0f, 0x1f, 0x05, 1, 0, 0, 0 },
	  7,
	  INSN_NOP,
	  0,
	  0,
	  0 },
	{ "ret", { 0xc3 }, 1, INSN_RET, 0, 0, 0 },
	{ "rep ret", { 0xf3, 0xc3 }, 2, INSN_RET, 0, 0, 0 },
	{ "bnd ret", { 0xf2, 0xc3 }, 2, INSN_RET, 0, 0, 0 },
	{ "ret $8", { 0xc2, 8, 0 }, 3, INSN_RET, 0, 0, 0 },
	{ "iretq", { 0x48, 0xcf }, 2, INSN_RET, 0, 0, 0 },
	{ "hlt", { 0xf4 }, 1, INSN_TRAP, 0, 0, 0 },
	{ "ud2", { 0x0f, 0x0b }, 2, INSN_TRAP, 0, 0, 0 },
	{ "int3: a handler goes on behind it", { 0xcc }, 1, INSN_PLAIN, 0, 0, 0 },
	{ "int $0x80", { 0xcd, 0x80 }, 2, INSN_PLAIN, 0, 0, 0 },
	{ "syscall", { 0x0f, 0x05 }, 2, INSN_PLAIN, 0, 0, 0 },
	{ "call", { 0xe8, 0x10, 0, 0, 0 }, 5, INSN_CALL, 1, 4, AT + 5 + 0x10 },
	{ "call to the next instruction", { 0xe8, 0, 0, 0, 0 }, 5, INSN_CALL, 1, 4, AT + 5 },
	{ "call backwards", { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, INSN_CALL, 1, 4, AT },
	{ "data16 rex.W call (TLS)",
	  { 0x66, 0x66, 0x48, 0xe8, 1, 0, 0, 0 },
	  8,
	  INSN_CALL,
	  4,
	  4,
	  AT + 8 + 1 },
	{ "data16 call: two vendors, two meanings", { 0x66, 0xe8, 0, 0, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "data16 jmp", { 0x66, 0xe9, 0, 0, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "data16 je", { 0x66, 0x0f, 0x84, 0, 0, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "call *%rax", { 0xff, 0xd0 }, 2, INSN_ICALL, 0, 0, 0 },
	{ "call *0x20(%rip)",
	  { 0xff, 0x15, 0x20, 0, 0, 0 },
	  6,
	  INSN_ICALL,
	  2,
	  4,
	  AT + 6 + 0x20 },
	{ "jmp short", { 0xeb, 0xfe }, 2, INSN_JMP, 1, 1, AT },
	{ "jmp near", { 0xe9, 0, 1, 0, 0 }, 5, INSN_JMP, 1, 4, AT + 5 + 0x100 },
	{ "bnd jmp near", { 0xf2, 0xe9, 0, 1, 0, 0 }, 6, INSN_JMP, 2, 4, AT + 6 + 0x100 },
	{ "je short", { 0x74, 0x7f }, 2, INSN_JCC, 1, 1, AT + 2 + 0x7f },
	{ "jg near", { 0x0f, 0x8f, 0x80, 0xff, 0xff, 0xff }, 6, INSN_JCC, 2, 4, AT + 6 - 0x80 },
	{ "je with a hint", { 0x3e, 0x74, 0x10 }, 3, INSN_JCC, 2, 1, AT + 3 + 0x10 },
	{ "loop", { 0xe2, 0x80 }, 2, INSN_LOOP, 1, 1, AT + 2 - 0x80 },
	{ "loopne", { 0xe0, 0x02 }, 2, INSN_LOOP, 1, 1, AT + 4 },
	{ "jrcxz", { 0xe3, 0x02 }, 2, INSN_LOOP, 1, 1, AT + 4 },
	{ "jecxz", { 0x67, 0xe3, 0x02 }, 3, INSN_LOOP, 2, 1, AT + 5 },
	{ "jmp *%rdx", { 0xff, 0xe2 }, 2, INSN_IJMP, 0, 0, 0 },
	{ "notrack jmp *%rdx", { 0x3e, 0xff, 0xe2 }, 3, INSN_IJMP, 0, 0, 0 },
	{ "jmp *0x10(%rip)", { 0xff, 0x25, 0x10, 0, 0, 0 }, 6, INSN_IJMP, 2, 4, AT + 6 + 0x10 },
	{ "jmp *T(,%rax,8)", { 0xff, 0x24, 0xc5, 0, 0x20, 0x40, 0 }, 7, INSN_IJMP, 0, 0, 0 },
	{ "xbegin", { 0xc7, 0xf8, 4, 0, 0, 0 }, 6, INSN_XBEGIN, 2, 4, AT + 6 + 4 },
	{ "lea 8(%rip),%rdi",
	  { 0x48, 0x8d, 0x3d, 8, 0, 0, 0 },
	  7,
	  INSN_PLAIN,
	  3,
	  4,
	  AT + 7 + 8 },
	{ "movl $imm32,8(%rip)",
	  { 0xc7, 0x05, 8, 0, 0, 0, 1, 2, 3, 4 },
	  10,
	  INSN_PLAIN,
	  2,
	  4,
	  AT + 10 + 8 },
	{ "cmpb $1,-4(%rip)",
	  { 0x80, 0x3d, 0xfc, 0xff, 0xff, 0xff, 1 },
	  7,
	  INSN_PLAIN,
	  2,
	  4,
	  AT + 7 - 4 },
	{ "vpshufb 16(%rip),%xmm0,%xmm1",
	  { 0xc4, 0xe2, 0x79, 0x00, 0x0d, 16, 0, 0, 0 },
	  9,
	  INSN_PLAIN,
	  5,
	  4,
	  AT + 9 + 16 },
	{ "mov 0x401000(,%ebp,1),%cl with REX.B",
	  { 0x67, 0x41, 0x8a, 0x0c, 0x2d, 0x00, 0x10, 0x40, 0x00 }, 0, 0, 0, 0, 0 },
	{ "lea 8(%eip),%rdi", { 0x67, 0x48, 0x8d, 0x3d, 8, 0, 0, 0 }, 0, 0, 0, 0, 0 },
	{ "mov 8(%rbp),%eax: disp8, not rip", { 0x8b, 0x45, 0x08 }, 3, INSN_PLAIN, 0, 0, 0 },
	{ "mov 0x401000,%eax: absolute",
	  { 0x8b, 0x04, 0x25, 0, 0x10, 0x40, 0 },
	  7,
	  INSN_PLAIN,
	  0,
	  0,
	  0 },
	{ "push %es: not in 64-bit mode", { 0x06 }, 0, 0, 0, 0, 0 },
};

static void decodes_every_form_of_the_table(void **state)
{
	(void)state;
	for (const struct row *r = rows; r < rows + sizeof(rows) / sizeof(rows[0]); r++) {
		struct insn insn = { 0 };
		vaddr target = 0;
		bool ok = insn_decode((struct bytes){ r->code, MAX }, AT, &insn, &target);

		if (ok != (r->len != 0))
			fail_msg("%s: %s", r->text, ok ? "decoded" : "not decoded");
		if (ok &&
		    (insn.len != r->len || insn.kind != r->kind || insn.field != r->field ||
		     insn.field_size != r->field_size || target != r->target))
			fail_msg("%s: len %u kind %u field %u size %u target %#llx", r->text,
				 insn.len, insn.kind, insn.field, insn.field_size,
				 (unsigned long long)target);
		if (ok && r->field)
			assert_int_equal(insn_target(&insn, r->code, AT), r->target);
	}
}

static void never_looks_behind_the_end(void **state)
{
	(void)state;
	for (const struct row *r = rows; r < rows + sizeof(rows) / sizeof(rows[0]); r++)
		for (uint8_t n = 0; n < r->len; n++) {
			struct insn insn;
			vaddr target;

			assert_false(
				insn_decode((struct bytes){ r->code, n }, AT, &insn, &target) &&
				insn.len > n);
		}
}

static void finds_constants_that_may_be_addresses(void **state)
{
	static const uint8_t mov_imm[] = { 0xbf, 0x00, 0x10, 0x40, 0x00 };
	static const uint8_t store[] = { 0x48, 0xc7, 0x04, 0x25, 0x00, 0x20, 0x40, 0x00,
					 0x00, 0x10, 0x40, 0x00 };
	static const uint8_t rip[] = { 0x48, 0x8d, 0x3d, 8, 0, 0, 0 };
	static const uint8_t movabs[] = { 0xa1, 0x00, 0x10, 0x40, 0, 1, 0, 0, 0 };
	static const uint8_t narrow[] = { 0x67, 0x8b, 0x04, 0x25, 0x00, 0x10, 0x40, 0x80 };
	uint64_t c[INSN_MAX_CONSTANTS];

	(void)state;
	assert_int_equal(insn_constants((struct bytes){ mov_imm, sizeof(mov_imm) }, c), 1);
	assert_int_equal(c[0], 0x401000);
	assert_int_equal(insn_constants((struct bytes){ store, sizeof(store) }, c), 2);
	assert_int_equal(c[0], 0x402000);
	assert_int_equal(c[1], 0x401000);
	assert_int_equal(insn_constants((struct bytes){ rip, sizeof(rip) }, c), 0);
	assert_int_equal(insn_constants((struct bytes){ movabs, sizeof(movabs) }, c), 1);
	assert_int_equal(c[0], 0x100401000);
	assert_int_equal(insn_constants((struct bytes){ narrow, sizeof(narrow) }, c), 1);
	assert_int_equal(c[0], 0x80401000);
}

/* Bytes that differ from call to call. */
static void fill_tail(uint8_t *p, uint32_t n, uint32_t *seed)
{
	for (uint32_t i = 0; i < n; i++) {
		*seed = *seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(*seed >> 24);
	}
}

static void compare_forms(struct bytes code)
{
	struct insn_form want, got;
	bool ok = insn_form_read(code, &want);

	if (insn_form_recall(code, &got) != ok)
		fail_msg("%02x %02x %02x %02x %02x: %s from memory", code.p[0], code.p[1],
			 code.p[2], code.p[3], code.p[4], ok ? "not decoded" : "decoded");
	if (!ok)
		return;
	bool same = got.insn.len == want.insn.len && got.insn.kind == want.insn.kind &&
		    got.insn.field == want.insn.field &&
		    got.insn.field_size == want.insn.field_size &&
		    got.nconstant == want.nconstant;
	for (uint32_t i = 0; same && i < want.nconstant; i++)
		same = got.constant[i].off == want.constant[i].off &&
		       got.constant[i].is_wide == want.constant[i].is_wide &&
		       got.constant[i].is_signed == want.constant[i].is_signed;
	if (!same)
		fail_msg("%02x %02x %02x %02x %02x: another form from memory", code.p[0],
			 code.p[1], code.p[2], code.p[3], code.p[4]);
}

/* Prefixes, then 0F or nothing, all opcodes, all ModRM bytes; what follows differs each
 * time, and is cut off at any length. */
static void compare_all(const uint8_t *prefix, uint32_t nprefix, uint32_t *seed)
{
	enum { ROUNDS = 2 };
	uint8_t code[32];

	memcpy(code, prefix, nprefix);
	for (uint32_t i = 0; i < 2 * 256 * 256; i++) {
		uint32_t at = nprefix;

		if (i & 1)
			code[at++] = 0x0f;
		code[at++] = (uint8_t)(i >> 1);
		code[at++] = (uint8_t)(i >> 9);
		for (uint32_t round = 0; round < ROUNDS; round++) {
			fill_tail(code + at, MAX, seed);
			compare_forms((struct bytes){ code, MAX });
		}
		compare_forms((struct bytes){ code, 5 + (*seed >> 20) % (MAX - 5) });
	}
}

static void remembers_what_zydis_says_of_every_form(void **state)
{
	static const struct { uint8_t n, byte[4];
	} prefix[] = {
		{ 0, { 0 } },
		{ 1, { 0x66 } },
		{ 1, { 0xf2 } },
		{ 1, { 0xf3 } },
		{ 1, { 0x48 } },
		{ 1, { 0x41 } },
		{ 1, { 0x4f } },
		{ 1, { 0x40 } },
		{ 1, { 0x64 } },
		{ 1, { 0xf0 } },
		{ 2, { 0x66, 0x48 } },
		{ 2, { 0xf3, 0x49 } },
		{ 2, { 0xf2, 0x4c } },
		{ 2, { 0x3e, 0x42 } },
		{ 2, { 0x66, 0xf2 } },
		{ 2, { 0x48, 0x66 } },
		{ 3, { 0x66, 0x66, 0x48 } },
		{ 4, { 0x66, 0x2e, 0x66, 0x44 } },
	};
	uint32_t seed = 1;

	(void)state;
	for (uint32_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		compare_all(prefix[i].byte, prefix[i].n, &seed);
}

static void assert_same_act(const struct act *a, const struct act *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->len, b->len);
	assert_int_equal(a->bits, b->bits);
	assert_int_equal(a->alu, b->alu);
	assert_int_equal(a->cond, b->cond);
	assert_int_equal(a->dst.kind, b->dst.kind);
	assert_int_equal(a->dst.reg, b->dst.reg);
	assert_int_equal(a->a.reg, b->a.reg);
	assert_int_equal(a->b.reg, b->b.reg);
	assert_int_equal(a->mem.base, b->mem.base);
	assert_int_equal(a->mem.index, b->mem.index);
	assert_int_equal(a->mem.disp, b->mem.disp);
	assert_int_equal(a->imm, b->imm);
	assert_int_equal(a->wipes, b->wipes);
	assert_int_equal(a->stores, b->stores);
}

static void assert_same_op(const struct op *a, const struct op *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->bits, b->bits);
	assert_int_equal(a->dst, b->dst);
	assert_int_equal(a->src, b->src);
	assert_int_equal(a->reads, b->reads);
	assert_int_equal(a->writes, b->writes);
	assert_int_equal(a->mem.base, b->mem.base);
	assert_int_equal(a->mem.index, b->mem.index);
	assert_int_equal(a->mem.disp, b->mem.disp);
	assert_int_equal(a->imm, b->imm);
}

/* What stands alone is remembered, what other bytes follow is asked for. */
static void compare_lowered(struct bytes alone, struct bytes followed, vaddr addr)
{
	struct act act[2];
	struct op op[2];
	struct insn insn;
	vaddr target;

	act_lower(alone, addr, &act[0]);
	act_lower(followed, addr, &act[1]);
	assert_same_act(&act[0], &act[1]);
	assert_true(insn_decode(alone, addr, &insn, &target));
	op_decode(alone, &insn, addr, &op[0]);
	op_decode(followed, &insn, addr, &op[1]);
	assert_same_op(&op[0], &op[1]);
}

static void what_is_remembered_of_an_instruction_is_what_it_is_there(void **state)
{
	uint32_t seed = 1, n = 0;

	(void)state;
	for (uint32_t form = 0; form < 4 << 16; form += 3) {
		uint8_t code[MAX] = { 0 }, i = 0;
		struct insn_form f;

		if (form >> 16 & 1)
			code[i++] = 0x48;
		if (form >> 17)
			code[i++] = 0x0f;
		code[i++] = form >> 8 & 0xff;
		code[i++] = form & 0xff;
		fill_tail(code + i, MAX - i, &seed);
		if (!insn_form_read((struct bytes){ code, MAX }, &f))
			continue;
		for (int again = 0; again < 2; again++) {
			vaddr addr = AT + (vaddr)(uint32_t)(n++ % 5) * 0x1000;

			compare_lowered((struct bytes){ code, f.insn.len },
					(struct bytes){ code, MAX }, addr);
		}
	}
	assert_true(n > 40000);
}

static void assert_same_operands(const ZydisDecodedInstruction *in,
				 ZydisDecodedOperand (*o)[ZYDIS_MAX_OPERAND_COUNT])
{
	assert_int_equal(in[0].mnemonic, in[1].mnemonic);
	assert_int_equal(in[0].length, in[1].length);
	assert_int_equal(in[0].attributes, in[1].attributes);
	assert_int_equal(in[0].meta.category, in[1].meta.category);
	assert_int_equal(in[0].operand_count, in[1].operand_count);
	assert_int_equal(in[0].operand_count_visible, in[1].operand_count_visible);
	for (uint32_t i = 0; i < in[0].operand_count; i++) {
		assert_int_equal(o[0][i].type, o[1][i].type);
		assert_int_equal(o[0][i].size, o[1][i].size);
		assert_int_equal(o[0][i].actions, o[1][i].actions);
		assert_int_equal(o[0][i].visibility, o[1][i].visibility);
		if (o[0][i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG)
			assert_int_equal(ZydisRegisterGetClass(o[0][i].reg.value),
					 ZydisRegisterGetClass(o[1][i].reg.value));
		else if (o[0][i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			assert_int_equal(o[0][i].reg.value, o[1][i].reg.value);
		if (o[0][i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		assert_int_equal(o[0][i].mem.type, o[1][i].mem.type);
		assert_int_equal(o[0][i].mem.segment, o[1][i].mem.segment);
		assert_int_equal(o[0][i].mem.base, o[1][i].mem.base);
		assert_int_equal(o[0][i].mem.index, o[1][i].mem.index);
	}
}

/* Whatever stands behind. */
static void instructions_of_one_pattern_have_the_same_operands(void **state)
{
	uint32_t seed = 1, n = 0;
	ZydisDecoder decoder;

	(void)state;
	assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
						  ZYDIS_STACK_WIDTH_64)));
	for (uint32_t form = 0; form < 16 << 16; form++) {
		static const uint8_t prefix[] = { 0x48, 0x66, 0xf3, 0x45 };
		ZydisDecodedOperand o[2][ZYDIS_MAX_OPERAND_COUNT];
		ZydisDecodedInstruction in[2];
		uint8_t code[2][MAX] = { { 0 } }, i = 0;
		struct insn_form f;
		bool ok = true;

		if (form >> 16 & 1)
			code[0][i++] = prefix[form >> 17 & 3];
		if (form >> 19)
			code[0][i++] = 0x0f;
		code[0][i++] = form >> 8 & 0xff;
		code[0][i++] = form & 0xff;
		memcpy(code[1], code[0], i);
		for (uint32_t k = 0; k < 2; k++) {
			fill_tail(code[k] + i, MAX - i, &seed);
			code[k][i] = code[0][i];	/* SIB, if it is one */
			ok &= insn_form_recall((struct bytes){ code[k], MAX }, &f) &&
			      ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code[k], MAX,
								  &in[k], o[k]));
		}
		uint64_t pattern = insn_pattern((struct bytes){ code[0], MAX });
		if (!ok || !pattern || pattern != insn_pattern((struct bytes){ code[1], MAX }))
			continue;
		assert_same_operands(in, o);
		n++;
	}
	assert_true(n > 40000);
}

/* Codes of every length, each up to something that is no instruction, or to its end. */
static void decodes_runs_as_one_after_the_other(void **state)
{
	enum { RUNS = 40, LONGEST = 200 };
	static uint8_t code[RUNS][LONGEST];
	static struct insn room[RUNS * LONGEST];
	struct insn_run run[RUNS];
	uint32_t seed = 1, broken = 0;

	(void)state;
	for (uint32_t i = 0; i < RUNS; i++) {
		uint64_t n = i * i % LONGEST;

		/* mov REGISTER, REGISTER; nop */
		for (uint64_t k = 0; k + 4 <= n; k += 4)
			memcpy(&code[i][k], (uint8_t[]){ 0x48, 0x89, 0xc0 | (k & 0x38), 0x90 },
			       4);
		if (i % 3 == 0)
			fill_tail(code[i] + n / 2, (uint32_t)(n - n / 2), &seed);
		run[i] = (struct insn_run){ .code = { code[i], n } };
	}
	insn_decode_runs(run, RUNS, room);
	for (uint32_t i = 0; i < RUNS; i++) {
		uint64_t off = 0;
		struct insn insn;
		vaddr target;

		for (uint32_t k = 0; k < run[i].n; k++, off += insn.len) {
			assert_true(insn_decode(bytes_at(run[i].code, off, run[i].code.n - off),
						AT, &insn, &target));
			insn.off = (uint32_t)off;
			assert_memory_equal(&run[i].insn[k], &insn, sizeof(insn));
		}
		assert_int_equal(insn_run_end(&run[i]), off);
		bool ends = off == run[i].code.n;
		assert_true(ends ||
			    !insn_decode(bytes_at(run[i].code, off, run[i].code.n - off), AT,
					 &insn, &target));
		broken += !ends;
	}
	assert_true(broken > 0 && broken < RUNS);
}

/* What depends on the place is where it has a field; the rest is remembered. */
static void an_effect_is_that_of_the_instruction_at_its_place(void **state)
{
	enum { AWAY = 0x1000 };
	uint32_t seed = 1, n = 0;

	(void)state;
	for (uint32_t form = 0; form < 4 << 16; form += 3) {
		uint8_t code[MAX] = { 0 }, i = 0;
		struct effect here, there;
		struct insn insn;
		vaddr target;

		if (form >> 16 & 1)
			code[i++] = 0x48;
		if (form >> 17)
			code[i++] = 0x0f;
		code[i++] = form >> 8 & 0xff;
		code[i++] = form & 0xff;
		fill_tail(code + i, MAX - i, &seed);
		struct bytes b = { code, MAX };
		if (!insn_decode(b, AT, &insn, &target) || !effect_decode(b, AT, &here))
			continue;
		assert_true(effect_decode(b, AT + AWAY, &there));
		assert_int_equal(here.kind, insn.kind);
		assert_int_equal(here.len, insn.len);
		assert_int_equal(here.target, insn_is_branch(&insn) ? target : 0);
		assert_int_equal(there.reads, here.reads);
		assert_int_equal(there.kills, here.kills);
		assert_int_equal(there.clobbers, here.clobbers);
		assert_int_equal(there.op, here.op);
		assert_int_equal(there.target, here.target ? here.target + AWAY : 0);
		assert_int_equal(there.slot, here.slot ? here.slot + AWAY : 0);
		assert_int_equal(there.value,
				 here.op == FX_BASE ? here.value + AWAY : here.value);
		n++;
	}
	assert_true(n > 40000);
}

static void knows_what_branches_are_fused_with(void **state)
{
	static const struct {
		uint8_t code[MAX], len;
		bool fuses;
	} insn[] = {
		{ { 0x39, 0xc1 }, 2, true },			/* cmp %eax,%ecx */
		{ { 0x48, 0x85, 0xc0 }, 3, true },		/* test %rax,%rax */
		{ { 0xf6, 0x07, 0x01 }, 3, true },		/* testb $1,(%rdi) */
		{ { 0xff, 0xc8 }, 2, true },			/* dec %eax */
		{ { 0x83, 0xe8, 0x01 }, 3, true },		/* sub $1,%eax */
		{ { 0x83, 0xc8, 0x01 }, 3, false },		/* or $1,%eax */
		{ { 0xd1, 0xe8 }, 2, false },			/* shr %eax */
		{ { 0x0f, 0x2f, 0xc1 }, 3, false },		/* comiss %xmm1,%xmm0 */
		{ { 0x89, 0xc1 }, 2, false },			/* mov %eax,%ecx */
		{ { 0x39 }, 1, false },				/* cut off */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(insn) / sizeof(insn[0]); i++)
		if (insn_fuses((struct bytes){ insn[i].code, insn[i].len }) != insn[i].fuses)
			fail_msg("row %zu", i);
}

static const struct {
	uint8_t code[MAX], len, room;
} front_row[] = {
	{ { 0x39, 0xc1 }, 2, 5 },	  /* cmp %eax,%ecx */
	{ { 0x48, 0x8b, 0x47, 0x08 }, 4, 0 },	/* mov 8(%rdi),%rax: may fault */
	{ { 0x48, 0x8b, 0xc7 }, 3, 5 },	/* mov %rdi,%rax */
	{ { 0x66, 0x41, 0x89, 0xc3 }, 4, 5 },	/* mov %ax,%r11w */
	{ { 0x66, 0x41, 0x89, 0x03 }, 4, 0 },	/* mov %ax,(%r11) */
	{ { 0x0f, 0xb6, 0x07 }, 3, 0 },	/* movzbl (%rdi),%eax */
	{ { 0x0f, 0xb6, 0xc7 }, 3, 5 },	/* movzbl %bh,%eax */
	{ { 0xb8, 1, 0, 0, 0 }, 5, 5 },	/* mov $1,%eax */
	{ { 0x83, 0xc0, 1 }, 3, 5 },	/* add $1,%eax */
	{ { 0x83, 0x00, 1 }, 3, 0 },	/* addl $1,(%rax) */
	{ { 0x3d, 1, 0, 0, 0 }, 5, 5 },	/* cmp $1,%eax */
	{ { 0x0f, 0x58, 0xc1 }, 3, 0 },	/* addps %xmm1,%xmm0: may be inexact */
	{ { 0x0f, 0x6f, 0xc1 }, 3, 0 },	/* movq %mm1,%mm0: x87 exceptions */
	{ { 0x66, 0x0f, 0x6f, 0xc1 }, 4, 5 },	/* movdqa %xmm1,%xmm0 */
	{ { 0x66, 0x0f, 0xe6, 0xc1 }, 4, 0 },	/* cvttpd2dq %xmm1,%xmm0 */
	{ { 0x66, 0x0f, 0xf7, 0xc1 }, 4, 0 },	/* maskmovdqu: to memory */
	{ { 0x66, 0x0f, 0x6f, 0x07 }, 4, 0 },	/* movdqa (%rdi),%xmm0 */
	{ { 0x48, 0x8d, 0x05, 0, 0, 0, 0 }, 7, 5 },	/* lea 0(%rip),%rax */
	{ { 0x50 }, 1, 0 },	    /* push %rax */
	{ { 0x48, 0x81, 0x84, 0x24, 0, 0, 0, 0, 0, 0, 0, 0 },
	  12,
	  0 },	/* addq $0,0(%rsp) */
	{ { 0x66, 0x66, 0x66, 0x66, 0x66, 0x48, 0x89, 0xc0 }, 8, 1 },	/* has many */
	{ { 0x66, 0x66, 0x48, 0x8d, 0x05, 0, 0, 0, 0 }, 9, 4 },	/* lea 0(%rip),%rax */
	{ { 0x64, 0x8b, 0x07 }, 3, 0 },	/* mov %fs:(%rdi),%eax */
	{ { 0x66, 0x65, 0x89, 0x07 }, 4, 0 },	/* mov %ax,%gs:(%rdi) */
	{ { 0x2e, 0x8b, 0x07 }, 3, 0 },	/* has one */
	{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 0 },	/* endbr64 */
	{ { 0xf0, 0x01, 0x07 }, 3, 0 },	/* lock add %eax,(%rdi) */
	{ { 0xf3, 0xa4 }, 2, 0 },
	{ { 0xa4 }, 1, 0 },	/* rep movsb, movsb */
	{ { 0x0f, 0x05 }, 2, 0 },
	{ { 0xcc }, 1, 0 },	/* syscall, int3 */
	{ { 0x0f, 0xa2 }, 2, 0 },
	{ { 0x0f, 0xae, 0xf0 }, 3, 0 },	/* cpuid, mfence */
	{ { 0xf7, 0xf1 }, 2, 0 },	  /* div %ecx */
	{ { 0xc5, 0xf8, 0x77 }, 3, 0 },	/* vzeroupper */
	{ { 0x90 }, 1, 0 },
	{ { 0xc3 }, 1, 0 },	/* nop, ret */
	{ { 0x74, 0x00 }, 2, 0 },
	{ { 0x0f, 0x84, 0, 0, 0, 0 }, 6, 0 },	/* je */
	{ { 0xe8, 0, 0, 0, 0 }, 5, 0 },
	{ { 0xff, 0xd0 }, 2, 0 },	/* call, call *%rax */
};

/* Prefixes in front of it are the same instruction, or none are allowed. */
static void knows_what_prefixes_mean_nothing_to(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(front_row) / sizeof(front_row[0]); i++) {
		struct insn insn, padded;
		vaddr target, other;
		uint8_t code[2 * MAX];
		struct bytes plain = { front_row[i].code, front_row[i].len };

		assert_true(insn_decode(plain, 0, &insn, &target));
		if (insn_front_room(&insn, front_row[i].code) != front_row[i].room)
			fail_msg("row %zu", i);
		memset(code, INSN_FRONT, sizeof(code));
		memcpy(code + front_row[i].room, front_row[i].code, front_row[i].len);
		assert_true(
			insn_decode((struct bytes){ code, sizeof(code) }, 0, &padded, &other));
		assert_int_equal(padded.len, insn.len + front_row[i].room);
		assert_int_equal(padded.kind, insn.kind);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_every_form_of_the_table),
		cmocka_unit_test(never_looks_behind_the_end),
		cmocka_unit_test(knows_what_branches_are_fused_with),
		cmocka_unit_test(knows_what_prefixes_mean_nothing_to),
		cmocka_unit_test(finds_constants_that_may_be_addresses),
		cmocka_unit_test(remembers_what_zydis_says_of_every_form),
		cmocka_unit_test(what_is_remembered_of_an_instruction_is_what_it_is_there),
		cmocka_unit_test(instructions_of_one_pattern_have_the_same_operands),
		cmocka_unit_test(decodes_runs_as_one_after_the_other),
		cmocka_unit_test(an_effect_is_that_of_the_instruction_at_its_place),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
