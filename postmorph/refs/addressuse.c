/* addressuse.c - follows what code does with an address that it has formed
 *
 * The address of a function may only be replaced by that of its image where it is nothing but a
 * name for the function.  Code of the large model forms the address of the GOT from an address
 * that happens to be an entry; programs measure functions, or ask whether an address is between
 * two.  Code does all of that soon after the instruction that forms the address.  So a straight
 * line of code is followed, past conditional branches and calls, until all registers that hold
 * the address are overwritten or the line ends.
 *
 * A callee may do so, too.  Of those that read, write or protect the memory that they are
 * given, some are known by name, as far as they are called through the linkage table.
 *
 * The line is followed for MAX_STEPS instructions, a number that was chosen.
 *
 * Labels are mostly fetched from memory, so that nothing shows who calculates with them but the
 * jumps that go to them.
 *
 * Tested by tests/unit/editor/passes/test_redirect.c.
 */
#include "postmorph/refs/addressuse.h"

#include <string.h>

#include "binary/decoder.h"

enum { MAX_STEPS = 40 };
enum { CALLER_SAVED = 0x0fc7 };		/* rax rcx rdx rsi rdi r8..r11 */
enum { ARGUMENTS = 0x00c4 };		/* rdi, rsi, rdx */
enum { ALL_ARGUMENTS = 0x03c6 };	/* these, rcx, r8 and r9 */

struct follow {
	const struct text *t;
	vaddr at;			/* of the instruction */
	uint16_t held;			/* registers that hold the address */
	bool compared;			/* the flags are those of a comparison with it */
	vaddr call;			/* the first that has it as an argument, or 0 */
};

static uint16_t bit_of(ZydisRegister reg)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15)
		return 0;
	return (uint16_t)(1u << (full - ZYDIS_REGISTER_RAX));
}

static bool is_arithmetic(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_ADC: case ZYDIS_MNEMONIC_XADD:
	case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_SBB: case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC: case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_IMUL: case ZYDIS_MNEMONIC_DIV: case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_SHL: case ZYDIS_MNEMONIC_SHR: case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SHLD: case ZYDIS_MNEMONIC_SHRD: case ZYDIS_MNEMONIC_AND:
		return true;
	default:
		return false;
	}
}

static bool is_move(ZydisMnemonic m, ZydisInstructionCategory category)
{
	return m == ZYDIS_MNEMONIC_MOV || category == ZYDIS_CATEGORY_CMOV;
}

/* jcc, setcc and cmovcc: other conditions than equal and not equal. */
static bool asks_for_order(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR: case ZYDIS_CATEGORY_SETCC: case ZYDIS_CATEGORY_CMOV:
		break;
	default:
		return false;
	}
	return (in->opcode & 0x0e) != 0x04;
}

/* Registers that the operands use as `action` says, and those that they address memory by. */
static uint16_t registers(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o,
			  ZydisOperandActions action, uint16_t *address)
{
	uint16_t bits = 0;

	*address = 0;
	for (int i = 0; i < in->operand_count; i++) {
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER && (o[i].actions & action))
			bits |= bit_of(o[i].reg.value);
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			*address |= (uint16_t)(bit_of(o[i].mem.base) | bit_of(o[i].mem.index));
	}
	return bits;
}

/* How far something else is behind the address. */
static bool is_distance(uint16_t held, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *o)
{
	return in->mnemonic == ZYDIS_MNEMONIC_SUB && in->operand_width == 64 &&
	       o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && (bit_of(o[1].reg.value) & held) &&
	       o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && !(bit_of(o[0].reg.value) & held);
}

/* What arithmetic with the address tells of what it is. */
static enum address_use calculated(uint16_t held, const ZydisDecodedInstruction *in,
				   const ZydisDecodedOperand *o)
{
	if (is_distance(held, in, o))
		return USE_ORDERED;
	if (in->mnemonic == ZYDIS_MNEMONIC_AND)
		return USE_ROUNDED;
	return in->mnemonic == ZYDIS_MNEMONIC_SUB &&
	       o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ? USE_SUBTRACTED : USE_CALCULATED;
}

