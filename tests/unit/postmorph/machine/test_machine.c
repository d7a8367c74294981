/* test_machine.c - what is known of a program's state, against the processor itself
 *
 * Every modelled instruction is encoded in many forms, run on the processor with random
 * operands and followed in the model: what the model says it knows must be what the processor
 * has.  Then again with some of the operands unknown to the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "postmorph/machine/machine.h"

enum { BUFFER = 256, MIDDLE = 128, ROUNDS = 100, FLAGS_FIXED = 0x202 };

/* The processor's side.  rsp is not loaded: the instructions here leave it alone. */
struct native {
	uint64_t reg[16], flags;
} native_state;
void (*native_code)(void);
void native_run(void);
__asm__(".text\n.globl native_run\nnative_run:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"push native_state+128(%rip); popfq\n"
	"mov native_state(%rip), %rax; mov native_state+8(%rip), %rcx\n"
	"mov native_state+16(%rip), %rdx; mov native_state+24(%rip), %rbx\n"
	"mov native_state+40(%rip), %rbp; mov native_state+48(%rip), %rsi\n"
	"mov native_state+56(%rip), %rdi; mov native_state+64(%rip), %r8\n"
	"mov native_state+72(%rip), %r9; mov native_state+80(%rip), %r10\n"
	"mov native_state+88(%rip), %r11; mov native_state+96(%rip), %r12\n"
	"mov native_state+104(%rip), %r13; mov native_state+112(%rip), %r14\n"
	"mov native_state+120(%rip), %r15\n"
	"call *native_code(%rip)\n"
	"mov %rax, native_state(%rip); mov %rcx, native_state+8(%rip)\n"
	"mov %rdx, native_state+16(%rip); mov %rbx, native_state+24(%rip)\n"
	"mov %rbp, native_state+40(%rip); mov %rsi, native_state+48(%rip)\n"
	"mov %rdi, native_state+56(%rip); mov %r8, native_state+64(%rip)\n"
	"mov %r9, native_state+72(%rip); mov %r10, native_state+80(%rip)\n"
	"mov %r11, native_state+88(%rip); mov %r12, native_state+96(%rip)\n"
	"mov %r13, native_state+104(%rip); mov %r14, native_state+112(%rip)\n"
	"mov %r15, native_state+120(%rip)\n"
	"pushfq; pop native_state+128(%rip); cld\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n");

static uint64_t seed = 0x9e3779b97f4a7c15u;
static uint8_t *code;			/* one page to run */
static uint8_t buffer[BUFFER];
static struct image no_image;
static struct memview_file no_file = { .img = &no_image };
static unsigned long compared;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Numbers at which things happen, more often than chance would have it. */
static uint64_t any_value(void)
{
	static const uint64_t edge[] = { 0,	    1,		2,	    0x7f,
					 0x80,	    0xff,	0x7fff,	    0x8000,
					 0xffff,    0x7fffffff, 0x80000000, 0xffffffff,
					 INT64_MAX, 1ull << 63, UINT64_MAX };

	switch (any() % 4) {
	case 0: return edge[any() % (sizeof(edge) / sizeof(edge[0]))];
	case 1: return any() % 70;
	default: return any();
	}
}

struct form {				/* an instruction, encoded */
	uint8_t bytes[16];
	uint8_t len;
	char text[64];
};

static void fail_at(const struct form *f, const char *what, uint64_t model, uint64_t cpu)
{
	fail_msg("%s: %s is %#llx, the processor has %#llx", f->text, what,
		 (unsigned long long)model, (unsigned long long)cpu);
}

