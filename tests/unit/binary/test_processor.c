/* test_processor.c - what is said of instructions, against the processor
 *
 * Instructions of all maps (tests/unit/opcodes.h) that do no harm are run one at a time, twice:
 * the second time all registers and flags that are said not to be read have other values.  Then
 *
 *   - it is as long as the decoder says, and goes on where its kind and target say;
 *   - what is said not to be written is as before;
 *   - what is said to be overwritten is the same both times: nothing else was read;
 *   - what is said not to fault does not, and the stack moves as is said;
 *   - moves, sums and masks on the way to a jump table give what is said;
 *   - with the prefixes that it may get it does the same.
 *
 * Asked are the decoder, the Verifier (effect.c) and the Editor (absop.c, flags.c).  Flags that
 * the manuals leave undefined are left out, and so are long vectors, x87, segments and the
 * system.  PROCESSOR_ROUNDS=N tries N times as many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "postmorph/machine/flags.h"
#include "postmorph/tables/absop.h"
#include "tests/unit/onestep.h"
#include "tests/unit/opcodes.h"
#include "verify/effect.h"

enum {
	/* addresses in registers, times up to 9, are in the space; code is, too */
	SPACE = 0x00c00000, SPACE_SIZE = 0x0c000000, CODE = 0x01200000, PLACES = 0x01000000,
	STACK = 0x01080000, DISTANCE = 0x00100000, PAGE = 4096,
	WINDOW = 64, RCX = 1, RSP = 4, ONE_IN = 10,
	CONDITIONS = 0x8d5,		/* CF PF AF ZF SF OF */
};

struct claim {			/* of the Verifier or the Editor */
	const char *who;
	uint16_t reads, reads16, reads8;	/* all, 16 or 8 bits */
	uint16_t kills, written;	/* overwritten as a whole; perhaps, or in part */
	uint16_t kills16, kills8;	/* of the latter: exactly these bits are */
	uint64_t flags_read, flags_written;	/* as in rflags */
	uint64_t flags_perhaps;		/* or not: nothing is said of them */
};

struct trial {
	uint8_t code[OPCODES_MAX + INSN_FRONT_MAX];
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	struct insn insn;
	vaddr target;
	struct effect e;
	uint64_t undefined;		/* flags */
};

static ZydisDecoder decoder;
static uint8_t *const page = (uint8_t *)CODE;
static uint64_t seed = 0x9e3779b97f4a7c15u, ran, faulted, unknown, padded;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t any_value(void)
{
	static const uint64_t edge[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
					 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX,
					 1ull << 63, UINT64_MAX };

	switch (any() % 4) {
	case 0: return edge[any() % (sizeof(edge) / sizeof(edge[0]))];
	case 1: return any() % 70;
	default: return any();
	}
}

static void fail_at(const struct trial *t, const char *who, const char *what, uint64_t have,
		    uint64_t want)
{
	char text[3 * OPCODES_MAX + 1] = "";

	for (uint32_t i = 0; i < t->in.length; i++)
		(void)snprintf(text + 3 * (size_t)i, 4, "%02x ", t->code[i]);
	fail_msg("%s(%s) %s: %s is %#llx on the processor, not %#llx", text,
		 ZydisMnemonicGetString(t->in.mnemonic), who, what, (unsigned long long)have,
		 (unsigned long long)want);
}

/* --- which --- */

static bool is_harmless_register(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8: case ZYDIS_REGCLASS_GPR16: case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64: case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_FLAGS:
	case ZYDIS_REGCLASS_IP:
		return true;
	default:
		return false;
	}
}