/* Copies, compares, writes out or protects what is at an address that it is given. */
static bool is_looker(const char *name)
{
	static const char *const names[] = {
		"memcpy", "memmove", "mempcpy", "memccpy", "bcopy", "__memcpy_chk",
		"__memmove_chk", "__mempcpy_chk", "memcmp", "bcmp", "__memcmpeq", "memchr",
		"memrchr", "rawmemchr", "memmem", "memset", "__memset_chk", "bzero",
		"explicit_bzero", "mprotect", "pkey_mprotect", "madvise", "msync", "mincore",
		"mlock", "munmap", "mremap", "prctl", "write", "pwrite", "pwrite64", "send",
		"sendto", "fwrite", "fwrite_unlocked",
	};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The address is an argument of such a function, that is called or jumped to. */
static bool is_looked_at(const struct follow *f, const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *o)
{
	const struct image *img = &f->t->prog->img;
	vaddr behind = f->at + in->length;

	if (!(f->held & ARGUMENTS) || (in->meta.category != ZYDIS_CATEGORY_CALL &&
				       in->meta.category != ZYDIS_CATEGORY_UNCOND_BR))
		return false;
	if (o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return is_looker(plt_stub_name(&f->t->plt, img, behind + o[0].imm.value.u));
	return o[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       o[0].mem.base == ZYDIS_REGISTER_RIP &&
	       is_looker(plt_name(&f->t->plt, behind + (vaddr)o[0].mem.disp.value));
}

/* A call, or a jump to another function or through the GOT that stands for one. */
static bool calls(const struct follow *f, const ZydisDecodedInstruction *in,
		  const ZydisDecodedOperand *o)
{
	if (in->meta.category == ZYDIS_CATEGORY_CALL)
		return true;
	if (in->meta.category != ZYDIS_CATEGORY_UNCOND_BR)
		return false;
	if (o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return text_piece(f->t, f->at + in->length + o[0].imm.value.u) !=
		       text_piece(f->t, f->at);
	return o[0].type == ZYDIS_OPERAND_TYPE_MEMORY && o[0].mem.base == ZYDIS_REGISTER_RIP;
}

/* What this instruction does with the address; if it only hands it on, what holds it
 * afterwards. */
static enum address_use step(struct follow *f, const ZydisDecodedInstruction *in,
			     const ZydisDecodedOperand *o)
{
	uint16_t address, reads = registers(in, o, ZYDIS_OPERAND_ACTION_MASK_READ, &address);
	uint16_t writes = registers(in, o, ZYDIS_OPERAND_ACTION_MASK_WRITE, &address);

	if (((address & f->held) && in->mnemonic != ZYDIS_MNEMONIC_NOP) ||
	    is_looked_at(f, in, o))
		return USE_CALCULATED;
	if ((reads & f->held) && is_arithmetic(in->mnemonic))
		return calculated(f->held, in, o);
	if (f->compared && asks_for_order(in))
		return USE_ORDERED;
	if (in->mnemonic == ZYDIS_MNEMONIC_CMP)
		f->compared = (reads & f->held) != 0;
	else if (in->cpu_flags && in->cpu_flags->modified)
		f->compared = false;
	if (!f->call && (f->held & ALL_ARGUMENTS) && calls(f, in, o))
		f->call = f->at;
	if (in->meta.category == ZYDIS_CATEGORY_CALL)
		writes |= CALLER_SAVED;
	if (is_move(in->mnemonic, in->meta.category) && (reads & f->held))
		f->held |= writes;
	else
		f->held &= (uint16_t)~writes;
	return USE_NAME;
}

static bool ends_line(ZydisInstructionCategory category)
{
	return category == ZYDIS_CATEGORY_UNCOND_BR || category == ZYDIS_CATEGORY_RET ||
	       category == ZYDIS_CATEGORY_INTERRUPT;
}

static enum address_use follow_use(struct follow *f)
{
	struct bytes code = image_rest(&f->t->prog->img, f->at);

	for (int i = 0; i < MAX_STEPS && (f->held || f->compared); i++) {
		ZydisDecodedInstruction in;
		ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &in, o)))
			return USE_NAME;
		enum address_use use = step(f, &in, o);
		if (use != USE_NAME || ends_line(in.meta.category))
			return use;
		code = (struct bytes){ code.p + in.length, code.n - in.length };
		f->at += in.length;
	}
	return USE_NAME;
}

enum address_use address_use(const struct text *t, vaddr at, uint8_t reg, vaddr *call)
{
	struct follow f = { .t = t, .at = at, .held = (uint16_t)(1u << reg) };
	enum address_use use = follow_use(&f);

	if (call)
		*call = f.call;
	return use;
}

bool address_is_ordered(const struct text *t, vaddr at)
{
	return follow_use(&(struct follow){ .t = t, .at = at, .compared = true }) ==
	       USE_ORDERED;
}

/* Its result does not depend on what it reads: xor of a register with itself. */
static bool is_zeroing(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o)
{
	return (in->mnemonic == ZYDIS_MNEMONIC_XOR || in->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].size >= 32 &&
	       o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].reg.value == o[1].reg.value;
}

