/* decode.c - one instruction through Zydis, reduced to what moving it needs
 *
 * What cannot be moved blindly does not decode here:
 *   - operands relative to eip (prefix 67): their address wraps at 4 GiB;
 *   - branches with an operand size prefix that counts: 66 without REX.W truncates the target
 *     on one vendor's processors and not on the other's.
 */
#include "binary/decode_form.h"

#include <Zydis/Zydis.h>

enum { PREFIX_OPERAND_SIZE = 0x66 };

static const ZydisDecoder *decoder(void)
{
	static ZydisDecoder d;
	static bool ready;

	if (!ready) {
		(void)ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		ready = true;		/* constant arguments: cannot fail */
	}
	return &d;
}

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

/* Finds the position-dependent field; false when it is one that cannot be moved. */
static bool find_field(const ZydisDecodedInstruction *in, struct insn *out)
{
	if (in->raw.imm[0].is_relative) {
		if (has_effective_operand_size_prefix(in) ||
		    (in->raw.imm[0].size != 8 && in->raw.imm[0].size != 32))
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

static void find_constants(const ZydisDecodedInstruction *in, struct insn_form *out)
{
	if (in->raw.disp.size == 32 && !(in->raw.modrm.mod == 0 && in->raw.modrm.rm == 5))
		add_constant(out, in->raw.disp.offset, false, true);
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

uint32_t insn_front_room(const struct insn *insn, const uint8_t *code)
{
	enum { OPERAND_SIZE = 0x66, REX = 0x40, ESCAPE = 0x0f };
	/* no prefixes, string instructions, division, groups 4 and 5 */
	static const struct opcodes one[] = {
		{ 0x00, 0x05 }, { 0x08, 0x0d }, { 0x10, 0x15 }, { 0x18, 0x1d }, { 0x20, 0x25 },
		{ 0x28, 0x2d }, { 0x30, 0x35 }, { 0x38, 0x3d }, { 0x50, 0x5f }, { 0x63, 0x63 },
		{ 0x68, 0x6b }, { 0x80, 0x81 }, { 0x83, 0x8b }, { 0x8d, 0x8d }, { 0x98, 0x99 },
		{ 0xa8, 0xa9 }, { 0xb0, 0xc1 }, { 0xc7, 0xc7 }, { 0xd0, 0xd3 },
	};
	/* no system instructions, fences, NOPs */
	static const struct opcodes two[] = {
		{ 0x10, 0x17 }, { 0x28, 0x2f }, { 0x40, 0x7f }, { 0x90, 0x9f }, { 0xa3, 0xa5 },
		{ 0xab, 0xad }, { 0xaf, 0xaf }, { 0xb6, 0xb7 }, { 0xbc, 0xbf }, { 0xd0, 0xfe },
	};
	uint32_t i = 0;

	if (insn->kind != INSN_PLAIN)
		return 0;
	while (i < insn->len && code[i] == OPERAND_SIZE)
		i++;
	i += i < insn->len && (code[i] & 0xf0) == REX;
	bool known = i + 1u < insn->len && code[i] == ESCAPE ?
		     has(two, sizeof(two) / sizeof(*two), code[i + 1]) :
		     i < insn->len && has(one, sizeof(one) / sizeof(*one), code[i]);
	uint32_t left = INSN_MAX_LENGTH - insn->len;
	uint32_t room = known && i < INSN_PREFIXES_MAX ? INSN_PREFIXES_MAX - i : 0;

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
	if (!find_field(&in, &form.insn))
		return false;
	find_constants(&in, &form);
	form.insn.constants = form.nconstant > 0;
	*out = form;
	return true;
}