static void compare(const struct form *f, const struct machine *m)
{
	for (unsigned r = 0; r < MACHINE_GPRS; r++)
		for (unsigned i = 0; i < 8 && r != MACHINE_RSP; i++) {
			uint8_t model = m->reg[r].v >> (8 * i) & 0xff;
			uint8_t cpu = native_state.reg[r] >> (8 * i) & 0xff;

			compared += m->reg[r].known >> i & 1;
			if ((m->reg[r].known >> i & 1) && model != cpu)
				fail_at(f, "a register", m->reg[r].v, native_state.reg[r]);
		}
	if ((m->flags ^ native_state.flags) & m->flags_known & FLAGS_ALL)
		fail_at(f, "flags", m->flags & m->flags_known,
			native_state.flags & m->flags_known);
	for (unsigned i = 0; i < BUFFER; i++) {
		struct value v = memview_read(&m->memory, (uint64_t)(uintptr_t)(buffer + i), 1);

		if (v.known && v.v != buffer[i])
			fail_at(f, "memory", v.v, buffer[i]);
	}
}

/* Takes knowledge away at random. */
static void blind(struct machine *m)
{
	for (unsigned r = 0; r < MACHINE_GPRS; r++) {
		uint8_t lost = any() % 3 ? 0 : (uint8_t)any() | (any() % 2 ? 0xff : 0);

		m->reg[r].known &= (uint8_t)~lost;
		for (unsigned i = 0; i < 8; i++)
			if (lost >> i & 1)
				m->reg[r].v &= ~((uint64_t)0xff << (8 * i));
	}
	m->flags_known &= (uint16_t)any();
	if (any() % 3 == 0)
		m->memory.stack.n = any() % BUFFER;
}

/* What the processor has changed is what the instruction is said to write. */
static void check_writes(const struct form *f, const struct act *act,
			 const struct statesample *s, const uint8_t *before)
{
	uint16_t writes = act_writes(act), stores = act_stores(act);
	uint64_t at = (uint64_t)act->mem.disp;

	for (unsigned r = 0; r < MACHINE_GPRS; r++)
		if (r != MACHINE_RSP && !(writes >> r & 1) && native_state.reg[r] != s->gpr[r])
			fail_at(f, "a register that is not written", s->gpr[r],
				native_state.reg[r]);
	if (!act_writes_flags(act) && (native_state.flags ^ s->rflags) & FLAGS_ALL)
		fail_at(f, "flags that are not written", s->rflags, native_state.flags);
	if (act->mem.base < MACHINE_GPRS)
		at += s->gpr[act->mem.base];
	if (act->mem.index < MACHINE_GPRS)
		at += s->gpr[act->mem.index] * act->mem.scale;
	for (unsigned i = 0; i < BUFFER && stores != UINT16_MAX; i++)
		if ((uint64_t)(uintptr_t)(buffer + i) - at >= stores && buffer[i] != before[i])
			fail_at(f, "memory that is not written", before[i], buffer[i]);
}

/* Runs one instruction on both sides.  False when the model would not follow it. */
static bool run_both(const struct form *f, bool blinded, struct machine *m)
{
	uint8_t before[BUFFER];
	struct statesample s = { .stack = { before, BUFFER } };
	enum unknown why;
	struct act act;

	for (unsigned r = 0; r < 16; r++)
		s.gpr[r] = any_value();
	/* rbx: where memory is */
	s.gpr[3] = (uint64_t)(uintptr_t)(buffer + MIDDLE);
	s.gpr[5] = any() % 4;						/* rbp: its index */
	s.gpr[7] = (uint64_t)(uintptr_t)(buffer + any() % 64);		/* strings */
	s.gpr[6] = (uint64_t)(uintptr_t)(buffer + 128 + any() % 64);
	s.gpr[2] = any() % 2 ? s.gpr[2] : any() % 3;			/* quotients that fit */
	s.rflags = (any() & FLAGS_ALL) | FLAGS_FIXED;
	for (unsigned i = 0; i < BUFFER; i++)
		before[i] = buffer[i] = (uint8_t)(any() % 3 ? any() : 0);
	machine_start(m, &no_file, &s);
	m->memory.stack_at = (uint64_t)(uintptr_t)buffer;
	act_lower((struct bytes){ f->bytes, f->len }, 0, &act);
	/* what it would not follow the processor cannot either */
	struct machine whole = *m;
	if (!act.len || machine_step(&whole, &act, &why) != STEP_ON)
		return false;
	if (blinded)
		blind(m);
	if (machine_step(m, &act, &why) != STEP_ON)
		return false;
	memcpy(native_state.reg, s.gpr, sizeof(s.gpr));
	native_state.flags = s.rflags;
	memcpy(code, f->bytes, f->len);
	code[f->len] = 0xc3;
	native_run();
	compare(f, m);
	check_writes(f, &act, &s, before);
	return true;
}

