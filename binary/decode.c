/* decode.c - decodes one instruction by Zydis and reduces it to what moving it needs
 *
 * Instructions that cannot be moved without a closer look do not decode here:
 *   - operands relative to eip (prefix 67): their address wraps at 4 GiB;
 *   - branches, calls and returns with an operand size prefix that counts: 66 without REX.W
 *     truncates the target and the return address on one vendor's processors and not on the
 *     other's;
 *   - addresses of 32 bits by SIB without a base, with REX.B set (or VEX and its like): Zydis 4
 *     says that r13d is the base, the processor takes the displacement.
 *
 * Tested by tests/unit/binary/test_decode.c.
 */
#include "binary/decode_form.h"

#include "binary/decoder.h"

enum { PREFIX_OPERAND_SIZE = 0x66 };

static uint8_t kind_of(const ZydisDecodedInstruction *in)
{
	bool relative = in->raw.imm[0].is_relative;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_NOP:
		return INSN_NOP;
	case ZYDIS_MNEMONIC_CALL:
		return relative ? INSN_CALL : INSN_ICALL;
	case ZYDIS_MNEMONIC_JMP:
		return relative ? INSN_JMP : INSN_IJMP;
	case ZYDIS_MNEMONIC_LOOP: case ZYDIS_MNEMONIC_LOOPE: case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JCXZ: case ZYDIS_MNEMONIC_JECXZ: case ZYDIS_MNEMONIC_JRCXZ:
		return INSN_LOOP;
	case ZYDIS_MNEMONIC_XBEGIN:
		return INSN_XBEGIN;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_IRET: case ZYDIS_MNEMONIC_IRETD: case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET: case ZYDIS_MNEMONIC_SYSEXIT: case ZYDIS_MNEMONIC_UIRET:
		return INSN_RET;
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2:
		return INSN_TRAP;
	default:
		return in->meta.category == ZYDIS_CATEGORY_COND_BR && relative ? INSN_JCC
									       : INSN_PLAIN;
	}
}

static bool has_effective_operand_size_prefix(const ZydisDecodedInstruction *in)
{
	if (in->raw.rex.W)
		return false;
	for (int i = 0; i < in->raw.prefix_count; i++)
		if (in->raw.prefixes[i].value == PREFIX_OPERAND_SIZE)
			return true;
	return false;
}

/* The bit that extends the base register's number; VEX and its like have it inverted. */
static bool extends_base(const ZydisDecodedInstruction *in)
{
	switch (in->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return !in->raw.vex.B;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		return !in->raw.evex.B;
	case ZYDIS_INSTRUCTION_ENCODING_XOP:
		return !in->raw.xop.B;
	default:
		return in->raw.rex.B;
	}
}

static bool has_doubtful_base(const ZydisDecodedInstruction *in)
{
	enum { SIB_NO_BASE = 5 };

	return in->address_width != 64 && (in->attributes & ZYDIS_ATTRIB_HAS_SIB) &&
	       in->raw.modrm.mod == 0 && in->raw.sib.base == SIB_NO_BASE && extends_base(in);
}

/* Finds the position-dependent field; false when it is one that cannot be moved. */
static bool find_field(const ZydisDecodedInstruction *in, struct insn *out)
{
	if (in->raw.imm[0].is_relative) {
		if (in->raw.imm[0].size != 8 && in->raw.imm[0].size != 32)
			return false;
		out->field = in->raw.imm[0].offset;
		out->field_size = in->raw.imm[0].size / 8 & 0x7f;
	} else if ((in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && in->raw.modrm.mod == 0 &&
		   in->raw.modrm.rm == 5 && in->raw.disp.size == 32 && out->kind != INSN_NOP) {
		if (in->address_width != 64)
			return false;
		out->field = in->raw.disp.offset;
		out->field_size = 4;
	}
	return true;
}

static void add_constant(struct insn_form *out, uint8_t off, bool is_wide, bool is_signed)
{
	out->constant[out->nconstant++] = (struct insn_constant){ off, is_wide, is_signed };
}

/* Displacements of 64 bits are whole addresses (movabs); addresses of 32 bits (prefix 67) have
 * no sign. */
static void find_constants(const ZydisDecodedInstruction *in, struct insn_form *out)
{
	uint8_t disp = in->raw.disp.size;

	if (disp == 64 ||
	    (disp == 32 && !(in->raw.modrm.mod == 0 && in->raw.modrm.rm == 5)))
		add_constant(out, in->raw.disp.offset, disp == 64, in->address_width == 64);
	for (int i = 0; i < 2; i++)
		if (in->raw.imm[i].size >= 32 && !in->raw.imm[i].is_relative)
			add_constant(out, in->raw.imm[i].offset, in->raw.imm[i].size == 64,
				     in->raw.imm[i].is_signed);
}

bool insn_fuses(struct bytes code)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext context;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeInstruction(decoder(), &context, code.p, code.n, &in)))
		return false;
	switch (in.mnemonic) {
	case ZYDIS_MNEMONIC_CMP: case ZYDIS_MNEMONIC_TEST: case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return true;
	default:
		return false;
	}
}

/* First and last of opcodes that take prefixes without effect. */
struct opcodes {
	uint8_t from, to;
};