/* Registers that the instruction puts the address in, when that, or to store it, is all that
 * it does with the address in `held`; -1 for all else. */
static int keep(uint16_t held, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o)
{
	uint16_t address, reads = registers(in, o, ZYDIS_OPERAND_ACTION_MASK_READ, &address);
	uint16_t writes = registers(in, o, ZYDIS_OPERAND_ACTION_MASK_WRITE, &address);

	if (in->meta.category == ZYDIS_CATEGORY_CALL)
		writes |= CALLER_SAVED;
	if ((address & held) && in->mnemonic != ZYDIS_MNEMONIC_NOP)
		return -1;
	if (!(reads & held) || is_zeroing(in, o))
		return held & ~writes;
	if (in->mnemonic == ZYDIS_MNEMONIC_MOV && in->operand_width == 64)
		return held | writes;
	return in->mnemonic == ZYDIS_MNEMONIC_PUSH ||
	       (in->mnemonic == ZYDIS_MNEMONIC_MOVQ && in->operand_width == 64) ? held : -1;
}

bool address_is_only_kept(struct bytes code, uint8_t reg)
{
	int held = 1 << reg;

	for (int i = 0; i < MAX_STEPS && held > 0; i++) {
		ZydisDecodedInstruction in;
		ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &in, o)))
			return false;
		held = keep((uint16_t)held, &in, o);
		if (held < 0 || ends_line(in.meta.category))
			break;
		code = (struct bytes){ code.p + in.length, code.n - in.length };
	}
	return held >= 0;
}

/* Where the values of registers come from, as far as one block shows. */
struct origins {
	uint16_t fetched, told;		/* from memory as they are; by a jump table */
	uint16_t written;		/* by the block */
	/* 1 + the register through which an entry of a table was read */
	uint8_t through[16];
};

static bool is_memory(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.segment != ZYDIS_REGISTER_FS &&
	       o->mem.segment != ZYDIS_REGISTER_GS;
}

static bool reads_memory(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o)
{
	return in->operand_count > 1 && is_memory(&o[1]);
}

/* Not of a frame, where compilers keep what they have calculated. */
static bool is_shared(const ZydisDecodedOperand *o)
{
	const ZydisDecodedOperandMem *mem = &o->mem;

	return is_memory(o) && mem->base != ZYDIS_REGISTER_RSP &&
	       (mem->base != ZYDIS_REGISTER_RBP || mem->index != ZYDIS_REGISTER_NONE ||
		mem->disp.value >= 0);
}

static uint8_t number_of(uint16_t bit)
{
	return (uint8_t)__builtin_ctz(bit);
}