/* --- forms --- */

enum shape {
	REG, MEM, REG_REG, REG_MEM, MEM_REG, REG_IMM, MEM_IMM, REG_CL, MEM_CL, REG_REG_IMM,
	REG_REG_CL, REG_REG_REG, NONE_AT_ALL,
};

static ZydisRegister register_of(unsigned bits, bool may_be_high)
{
	static const uint8_t usable[] = { 0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	unsigned n = usable[any() % sizeof(usable)];
	ZydisRegisterClass class = bits == 64 ? ZYDIS_REGCLASS_GPR64 :
				   bits == 32 ? ZYDIS_REGCLASS_GPR32 : ZYDIS_REGCLASS_GPR16;

	if (bits != 8)
		return ZydisRegisterEncode(class, (ZyanU8)n);
	if (may_be_high && n < 3 && any() % 3 == 0)
		return (ZydisRegister)(ZYDIS_REGISTER_AH + n);
	static const ZydisRegister low[] = { ZYDIS_REGISTER_AL,
					     ZYDIS_REGISTER_CL,
					     ZYDIS_REGISTER_DL,
					     0,
					     0,
					     0,
					     ZYDIS_REGISTER_SIL,
					     ZYDIS_REGISTER_DIL,
					     ZYDIS_REGISTER_R8B,
					     ZYDIS_REGISTER_R9B,
					     ZYDIS_REGISTER_R10B,
					     ZYDIS_REGISTER_R11B,
					     ZYDIS_REGISTER_R12B,
					     ZYDIS_REGISTER_R13B,
					     ZYDIS_REGISTER_R14B,
					     ZYDIS_REGISTER_R15B };
	return low[n];
}

static void operand(ZydisEncoderOperand *o, char kind, unsigned bits)
{
	*o = (ZydisEncoderOperand){ 0 };
	switch (kind) {
	case 'r':
		o->type = ZYDIS_OPERAND_TYPE_REGISTER;
		o->reg.value = register_of(bits, true);
		break;
	case 'c':
		o->type = ZYDIS_OPERAND_TYPE_REGISTER;
		o->reg.value = ZYDIS_REGISTER_CL;
		break;
	case 'i':
		o->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
		o->imm.s = bits == 8 ? (int8_t)any() : any() % 2 ? (int8_t)any() : bits == 16 ?
			   (int16_t)any() : (int32_t)any();
		break;
	case 'b':				/* a count or the number of a bit */
		o->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
		o->imm.u = any() % 3 ? any() % 66 : 1;
		break;
	default:
		o->type = ZYDIS_OPERAND_TYPE_MEMORY;
		o->mem.base = ZYDIS_REGISTER_RBX;
		o->mem.index = any() % 2 ? ZYDIS_REGISTER_RBP : ZYDIS_REGISTER_NONE;
		o->mem.scale = o->mem.index ? (ZyanU8)(1u << any() % 4) : 0;
		o->mem.displacement = (int)(any() % 64) - 32;
		o->mem.size = (ZyanU16)(bits / 8);
	}
}

/* False when there is no such instruction (high bytes beside REX registers, say). */
static bool encode(ZydisMnemonic mnemonic, const char *kinds, const unsigned *bits,
		   struct form *out)
{
	ZydisEncoderRequest req = { .machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
				    .mnemonic = mnemonic };
	ZyanUSize n = sizeof(out->bytes);

	for (; kinds[req.operand_count]; req.operand_count++)
		operand(&req.operands[req.operand_count], kinds[req.operand_count],
			bits[req.operand_count]);
	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&req, out->bytes, &n)))
		return false;
	out->len = (uint8_t)n;
	(void)snprintf(out->text, sizeof(out->text), "%s %s %u",
		       ZydisMnemonicGetString(mnemonic), kinds, bits[0]);
	return true;
}