static bool has(const struct opcodes *row, uint32_t n, uint8_t opcode)
{
	for (uint32_t i = 0; i < n; i++)
		if (opcode >= row[i].from && opcode <= row[i].to)
			return true;
	return false;
}

/* Of registers and constants only: then no fault can tell a handler how long it is. */
static bool is_of_registers(const uint8_t *code, uint32_t left, bool two)
{
	enum { REGISTERS = 3, LEA = 0x8d, IMMEDIATES = 0xb0 };

	if (!two && (code[0] == LEA || (code[0] & 0xf0) == IMMEDIATES ||
		     (code[0] < 0x40 && (code[0] & 7) >= 4) ||
		     (code[0] >= 0x98 && code[0] <= 0xa9)))
		return true;		/* no operand in memory, with ModRM or without */
	return left > 1 && code[1] >> 6 == REGISTERS;
}

uint32_t insn_front_room(const struct insn *insn, const uint8_t *code)
{
	enum { OPERAND_SIZE = 0x66, REX = 0x40, ESCAPE = 0x0f };
	/* no prefixes, stack accesses, string instructions, division, groups 4 and 5 */
	static const struct opcodes one[] = {
		{ 0x00, 0x05 }, { 0x08, 0x0d }, { 0x10, 0x15 }, { 0x18, 0x1d }, { 0x20, 0x25 },
		{ 0x28, 0x2d }, { 0x30, 0x35 }, { 0x38, 0x3d }, { 0x63, 0x63 }, { 0x69, 0x69 },
		{ 0x6b, 0x6b }, { 0x80, 0x81 }, { 0x83, 0x8b }, { 0x8d, 0x8d }, { 0x98, 0x99 },
		{ 0xa8, 0xa9 }, { 0xb0, 0xc1 }, { 0xc7, 0xc7 }, { 0xd0, 0xd3 },
	};
	/* no system instructions, fences, NOPs; nor what has floating point exceptions */
	static const struct opcodes two[] = {
		{ 0x10, 0x17 }, { 0x28, 0x29 }, { 0x40, 0x50 }, { 0x54, 0x57 }, { 0x90, 0x9f },
		{ 0xa3, 0xa5 }, { 0xab, 0xad }, { 0xaf, 0xaf }, { 0xb6, 0xb7 }, { 0xbc, 0xbf },
	};
	/* these are of vectors with the operand size prefix only; without it they may tell
	 * what is wrong with the x87 unit */
	static const struct opcodes vector[] = {
		{ 0x60, 0x76 }, { 0x7e, 0x7f }, { 0xd1, 0xe5 }, { 0xe8, 0xf6 }, { 0xf8, 0xfe },
	};
	uint32_t i = 0;

	if (insn->kind != INSN_PLAIN)
		return 0;
	while (i < insn->len && code[i] == OPERAND_SIZE)
		i++;
	bool sized = i > 0;
	i += i < insn->len && (code[i] & 0xf0) == REX;
	if (i + 1u >= insn->len)
		return 0;
	bool is_two = code[i] == ESCAPE;
	bool known = is_two ? has(two, sizeof(two) / sizeof(*two), code[i + 1]) ||
			      (sized && has(vector, sizeof(vector) / sizeof(*vector),
					    code[i + 1])) :
			      has(one, sizeof(one) / sizeof(*one), code[i]);
	uint32_t left = INSN_MAX_LENGTH - insn->len;
	uint32_t room = known && i < INSN_PREFIXES_MAX ? INSN_PREFIXES_MAX - i : 0;

	if (!known || !is_of_registers(code + i + is_two, insn->len - i - is_two, is_two))
		return 0;
	if (room > INSN_FRONT_MAX)
		room = INSN_FRONT_MAX;
	return room < left ? room : left;
}

bool insn_form_read(struct bytes code, struct insn_form *out)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext context;
	uint64_t n = code.n < INSN_MAX_LENGTH ? code.n : INSN_MAX_LENGTH;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(), &context, code.p, n, &in)))
		return false;
	struct insn_form form = { .insn = { .len = in.length, .kind = kind_of(&in) },
				  .has_modrm = in.attributes & ZYDIS_ATTRIB_HAS_MODRM };
	bool goes_elsewhere = form.insn.kind != INSN_PLAIN && form.insn.kind != INSN_NOP &&
			      form.insn.kind != INSN_TRAP;
	if ((goes_elsewhere && has_effective_operand_size_prefix(&in)) ||
	    has_doubtful_base(&in) || !find_field(&in, &form.insn))
		return false;
	find_constants(&in, &form);
	form.insn.constants = form.nconstant > 0;
	*out = form;
	return true;
}

static bool is_prefix(uint8_t byte)
{
	static const uint8_t legacy[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3
	};

	return (byte & 0xf0) == 0x40 || memchr(legacy, byte, sizeof(legacy));
}

bool insn_calls_system(struct bytes code, uint32_t len)
{
	enum { ESCAPE = 0x0f, SYSCALL = 0x05, SYSENTER = 0x34 };

	if (len < 2 || code.n < len || code.p[len - 2] != ESCAPE ||
	    (code.p[len - 1] != SYSCALL && code.p[len - 1] != SYSENTER))
		return false;
	for (uint32_t i = 0; i < len - 2; i++)
		if (!is_prefix(code.p[i]))
			return false;
	return true;
}