static bool is_harmless_category(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_BINARY: case ZYDIS_CATEGORY_LOGICAL: case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_CMOV: case ZYDIS_CATEGORY_SETCC: case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_ROTATE: case ZYDIS_CATEGORY_BITBYTE: case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_STRINGOP: case ZYDIS_CATEGORY_SEMAPHORE: case ZYDIS_CATEGORY_BMI1:
	case ZYDIS_CATEGORY_BMI2: case ZYDIS_CATEGORY_ADOX_ADCX: case ZYDIS_CATEGORY_LZCNT:
	case ZYDIS_CATEGORY_SSE: case ZYDIS_CATEGORY_AVX: case ZYDIS_CATEGORY_AVX2:
	case ZYDIS_CATEGORY_LOGICAL_FP: case ZYDIS_CATEGORY_NOP: case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_COND_BR: case ZYDIS_CATEGORY_UNCOND_BR: case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		return in->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR &&
		       in->meta.isa_set != ZYDIS_ISA_SET_RTM;
	case ZYDIS_CATEGORY_PUSH: case ZYDIS_CATEGORY_POP:
		return in->mnemonic == ZYDIS_MNEMONIC_PUSH ||
		       in->mnemonic == ZYDIS_MNEMONIC_POP;
	case ZYDIS_CATEGORY_FLAGOP:
		return in->mnemonic != ZYDIS_MNEMONIC_CLI && in->mnemonic != ZYDIS_MNEMONIC_STI;
	case ZYDIS_CATEGORY_MISC:
		return in->mnemonic == ZYDIS_MNEMONIC_LEA;
	default:
		return false;
	}
}

/* What changes nothing but registers, flags and the memory of its operands. */
static bool is_harmless(const struct trial *t)
{
	bool memory = false;

	if (!is_harmless_category(&t->in) ||
	    (t->in.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED))
		return false;
	for (int i = 0; i < t->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &t->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    !is_harmless_register(o->reg.value))
			return false;
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		memory = true;
		if (o->mem.segment == ZYDIS_REGISTER_FS ||
		    o->mem.segment == ZYDIS_REGISTER_GS ||
		    o->mem.type == ZYDIS_MEMOP_TYPE_VSIB || o->size > 8 * WINDOW)
			return false;
	}
	/* a bit of a string somewhere */
	return !(memory && t->in.meta.category == ZYDIS_CATEGORY_BITBYTE);
}

static uint64_t rflags_of(uint8_t conditions)	/* from CF PF AF ZF SF OF */
{
	return (conditions & 1) | (conditions & 2) << 1 | (conditions & 4) << 2 |
	       (conditions & 8) << 3 | (conditions & 16) << 3 | (conditions & 32) << 6;
}

/* Makes the instruction one whose operands are in the space; false when it cannot be run. */
static bool prepare(struct trial *t)
{
	struct bytes code = { t->code, OPCODES_MAX };

	for (int again = 0; again < 2; again++) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, t->code, OPCODES_MAX, &t->in,
							 t->op)))
			return false;
		uint32_t disp = DISTANCE + (any() & 0x7f8);

		if (t->in.raw.disp.size == 32 && !again)
			memcpy(t->code + t->in.raw.disp.offset, &disp, sizeof(disp));
	}
	t->undefined = t->in.cpu_flags ? t->in.cpu_flags->undefined & CONDITIONS : 0;
	/* of these Zydis does not say that they clear flags: that is the safe side */
	if (t->in.mnemonic == ZYDIS_MNEMONIC_VPTEST ||
	    t->in.mnemonic == ZYDIS_MNEMONIC_VTESTPS ||
	    t->in.mnemonic == ZYDIS_MNEMONIC_VTESTPD)
		t->undefined = CONDITIONS;
	return is_harmless(t) && insn_decode(code, CODE, &t->insn, &t->target) &&
	       effect_decode(code, CODE, &t->e);
}

/* --- what is said of it --- */

static uint16_t named(const struct effect *e)
{
	uint16_t a = (uint16_t)(1u << e->a), b = (uint16_t)(1u << e->b),
		 c = (uint16_t)(1u << e->c);

	switch ((enum effect_op)e->op) {
	case FX_COPY: case FX_COPY_LOW: case FX_EXTEND: case FX_LOAD: case FX_SCALE:
		return b;
	case FX_BITS: case FX_CHOOSE: case FX_LOW_BITS: case FX_ADD:
		return a | b;
	case FX_MIX: case FX_WORD: case FX_WORD_SUM: case FX_SUM:
		return b | c;
	case FX_PUSH: case FX_JUMP: case FX_SPILL:
		return a;
	default:
		return 0;
	}
}