/* Runs an instruction in random forms; the number of times it was followed. */
static unsigned try_forms(ZydisMnemonic mnemonic, const char *kinds, const unsigned *bits,
			  bool whole)
{
	unsigned followed = 0;
	struct form f;
	struct machine m;

	for (int i = 0; i < ROUNDS; i++) {
		if (!encode(mnemonic, kinds, bits, &f))
			continue;
		bool undefined_result = mnemonic == ZYDIS_MNEMONIC_BSF ||
					mnemonic == ZYDIS_MNEMONIC_BSR ||
					(bits[0] == 16 && (mnemonic == ZYDIS_MNEMONIC_SHLD ||
							   mnemonic == ZYDIS_MNEMONIC_SHRD));
		if (run_both(&f, false, &m)) {
			followed++;
			for (unsigned r = 0; r < MACHINE_GPRS && whole && !undefined_result;
			     r++)
				if (m.reg[r].known != 0xff)
					fail_at(&f, "known", m.reg[r].known, 0xff);
		}
		(void)run_both(&f, true, &m);		/* compares what it followed */
	}
	return followed;
}

static const struct {
	ZydisMnemonic mnemonic;
	const char *kinds;		/* alternatives */
	bool no_bytes;
	const char *feature;
} modelled[] = {
	{ ZYDIS_MNEMONIC_ADD, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_ADC, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_SUB, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_SBB, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_CMP, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_TEST, "rr mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_AND, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_OR, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_XOR, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_MOV, "rr rm mr ri mi", false, NULL },
	{ ZYDIS_MNEMONIC_XCHG, "rr mr", false, NULL },
	{ ZYDIS_MNEMONIC_XADD, "rr mr", false, NULL },
	{ ZYDIS_MNEMONIC_NOT, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_NEG, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_INC, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_DEC, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_MUL, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_IMUL, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_IMUL, "rr rm rri rmi", true, NULL },
	{ ZYDIS_MNEMONIC_DIV, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_IDIV, "r m", false, NULL },
	{ ZYDIS_MNEMONIC_SHL, "rb mb rc mc", false, NULL },
	{ ZYDIS_MNEMONIC_SHR, "rb mb rc mc", false, NULL },
	{ ZYDIS_MNEMONIC_SAR, "rb mb rc mc", false, NULL },
	{ ZYDIS_MNEMONIC_ROL, "rb mb rc mc", false, NULL },
	{ ZYDIS_MNEMONIC_ROR, "rb mb rc mc", false, NULL },
	{ ZYDIS_MNEMONIC_SHLD, "rrb rrc mrb mrc", true, NULL },
	{ ZYDIS_MNEMONIC_SHRD, "rrb rrc mrb mrc", true, NULL },
	{ ZYDIS_MNEMONIC_BT, "rr rb mb", true, NULL },
	{ ZYDIS_MNEMONIC_BTS, "rr rb mb", true, NULL },
	{ ZYDIS_MNEMONIC_BTR, "rr rb mb", true, NULL },
	{ ZYDIS_MNEMONIC_BTC, "rr rb mb", true, NULL },
	{ ZYDIS_MNEMONIC_BSF, "rr rm", true, NULL },
	{ ZYDIS_MNEMONIC_BSR, "rr rm", true, NULL },
	{ ZYDIS_MNEMONIC_BSWAP, "r", true, NULL },
	{ ZYDIS_MNEMONIC_POPCNT, "rr rm", true, "popcnt" },
	{ ZYDIS_MNEMONIC_LZCNT, "rr rm", true, "bmi2" },
	{ ZYDIS_MNEMONIC_TZCNT, "rr rm", true, "bmi" },
	{ ZYDIS_MNEMONIC_ANDN, "rrr rrm", true, "bmi" },
	{ ZYDIS_MNEMONIC_BLSR, "rr rm", true, "bmi" },
	{ ZYDIS_MNEMONIC_BLSI, "rr rm", true, "bmi" },
	{ ZYDIS_MNEMONIC_BLSMSK, "rr rm", true, "bmi" },
};

static bool has(const char *feature)
{
	if (!feature)
		return true;
	return strcmp(feature, "popcnt") == 0 ? __builtin_cpu_supports("popcnt") :
	       strcmp(feature, "bmi2") == 0 ? __builtin_cpu_supports("bmi2") :
					      __builtin_cpu_supports("bmi");
}

/* Every operand of a shape as wide as the first, but for counts in cl. */
static unsigned try_shape(ZydisMnemonic mnemonic, const char *kinds, unsigned bits, bool whole)
{
	unsigned width[4] = { bits, bits, bits, bits };

	return try_forms(mnemonic, kinds, width, whole);
}

static unsigned try_shapes(ZydisMnemonic mnemonic, const char *shapes, unsigned bits,
			   bool whole)
{
	unsigned followed = 0;
	char kinds[8];
	int n;

	for (const char *s = shapes; sscanf(s, "%7s%n", kinds, &n) == 1; s += n) {
		unsigned got = try_shape(mnemonic, kinds, bits, whole);

		if (whole && got == 0 && !(mnemonic == ZYDIS_MNEMONIC_BSWAP && bits == 16))
			fail_msg("%s %s %u was never followed",
				 ZydisMnemonicGetString(mnemonic), kinds, bits);
		followed += got;
	}
	return followed;
}

static void modelled_instructions_do_what_the_processor_does(void **state)
{
	static const unsigned widths[] = { 8, 16, 32, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(modelled) / sizeof(modelled[0]); i++) {
		bool exact = modelled[i].mnemonic != ZYDIS_MNEMONIC_BSWAP;
		bool bmi = modelled[i].feature && strcmp(modelled[i].feature, "bmi") == 0 &&
			   modelled[i].mnemonic != ZYDIS_MNEMONIC_TZCNT;

		for (unsigned w = modelled[i].no_bytes; w < 4 && has(modelled[i].feature); w++)
			if ((exact || widths[w] >= 32) && (!bmi || widths[w] >= 32))
				(void)try_shapes(modelled[i].mnemonic, modelled[i].kinds,
						 widths[w], true);
	}
	assert_true(compared > 1000000);
}

static void extensions_do_what_the_processor_does(void **state)
{
	static const struct { ZydisMnemonic mnemonic; unsigned to, from; } ext[] = {
		{ ZYDIS_MNEMONIC_MOVZX, 16, 8 }, { ZYDIS_MNEMONIC_MOVZX, 32, 8 },
		{ ZYDIS_MNEMONIC_MOVZX, 64, 8 }, { ZYDIS_MNEMONIC_MOVZX, 32, 16 },
		{ ZYDIS_MNEMONIC_MOVZX, 64, 16 }, { ZYDIS_MNEMONIC_MOVSX, 16, 8 },
		{ ZYDIS_MNEMONIC_MOVSX, 32, 8 }, { ZYDIS_MNEMONIC_MOVSX, 64, 8 },
		{ ZYDIS_MNEMONIC_MOVSX, 32, 16 }, { ZYDIS_MNEMONIC_MOVSX, 64, 16 },
		{ ZYDIS_MNEMONIC_MOVSXD, 64, 32 },
	};
	static const ZydisMnemonic signs[] = { ZYDIS_MNEMONIC_CBW,  ZYDIS_MNEMONIC_CWDE,
					       ZYDIS_MNEMONIC_CDQE, ZYDIS_MNEMONIC_CWD,
					       ZYDIS_MNEMONIC_CDQ,  ZYDIS_MNEMONIC_CQO,
					       ZYDIS_MNEMONIC_CLC,  ZYDIS_MNEMONIC_STC,
					       ZYDIS_MNEMONIC_CMC,  ZYDIS_MNEMONIC_NOP };
	unsigned none[4] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(ext) / sizeof(ext[0]); i++) {
		unsigned bits[4] = { ext[i].to, ext[i].from };

		assert_true(try_forms(ext[i].mnemonic, "rr", bits, true) > 0);
		assert_true(try_forms(ext[i].mnemonic, "rm", bits, true) > 0);
	}
	for (unsigned width = 16; width <= 64; width *= 2) {
		unsigned bits[4] = { width, 64 };

		assert_true(try_forms(ZYDIS_MNEMONIC_LEA, "rm", bits, true) > 0);
	}
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		assert_true(try_forms(signs[i], "", none, true) > 0);
}

