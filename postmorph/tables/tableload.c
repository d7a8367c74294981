/* tableload.c - rewrites the instruction that reads a jump table's entry to read another table
 *
 *   REX? opcode ModRM SIB       ModRM: no displacement, or one of 8 bits that is 0
 *   REX? opcode ModRM SIB disp32
 */
#include "postmorph/tables/tableload.h"

#include <string.h>

enum { MOVSXD = 0x63, MOV = 0x8b, WITH_SIB = 4, NO_BASE = 5 };
enum { DISP8 = 1, DISP32 = 0x80, DISP_SIZE = 4 };

/* Bytes in front of the displacement, 0 if it is no such instruction. */
static uint32_t find_displacement(struct bytes code)
{
	struct rd r = rd_of(code);
	uint8_t opcode = rd_u8(&r);

	if ((opcode & 0xf0) == 0x40)
		opcode = rd_u8(&r);
	uint8_t modrm = rd_u8(&r), sib = rd_u8(&r), mod = modrm >> 6;
	uint32_t at = (uint32_t)(code.n - rd_left(&r));

	if ((opcode != MOVSXD && opcode != MOV) || (modrm & 7) != WITH_SIB || mod > DISP8 ||
	    (mod == 0 && (sib & 7) == NO_BASE) || (mod == DISP8 && rd_u8(&r) != 0))
		return 0;
	return !r.bad && rd_left(&r) == 0 ? at : 0;
}

uint32_t tableload_size(struct bytes code)
{
	uint32_t at = find_displacement(code);

	return at ? at + DISP_SIZE : 0;
}

void tableload_write(struct bytes code, int32_t shift, uint8_t *out)
{
	uint32_t at = find_displacement(code);

	memcpy(out, code.p, at);
	out[at - 2] = (uint8_t)(DISP32 | (out[at - 2] & 0x3f));
	memcpy(out + at, &shift, DISP_SIZE);
}