/* The entry and the address that it was read by: what a jump table tells. */
static bool is_table_sum(const struct origins *from, const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *o)
{
	if (in->mnemonic != ZYDIS_MNEMONIC_ADD || o[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	uint16_t a = bit_of(o[0].reg.value), b = bit_of(o[1].reg.value);
	return a && b && (from->through[number_of(a)] == number_of(b) + 1 ||
			  from->through[number_of(b)] == number_of(a) + 1);
}

static void origins_step(struct origins *from, const ZydisDecodedInstruction *in,
			 const ZydisDecodedOperand *o)
{
	uint16_t address, reads = registers(in, o, ZYDIS_OPERAND_ACTION_MASK_READ, &address);
	uint16_t writes = registers(in, o, ZYDIS_OPERAND_ACTION_MASK_WRITE, &address);
	bool move = in->mnemonic == ZYDIS_MNEMONIC_MOV && in->operand_width == 64;
	bool fetched = move && ((in->operand_count > 1 && is_shared(&o[1])) ||
				(reads & from->fetched));
	bool told = is_table_sum(from, in, o) || (move && (reads & from->told));
	uint8_t through = 0;

	if (in->mnemonic == ZYDIS_MNEMONIC_MOVSXD && reads_memory(in, o) &&
	    o[1].mem.scale == 4 && o[1].mem.disp.value == 0 &&
	    (bit_of(o[1].mem.base) & ~from->fetched))
		through = (uint8_t)(number_of(bit_of(o[1].mem.base)) + 1);
	if (in->meta.category == ZYDIS_CATEGORY_CALL)
		writes |= CALLER_SAVED;
	from->written |= writes;
	from->fetched = (uint16_t)(fetched ? from->fetched | writes : from->fetched & ~writes);
	from->told = (uint16_t)(told ? from->told | writes : from->told & ~writes);
	for (uint8_t i = 0; i < 16; i++)
		if ((writes >> i & 1) ||
		    (from->through[i] && (writes >> (from->through[i] - 1) & 1)))
			from->through[i] = 0;
	for (uint8_t i = 0; i < 16; i++)
		if ((writes >> i & 1) && through && through != i + 1)
			from->through[i] = through;
}

static enum jump_way way_of(const struct origins *from, uint16_t reg)
{
	return from->fetched & reg ? WAY_FETCHED : from->told & reg ? WAY_TABLE :
	       from->written & reg ? WAY_CALCULATED : WAY_BROUGHT;
}

/* From the start of a block to the jump that ends it: its register, 0 for one to what memory
 * holds; or to the block's end, or to one to what a frame holds: -1. */
static int follow_block(struct bytes code, struct origins *from)
{
	while (code.n) {
		ZydisDecodedInstruction in;
		ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &in, o))) {
			from->written = UINT16_MAX;
			from->fetched = from->told = 0;
			break;
		}
		if (in.mnemonic == ZYDIS_MNEMONIC_JMP && !in.raw.imm[0].is_relative)
			return o[0].type == ZYDIS_OPERAND_TYPE_REGISTER
				       ? bit_of(o[0].reg.value)
				       : -!is_shared(&o[0]);
		origins_step(from, &in, o);
		code = (struct bytes){ code.p + in.length, code.n - in.length };
	}
	return -1;
}

enum jump_way address_way(struct bytes code, uint8_t *reg)
{
	struct origins from = { 0 };
	int jump = follow_block(code, &from);

	if (jump <= 0)
		return jump < 0 ? WAY_CALCULATED : WAY_FETCHED;
	*reg = number_of((uint16_t)jump);
	return way_of(&from, (uint16_t)jump);
}

struct address_origins address_origins(struct bytes code)
{
	struct origins from = { 0 };

	(void)follow_block(code, &from);
	return (struct address_origins){ from.fetched, from.written };
}

enum jump_way address_origin(struct bytes code, uint8_t reg)
{
	struct origins from = { 0 };

	(void)follow_block(code, &from);
	return way_of(&from, (uint16_t)(1u << reg));
}