static void conditions_hold_as_for_the_processor(void **state)
{
	static const ZydisMnemonic set[] = { ZYDIS_MNEMONIC_SETO,  ZYDIS_MNEMONIC_SETNO,
					     ZYDIS_MNEMONIC_SETB,  ZYDIS_MNEMONIC_SETNB,
					     ZYDIS_MNEMONIC_SETZ,  ZYDIS_MNEMONIC_SETNZ,
					     ZYDIS_MNEMONIC_SETBE, ZYDIS_MNEMONIC_SETNBE,
					     ZYDIS_MNEMONIC_SETS,  ZYDIS_MNEMONIC_SETNS,
					     ZYDIS_MNEMONIC_SETP,  ZYDIS_MNEMONIC_SETNP,
					     ZYDIS_MNEMONIC_SETL,  ZYDIS_MNEMONIC_SETNL,
					     ZYDIS_MNEMONIC_SETLE, ZYDIS_MNEMONIC_SETNLE };
	static const ZydisMnemonic cmov[] = {
		ZYDIS_MNEMONIC_CMOVO, ZYDIS_MNEMONIC_CMOVNO, ZYDIS_MNEMONIC_CMOVB,
		ZYDIS_MNEMONIC_CMOVNB, ZYDIS_MNEMONIC_CMOVZ, ZYDIS_MNEMONIC_CMOVNZ,
		ZYDIS_MNEMONIC_CMOVBE, ZYDIS_MNEMONIC_CMOVNBE, ZYDIS_MNEMONIC_CMOVS,
		ZYDIS_MNEMONIC_CMOVNS, ZYDIS_MNEMONIC_CMOVP, ZYDIS_MNEMONIC_CMOVNP,
		ZYDIS_MNEMONIC_CMOVL, ZYDIS_MNEMONIC_CMOVNL, ZYDIS_MNEMONIC_CMOVLE,
		ZYDIS_MNEMONIC_CMOVNLE };

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		(void)try_shapes(set[i], "r m", 8, true);
		for (unsigned bits = 16; bits <= 64; bits *= 2)
			(void)try_shapes(cmov[i], "rr rm", bits, true);
	}
}