static uint64_t flags_perhaps(const struct trial *t)
{
	const ZydisAccessedFlags *f = t->in.cpu_flags;

	return f ? f->modified | f->set_0 | f->set_1 | f->undefined : 0;
}

static struct claim claim_of_verifier(const struct trial *t)
{
	const struct effect *e = &t->e;
	struct claim c = { .who = "Verifier", .reads = e->reads | named(e) | 1 << RSP,
			   .reads16 = e->word_reads, .reads8 = e->low_reads,
			   .kills = e->kills, .written = e->clobbers,
			   .kills16 = e->word_kills, .kills8 = e->low_kills,
			   .flags_read = rflags_of(e->flags_read),
			   .flags_written = rflags_of(e->flags_written),
			   .flags_perhaps = rflags_of(e->repeats) | flags_perhaps(t) };

	return c;
}

/* Of flags alone (flags.c). */
static struct claim claim_of_flags(const struct trial *t)
{
	struct flags f = flags_of((struct bytes){ t->code, t->insn.len });

	return (struct claim){ .who = "Editor's flags", .reads = 0xffff, .written = 0xffff,
			       .flags_read = f.reads, .flags_written = f.writes,
			       .flags_perhaps = flags_perhaps(t) };
}

static struct claim claim_of_editor(const struct trial *t)
{
	struct bytes code = { t->code, t->insn.len };
	struct op op;

	op_decode(code, &t->insn, CODE, &op);
	struct claim c = { .who = "Editor", .reads = op.reads | 1 << RSP,
			   .reads16 = op.reads16, .reads8 = op.reads8,
			   .kills = op.writes & (uint16_t)~op.reads,
			   .written = op.partial | op.writes,
			   .kills16 = op.partial16,
			   .flags_read = rflags_of(op.flags_read),
			   .flags_written = rflags_of(op.flags_written),
			   .flags_perhaps = rflags_of(op.flags_repeated) |
					    flags_perhaps(t) };
	return c;
}

/* --- runs --- */

static bool is_address(const struct trial *t, unsigned reg)
{
	for (int i = 0; i < t->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &t->op[i];
		ZydisRegister part[] = { o->mem.base, o->mem.index };

		for (int k = 0; k < 2 && o->type == ZYDIS_OPERAND_TYPE_MEMORY; k++)
			if (part[k] != ZYDIS_REGISTER_NONE && part[k] != ZYDIS_REGISTER_RIP &&
			    (unsigned)ZydisRegisterGetId(part[k]) == reg)
				return true;
	}
	return false;
}

static void begin(const struct trial *t, struct onestep *s)
{
	const ZyanU64 repeats = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
				ZYDIS_ATTRIB_HAS_REPNE;

	*s = (struct onestep){ .flags = 0x202 | (any() & CONDITIONS), .pc = CODE };
	for (unsigned r = 0; r < 16; r++)
		s->reg[r] = is_address(t, r) ? PLACES + (any() & 0xffff8) : any_value();
	s->reg[RSP] = STACK;
	if (t->in.attributes & repeats)
		s->reg[RCX] = any() % 4;
}

/* Where the operands in memory are; the same is there each time. */
static unsigned fill_memory(const struct trial *t, const struct onestep *s, uint8_t **window)
{
	unsigned n = 0;

	for (int i = 0; i < t->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &t->op[i];
		ZydisRegisterContext context = { 0 };
		ZyanU64 at;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		for (unsigned r = 0; r < 16; r++) {
			context.values[ZYDIS_REGISTER_RAX + r] = s->reg[r];
			context.values[ZYDIS_REGISTER_EAX + r] = (uint32_t)s->reg[r];
		}
		if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&t->in, o, CODE, &context, &at)) ||
		    at < SPACE + WINDOW || at > SPACE + SPACE_SIZE - 2 * WINDOW)
			continue;
		window[n] = (uint8_t *)(uintptr_t)(at - WINDOW);
		for (unsigned k = 0; k < 3 * WINDOW; k++)
			window[n][k] = (uint8_t)(k * 37 + 11);
		n++;
	}
	return n;
}

