/* opcodes.h - instructions of every map, for tests of the decoder
 *
 * A space is a way to encode and a map.  Of each space all opcodes and all ModRM bytes are
 * made, each with prefixes and bits of REX, VEX, EVEX or XOP by chance; of the legacy maps also
 * all combinations of prefixes and REX with all opcodes.  What follows ModRM is by chance, too;
 * SIB and rip-relative forms come with their share of the ModRM bytes.
 */
#ifndef TESTS_UNIT_OPCODES_H
#define TESTS_UNIT_OPCODES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { OPCODES_MAX = 15, OPCODES_LEGACY = 5, OPCODES_SPACES = 17 };
/* 66, F3 or F2, F0, 67, a segment, REX: numbers of choices */
enum { OPCODES_PREFIXES = 2 * 3 * 2 * 2 * 7 * 17 };

struct opcodes {
	uint64_t made, rounds, seed;
	uint32_t space, opcode, modrm, prefixes;
	bool all;			/* every combination of prefixes with every ModRM */
	bool by_prefix;			/* now: prefixes in order, ModRM by chance */
};

static inline struct opcodes opcodes_first(uint64_t rounds, bool all)
{
	return (struct opcodes){ .rounds = rounds, .seed = 1, .all = all };
}

static inline uint8_t opcodes_any(struct opcodes *o)
{
	o->seed = o->seed * 6364136223846793005 + 1442695040888963407;
	return (uint8_t)(o->seed >> 56);
}

/* Number `n` of all combinations; returns the bytes that it has. */
static inline uint32_t opcodes_prefix(uint32_t n, uint8_t *code)
{
	static const uint8_t segment[] = { 0, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65 };
	static const uint8_t repeat[] = { 0, 0xf3, 0xf2 };
	uint32_t at = 0, rex = n % 17, seg = n / 17 % 7, rep = n / 119 % 3, bits = n / 357;

	if (bits & 1)
		code[at++] = 0x66;
	if (repeat[rep])
		code[at++] = repeat[rep];
	if (bits & 2)
		code[at++] = 0xf0;
	if (segment[seg])
		code[at++] = segment[seg];
	if (bits & 4)
		code[at++] = 0x67;
	for (uint32_t i = 1; i < at; i++) {	/* in another order */
		uint32_t k = (n * 7 + i) % (i + 1);
		uint8_t was = code[i];

		code[i] = code[k];
		code[k] = was;
	}
	if (rex)
		code[at++] = (uint8_t)(0x40 + rex - 1);
	return at;
}

/* Mostly few prefixes. */
static inline uint32_t opcodes_some_prefix(struct opcodes *o, bool rex)
{
	static const uint32_t common[] = { 0, 9, 357, 357 + 9, 119, 238, 119 + 9, 238 + 9, 1, 5,
					   2, 3 };
	uint32_t n = opcodes_any(o) % 2 ? common[opcodes_any(o) % 12] :
		     (opcodes_any(o) | (uint32_t)opcodes_any(o) << 8) % OPCODES_PREFIXES;

	return rex ? n : n - n % 17;
}

static inline uint32_t opcodes_vex(struct opcodes *o, uint8_t map, uint8_t *code)
{
	uint8_t ends = opcodes_any(o);

	/* vvvv 1111 in half of them: many know no other */
	if (opcodes_any(o) % 2)
		ends |= 0x78;
	if (map == 0) {				/* the short form */
		code[0] = 0xc5;
		code[1] = ends;
		return 2;
	}
	code[0] = map >= 8 ? 0x8f : 0xc4;
	code[1] = (uint8_t)((opcodes_any(o) & 0xe0) | map);
	code[2] = ends;
	return 3;
}