/* Not modelled: what they write is unknown, and nothing else. */
static void other_instructions_leave_nothing_wrong(void **state)
{
	static const struct {
		ZydisMnemonic mnemonic;
		const char *kinds;
		unsigned bits;
		const char *feature;
	} other[] = {
		{ ZYDIS_MNEMONIC_RCL, "rb", 32, NULL },
		{ ZYDIS_MNEMONIC_RCR, "rc", 64, NULL },
		{ ZYDIS_MNEMONIC_CMPXCHG, "mr", 32, NULL },
		{ ZYDIS_MNEMONIC_CMPXCHG, "rr", 8, NULL },
		{ ZYDIS_MNEMONIC_LAHF, "", 0, NULL },
		{ ZYDIS_MNEMONIC_SAHF, "", 0, NULL },
		{ ZYDIS_MNEMONIC_STOSB, "", 0, NULL },
		{ ZYDIS_MNEMONIC_STOSQ, "", 0, NULL },
		{ ZYDIS_MNEMONIC_LODSB, "", 0, NULL },
		{ ZYDIS_MNEMONIC_MOVSB, "", 0, NULL },
		{ ZYDIS_MNEMONIC_MOVSQ, "", 0, NULL },
		{ ZYDIS_MNEMONIC_SCASB, "", 0, NULL },
		{ ZYDIS_MNEMONIC_CMPSB, "", 0, NULL },
		{ ZYDIS_MNEMONIC_CPUID, "", 0, NULL },
		{ ZYDIS_MNEMONIC_MOVBE, "rm", 32, "bmi2" },
		{ ZYDIS_MNEMONIC_PEXT, "rrr", 64, "bmi2" },
		{ ZYDIS_MNEMONIC_BZHI, "rrr", 32, "bmi2" },
		{ ZYDIS_MNEMONIC_SHLX, "rrr", 64, "bmi2" },
		{ ZYDIS_MNEMONIC_RORX, "rrb", 64, "bmi2" },
		{ ZYDIS_MNEMONIC_MULX, "rrr", 64, "bmi2" },
		{ ZYDIS_MNEMONIC_BEXTR, "rrr", 32, "bmi" },
	};
	static const struct form bytes[] = {
		{ { 0x66, 0x0f, 0xd7, 0xc0 }, 4, "pmovmskb %xmm0, %eax" },
		{ { 0x0f, 0x29, 0x03 }, 3, "movaps %xmm0, (%rbx)" },
		{ { 0x0f, 0x2e, 0xc1 }, 3, "ucomiss %xmm1, %xmm0" },
		{ { 0x66, 0x48, 0x0f, 0x7e, 0xc0 }, 5, "movq %xmm0, %rax" },
		{ { 0xf2, 0x48, 0x0f, 0x2c, 0xc8 }, 5, "cvttsd2si %xmm0, %rcx" },
		{ { 0x66, 0x0f, 0x38, 0x17, 0xc1 }, 5, "ptest %xmm1, %xmm0" },
		{ { 0x67, 0x8d, 0x0c, 0x2b }, 4, "lea (%ebx,%ebp), %ecx" },
	};
	struct machine m;

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		unsigned bits[4] = { other[i].bits, other[i].bits, other[i].bits,
				     other[i].bits };

		if (has(other[i].feature))
			assert_true(try_forms(other[i].mnemonic, other[i].kinds, bits, false) >
				    0);
	}
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		for (int k = 0; k < ROUNDS; k++) {
			assert_true(run_both(&bytes[i], false, &m));
			(void)run_both(&bytes[i], true, &m);
		}
}

/* The bit may be anywhere from the operand's address on. */
static void bits_of_strings_are_stored_who_knows_where(void **state)
{
	static const uint8_t btc[] = { 0x48, 0x0f, 0xbb, 0x0b },
			     by_number[] = { 0x48, 0x0f, 0xba, 0x3b, 5 };
	struct act act;

	(void)state;
	act_lower((struct bytes){ btc, sizeof(btc) }, 0, &act);
	assert_int_equal(act.kind, ACT_OTHER);
	assert_int_equal(act.stores, UINT16_MAX);
	act_lower((struct bytes){ by_number, sizeof(by_number) }, 0, &act);
	assert_int_equal(act.kind, ACT_ALU);
}

static int make_room(void **state)
{
	(void)state;
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (code == MAP_FAILED)
		return -1;
	void *start = code;
	memcpy(&native_code, &start, sizeof(start));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modelled_instructions_do_what_the_processor_does),
		cmocka_unit_test(extensions_do_what_the_processor_does),
		cmocka_unit_test(conditions_hold_as_for_the_processor),
		cmocka_unit_test(other_instructions_leave_nothing_wrong),
		cmocka_unit_test(bits_of_strings_are_stored_who_knows_where),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_room, NULL);
}