static uint64_t sum_memory(uint8_t **window, unsigned n)
{
	uint64_t sum = 1;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < 3 * WINDOW; k++)
			sum = sum * 1099511628211u + window[i][k];
	return sum;
}

/* From *in to *out; the sum of what is in memory behind it. */
static uint64_t run(const struct trial *t, const struct onestep *in, uint32_t room,
		    struct onestep *out)
{
	uint8_t *window[ZYDIS_MAX_OPERAND_COUNT];
	unsigned n = fill_memory(t, in, window);

	memset(page, INSN_FRONT, room);
	memcpy(page + room, t->code, t->in.length);
	memset(page + room + t->in.length, 0xcc, OPCODES_MAX);
	*out = *in;
	onestep_run(out);
	return sum_memory(window, n);
}

/* --- comparisons --- */

static void check_place(const struct trial *t, const struct onestep *in,
			const struct onestep *out)
{
	uint64_t next = CODE + t->insn.len, pushed;

	switch ((enum insn_kind)t->insn.kind) {
	case INSN_PLAIN: case INSN_NOP:
		if (out->pc != next)
			fail_at(t, "decoder", "the place behind it", out->pc, next);
		break;
	case INSN_JMP: case INSN_CALL:
		if (out->pc != t->target)
			fail_at(t, "decoder", "the target", out->pc, t->target);
		break;
	case INSN_JCC: case INSN_LOOP:
		if (out->pc != next && out->pc != t->target)
			fail_at(t, "decoder", "where it goes on", out->pc, t->target);
		break;
	default:
		break;
	}
	if (t->insn.kind != INSN_CALL && t->insn.kind != INSN_ICALL)
		return;
	memcpy(&pushed, (void *)(uintptr_t)out->reg[RSP], sizeof(pushed));
	if (out->reg[RSP] != in->reg[RSP] - 8 || pushed != next)
		fail_at(t, "decoder", "the return address", pushed, next);
}

static void check_stack(const struct trial *t, const struct onestep *in,
			const struct onestep *out)
{
	bool named_kind = t->insn.kind == INSN_CALL || t->insn.kind == INSN_ICALL ||
			  t->insn.kind == INSN_RET;

	if (!named_kind && !t->e.moves_stack &&
	    out->reg[RSP] != in->reg[RSP] - 8 * (uint64_t)(int64_t)t->e.stack)
		fail_at(t, "Verifier", "rsp", out->reg[RSP], in->reg[RSP]);
}

/* As *in, but for what is not read. */
static struct onestep other_values(const struct claim *c, const struct onestep *in)
{
	struct onestep s = *in;

	for (unsigned r = 0; r < 16; r++) {
		uint64_t keep = c->reads >> r & 1 ? UINT64_MAX : c->reads16 >> r & 1 ? 0xffff :
				c->reads8 >> r & 1 ? 0xff : 0;

		s.reg[r] = (in->reg[r] & keep) | (any() & ~keep);
	}
	s.flags = in->flags ^ (any() & CONDITIONS & ~c->flags_read);
	return s;
}

struct pair {
	struct onestep in[2], out[2];
};

static const char *register_name(unsigned r)
{
	return ZydisRegisterGetString(ZydisRegisterEncode(ZYDIS_REGCLASS_GPR64, (ZyanU8)r));
}

static void check_register(const struct trial *t, const struct claim *c, const struct pair *p,
			   unsigned r)
{
	uint64_t overwritten = 0, kept = 0;

	if (c->kills >> r & 1)
		overwritten = UINT64_MAX;
	else if ((c->kills16 | c->kills8) >> r & 1)
		kept = ~(overwritten = c->kills16 >> r & 1 ? 0xffff : 0xff);
	else if (!(c->written >> r & 1))
		kept = UINT64_MAX;
	else if (p->in[0].reg[r] == p->in[1].reg[r])
		overwritten = UINT64_MAX;
	if ((p->out[0].reg[r] ^ p->out[1].reg[r]) & overwritten)
		fail_at(t, c->who, register_name(r), p->out[1].reg[r], p->out[0].reg[r]);
	for (int i = 0; i < 2; i++)
		if ((p->out[i].reg[r] ^ p->in[i].reg[r]) & kept)
			fail_at(t, c->who, register_name(r), p->out[i].reg[r],
				p->in[i].reg[r]);
}