static inline uint32_t opcodes_evex(struct opcodes *o, uint8_t map, uint8_t *code)
{
	uint8_t ends = opcodes_any(o) | 0x04, last = opcodes_any(o);

	if (opcodes_any(o) % 2) {
		ends |= 0x78;
		last |= 0x08;
	}
	if (opcodes_any(o) % 2)
		last &= 0x7f;			/* no zeroing */
	code[0] = 0x62;
	code[1] = (uint8_t)((opcodes_any(o) & 0xf0) | map);
	code[2] = ends;
	code[3] = last;
	return 4;
}

/* Prefixes and escape bytes of a space; opcode and ModRM follow. */
static inline uint32_t opcodes_front(struct opcodes *o, uint32_t prefixes, uint8_t *code)
{
	static const uint8_t vex[] = { 0, 1, 2, 3, 8, 9, 10 }, evex[] = { 1, 2, 3, 5, 6 };
	uint32_t at = opcodes_prefix(prefixes, code);

	switch (o->space) {
	case 4: case 1:
		code[at++] = 0x0f;
		if (o->space == 4)
			code[at++] = 0x0f;	/* 3DNow: the opcode stands at the end */
		/* fall through */
	case 0:
		return at;
	case 2: case 3:
		code[at++] = 0x0f;
		code[at++] = o->space == 2 ? 0x38 : 0x3a;
		return at;
	default:
		/* any prefix but a segment or 67 makes these undefined */
		if (opcodes_any(o) % 8)
			at = 0;
		if (o->space < OPCODES_LEGACY + sizeof(vex))
			return at + opcodes_vex(o, vex[o->space - OPCODES_LEGACY], code + at);
		return at + opcodes_evex(o, evex[o->space - OPCODES_LEGACY - sizeof(vex)],
					 code + at);
	}
}

static inline void opcodes_make(struct opcodes *o, uint32_t prefixes, uint8_t modrm,
				uint8_t *code)
{
	uint8_t whole[2 * OPCODES_MAX];
	uint32_t at = opcodes_front(o, prefixes, whole);

	if (o->space != OPCODES_LEGACY - 1)
		whole[at++] = (uint8_t)o->opcode;
	whole[at++] = modrm;
	for (uint32_t i = at; i < sizeof(whole); i++)
		whole[i] = opcodes_any(o);
	if (o->space == OPCODES_LEGACY - 1) {	/* behind SIB and displacement */
		bool sib = modrm >> 6 != 3 && (modrm & 7) == 4;
		uint32_t disp = modrm >> 6 == 1 ? 1 : modrm >> 6 == 2 ? 4 :
				modrm >> 6 == 0 && ((modrm & 7) == 5 ||
						    (sib && (whole[at] & 7) == 5)) ? 4 : 0;

		whole[at + sib + disp] = (uint8_t)o->opcode;
	}
	memcpy(code, whole, OPCODES_MAX);
	o->made++;
}

/* False when all have been made. */
static inline bool opcodes_next(struct opcodes *o, uint8_t *code)
{
	bool by_prefix = o->by_prefix || (o->all && o->space < OPCODES_LEGACY);

	if (o->space == OPCODES_SPACES || (o->by_prefix && o->space == OPCODES_LEGACY))
		return false;
	opcodes_make(o, by_prefix ? o->prefixes :
		     opcodes_some_prefix(o, o->space < OPCODES_LEGACY),
		     o->by_prefix ? opcodes_any(o) : (uint8_t)o->modrm, code);
	if (by_prefix && ++o->prefixes < OPCODES_PREFIXES)
		return true;
	o->prefixes = 0;
	if (!o->by_prefix && ++o->modrm < 256)
		return true;
	o->modrm = 0;
	if (++o->opcode < 256)
		return true;
	o->opcode = 0;
	if (++o->space < (o->by_prefix ? OPCODES_LEGACY : OPCODES_SPACES))
		return true;
	if (o->all)
		return true;			/* the next call ends it */
	if (o->by_prefix && o->rounds-- <= 1)
		return true;
	o->space = 0;
	o->by_prefix = !o->by_prefix;
	return true;
}

#endif
