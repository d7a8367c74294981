/* tableload.c - rewrites the instruction that reads a jump table's entry to read another table
 *
 *   REX? opcode ModRM SIB       ModRM: no displacement, or one of 8 bits that is 0
 *   REX? opcode ModRM SIB disp32
 *
 * In front of it, where nothing bounds the index:
 *   cmp $n, index               n of 8 or 32 bits
 *   jae rel32
 */
#include "postmorph/tables/tableload.h"

#include <string.h>

enum { MOVSXD = 0x63, MOV = 0x8b, WITH_SIB = 4, NO_BASE = 5 };
enum { DISP8 = 1, DISP32 = 0x80, DISP_SIZE = 4 };
enum { REX = 0x40, REX_W = 8, REX_X = 2, REX_B = 1, SCALE_4 = 2, NO_INDEX = 4 };
enum { CMP8 = 0x83, CMP32 = 0x81, CMP_REG = 0xf8, ESCAPE = 0x0f, JAE = 0x83, JAE_SIZE = 6 };

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

/* Number of the register with the index of entries of 4 bytes; -1: there is none. */
static int find_index(struct bytes code)
{
	uint32_t at = find_displacement(code);
	uint8_t rex = at ? code.p[0] : 0;

	if (at == 0)
		return -1;
	int index = (code.p[at - 1] >> 3 & 7) |
		    ((rex & 0xf0) == REX && (rex & REX_X) ? 8 : 0);
	return code.p[at - 1] >> 6 == SCALE_4 && index != NO_INDEX ? index : -1;
}

uint32_t tableload_guard_size(struct bytes code, uint32_t n)
{
	if (find_index(code) < 0 || n > INT32_MAX)
		return 0;
	return (n <= INT8_MAX ? 4 : 7) + JAE_SIZE;
}

void tableload_guard_write(struct bytes code, uint32_t n, uint8_t *out)
{
	int index = find_index(code);

	*out++ = (uint8_t)(REX | REX_W | (index >= 8 ? REX_B : 0));
	*out++ = n <= INT8_MAX ? CMP8 : CMP32;
	*out++ = (uint8_t)(CMP_REG | (index & 7));
	for (int i = 0; i < (n <= INT8_MAX ? 1 : 4); i++)
		*out++ = (uint8_t)(n >> 8 * i);
	*out++ = ESCAPE;
	*out++ = JAE;
}