static void check_flags(const struct trial *t, const struct claim *c, const struct pair *p)
{
	uint64_t defined = CONDITIONS & ~t->undefined;
	uint64_t same = ~(p->in[0].flags ^ p->in[1].flags);
	uint64_t overwritten = (c->flags_written | same) & defined;

	if ((p->out[0].flags ^ p->out[1].flags) & overwritten)
		fail_at(t, c->who, "a flag that is overwritten", p->out[1].flags & overwritten,
			p->out[0].flags & overwritten);
	uint64_t kept = defined & ~c->flags_written & ~c->flags_perhaps;
	for (int i = 0; i < 2; i++)
		if ((p->out[i].flags ^ p->in[i].flags) & kept)
			fail_at(t, c->who, "a flag that is not written", p->out[i].flags & kept,
				p->in[i].flags & kept);
}

/* *in was run, with *out and memory `sum` behind it. */
static void check_claim(const struct trial *t, const struct claim *c, const struct onestep *in,
			const struct onestep *out, uint64_t sum)
{
	struct pair p = { .in = { *in, other_values(c, in) }, .out = { *out } };

	uint64_t other = run(t, &p.in[1], 0, &p.out[1]);
	if (p.out[1].signal != out->signal)
		fail_at(t, c->who, "the signal", (uint64_t)p.out[1].signal,
			(uint64_t)out->signal);
	if (out->signal != SIGTRAP)
		return;
	if (p.out[1].pc != out->pc)
		fail_at(t, c->who, "where it goes on", p.out[1].pc, out->pc);
	if (other != sum && !(t->in.attributes & ZYDIS_ATTRIB_HAS_REP))
		fail_at(t, c->who, "memory", other, sum);
	for (unsigned r = 0; r < 16; r++)
		check_register(t, c, &p, r);
	check_flags(t, c, &p);
}

static void check_room(const struct trial *t, const struct onestep *in,
		       const struct onestep *out, uint64_t sum)
{
	uint32_t room = insn_front_room(&t->insn, t->code);
	bool placed = t->insn.field;	/* its operand would be another one */
	struct onestep other;

	if (room == 0 || placed)
		return;
	uint64_t now = run(t, in, room, &other);
	other.pc -= room;
	if (memcmp(&other, out, sizeof(other)) != 0 || now != sum)
		fail_at(t, "decoder", "what it does with prefixes", other.pc, out->pc);
	padded++;
}

/* What the Verifier's operation makes of *in, where that is one number. */
static bool result_of(const struct effect *e, const struct onestep *in, uint64_t *out)
{
	uint64_t a = in->reg[e->a], b = in->reg[e->b], c = in->reg[e->c];

	switch ((enum effect_op)e->op) {
	case FX_COPY: *out = b; return true;
	case FX_COPY_LOW: *out = (uint32_t)b; return true;
	case FX_EXTEND: *out = (uint64_t)(int64_t)(int32_t)b; return true;
	case FX_BASE: *out = e->value; return true;
	case FX_SCALE: *out = 4 * b; return true;
	case FX_ADD: *out = a + b; return true;
	case FX_SUM: *out = b + c; return true;
	default: return false;
	}
}

/* Of the others: the low bits of what they make depend on the low bits of their operands. */
static bool is_by_low_bits(const struct effect *e)
{
	return e->op == FX_BITS || e->op == FX_CHOOSE || e->op == FX_LOW_BITS ||
	       e->op == FX_MIX;
}

