/* decode_form.h - an instruction's form: all that is known of it without its constants' values
 *
 * Internal to the decoder: decode.c asks Zydis for a form, decode_memo.c remembers the answers.
 */
#ifndef BINARY_DECODE_FORM_H
#define BINARY_DECODE_FORM_H

#include "binary/decode.h"

enum { INSN_MAX_LENGTH = 15 };

struct insn_constant {		/* 4 bytes of the instruction, or 8 */
	uint8_t off;
	bool is_wide, is_signed;
};

struct insn_form {
	struct insn insn;		/* off is 0 */
	uint8_t nconstant;
	bool has_modrm;
	struct insn_constant constant[INSN_MAX_CONSTANTS];
};

/* Asks Zydis.  False when `code` does not begin with one complete instruction that can be
 * moved. */
bool insn_form_read(struct bytes code, struct insn_form *out);
/* The same answer, from memory if it was given before. */
bool insn_form_recall(struct bytes code, struct insn_form *out);

#endif