static void check_operation(const struct trial *t, const struct onestep *in,
			    const struct onestep *out)
{
	enum { LOW = 0xff };
	struct onestep other = *in, then;
	uint64_t want;

	if (result_of(&t->e, in, &want) && out->reg[t->e.a] != want)
		fail_at(t, "Verifier", "the result", out->reg[t->e.a], want);
	if (!is_by_low_bits(&t->e))
		return;
	for (unsigned r = 0; r < 16; r++)
		if (r != RSP && (named(&t->e) >> r & 1))
			other.reg[r] ^= any() & ~(uint64_t)LOW;
	(void)run(t, &other, 0, &then);
	if ((then.reg[t->e.a] ^ out->reg[t->e.a]) & LOW)
		fail_at(t, "Verifier", "the lowest bits", then.reg[t->e.a] & LOW,
			out->reg[t->e.a] & LOW);
}

/* The same of the Editor's. */
static void check_kind(const struct trial *t, const struct onestep *in,
		       const struct onestep *out)
{
	uint64_t a, b, want, all;
	struct op op;

	op_decode((struct bytes){ t->code, t->insn.len }, &t->insn, CODE, &op);
	if (op.dst >= ABS_NREG)
		return;
	all = op.bits == 64 ? UINT64_MAX : ((uint64_t)1 << op.bits) - 1;
	a = in->reg[op.dst];
	b = op.src < ABS_NREG ? in->reg[op.src] : 0;
	switch ((enum op_kind)op.kind) {
	case OP_MOVE:
		want = op.src_bits < 64 ? b & (((uint64_t)1 << op.src_bits) - 1) : b;
		if (op.sx && op.src_bits < 64)
			want = (uint64_t)((int64_t)(want << (64 - op.src_bits)) >>
					  (64 - op.src_bits)) & all;
		break;
	case OP_CONST: want = (uint64_t)op.imm & all; break;
	case OP_ADD: want = a + b; break;
	case OP_AND: want = (a & (uint64_t)op.imm) & all; break;
	case OP_SHR: want = (a & all) >> (op.imm & (op.bits == 64 ? 63 : 31)); break;
	default: return;
	}
	if ((out->reg[op.dst] ^ want) & all)
		fail_at(t, "Editor", "the result", out->reg[op.dst], want);
}

static void check(const struct trial *t)
{
	const struct claim verifier = claim_of_verifier(t), editor = claim_of_editor(t);
	const struct claim flags = claim_of_flags(t);
	struct onestep in, out;

	begin(t, &in);
	uint64_t sum = run(t, &in, 0, &out);
	if (out.signal == SIGILL) {
		unknown++;		/* to this processor */
		return;
	}
	if (out.signal != SIGTRAP) {
		faulted++;
		if (!t->e.faults && t->insn.kind == INSN_PLAIN)
			fail_at(t, "Verifier", "the signal", (uint64_t)out.signal, SIGTRAP);
	} else {
		check_place(t, &in, &out);
		check_stack(t, &in, &out);
		check_operation(t, &in, &out);
		check_kind(t, &in, &out);
		check_room(t, &in, &out, sum);
		ran++;
	}
	if (t->insn.kind != INSN_NOP)
		check_claim(t, &verifier, &in, &out, sum);
	check_claim(t, &editor, &in, &out, sum);
	check_claim(t, &flags, &in, &out, sum);
}

static void instructions_do_what_is_said_of_them(void **state)
{
	const char *rounds = getenv("PROCESSOR_ROUNDS");
	uint64_t n = rounds ? strtoull(rounds, NULL, 10) : 0;
	struct opcodes o = opcodes_first(n ? n : 1, false);
	void *space = mmap((void *)SPACE, SPACE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
			   -1, 0);
	struct trial t;

	(void)state;
	assert_ptr_equal(space, (void *)SPACE);
	assert_true(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
						  ZYDIS_STACK_WIDTH_64)));
	onestep_prepare();
	while (opcodes_next(&o, t.code))
		if ((n || any() % ONE_IN == 0) && prepare(&t))
			check(&t);
	print_message("# %llu instructions ran, %llu faulted, %llu are unknown to the "
		      "processor, %llu ran with prefixes\n", (unsigned long long)ran,
		      (unsigned long long)faulted, (unsigned long long)unknown,
		      (unsigned long long)padded);
	assert_true(ran > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_do_what_is_said_of_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
