/* kinds_counting.h - damage to what a counting generation has besides images
 *
 * The start maps the counters before anything else runs; a counter is an instruction of seven
 * bytes, `incq COUNTER(%rip)`.  Where they are is found without the Verifier: the start is
 * where an executable begins, counters are what Zydis reads as such.
 */
#ifndef TESTS_VERIFY_KINDS_COUNTING_H
#define TESTS_VERIFY_KINDS_COUNTING_H

#include "tests/verify/foreign.h"

enum { COUNTER_LEN = 7, COUNTING_START_LEN = 86 };
static const uint8_t counter_code[] = { 0x48, 0xff, 0x05 };

static bool is_counting(const struct foreign *t)
{
	return section(t, ".morph.counters") != NULL;
}

static bool is_counter(const struct foreign *t, const struct foreign_insn *x)
{
	const Elf64_Shdr *s = section(t, ".morph.counters");
	const uint8_t *p = t->pristine.p + x->off;
	int32_t d;

	if (!s || x->len != COUNTER_LEN ||
	    memcmp(p, counter_code, sizeof(counter_code)) != 0)
		return false;
	memcpy(&d, p + sizeof(counter_code), sizeof(d));
	/* addresses and file offsets of code are of one distance in a segment */
	for (uint32_t i = 0; i < header(t)->e_phnum; i++) {
		const Elf64_Phdr *ph = &program_headers(t)[i];

		if (ph->p_type == PT_LOAD && x->off - ph->p_offset < ph->p_filesz)
			return ph->p_vaddr + (x->off - ph->p_offset) + COUNTER_LEN +
				       (uint64_t)(int64_t)d - s->sh_addr < s->sh_size;
	}
	return false;
}

/* NULL: there is none. */
static const struct foreign_insn *pick_counter(struct foreign *t)
{
	uint64_t first = below(t, t->ninsn);

	for (uint32_t i = 0; i < t->ninsn && is_counting(t); i++) {
		const struct foreign_insn *x = &t->insn[(first + i) % t->ninsn];

		if (is_counter(t, x))
			return x;
	}
	return NULL;
}

static bool damage_start(struct foreign *t)
{
	uint64_t at = offset_of(t, header(t)->e_entry);

	if (!is_counting(t) || !at)
		return false;
	t->gen[at + below(t, COUNTING_START_LEN)] ^= (uint8_t)(1 << below(t, 8));
	return true;
}

static bool damage_start_order(struct foreign *t)
{
	uint64_t at = offset_of(t, header(t)->e_entry), i = below(t, COUNTING_START_LEN - 1);

	if (!is_counting(t) || !at)
		return false;
	t->gen[at + i] = t->pristine.p[at + i + 1];
	t->gen[at + i + 1] = t->pristine.p[at + i];
	return true;
}

/* It counts elsewhere: near its word, or anywhere. */
static bool damage_counter_word(struct foreign *t)
{
	const struct foreign_insn *x = pick_counter(t);
	int32_t d;

	if (!x)
		return false;
	memcpy(&d, t->gen + x->off + sizeof(counter_code), sizeof(d));
	d += (int32_t)(below(t, 2) ? below(t, 65) - 32 : below(t, 1 << 24) - (1 << 23));
	memcpy(t->gen + x->off + sizeof(counter_code), &d, sizeof(d));
	return true;
}

/* Another operation on its word. */
static bool damage_counter_code(struct foreign *t)
{
	static const uint8_t other[][3] = {
		{ 0x48, 0xff, 0x0d },	/* decq */
		{ 0x48, 0xf7, 0x15 },	/* notq */
		{ 0x48, 0xf7, 0x1d },	/* negq */
		{ 0x48, 0xd1, 0x05 },	/* rolq */
		{ 0x48, 0xd1, 0x2d },	/* shrq */
		{ 0x48, 0x01, 0x05 },	/* addq %rax */
		{ 0x48, 0x87, 0x05 },	/* xchgq %rax */
		{ 0x48, 0x8b, 0x05 },	/* movq, %rax */
		{ 0x48, 0x89, 0x25 },	/* movq %rsp */
		{ 0x48, 0x8d, 0x05 },	/* leaq, %rax */
		{ 0x66, 0xff, 0x05 },	/* incw */
		{ 0x64, 0xff, 0x05 },	/* incl %fs: */
	};
	const struct foreign_insn *x = pick_counter(t);

	if (!x)
		return false;
	memcpy(t->gen + x->off, other[below(t, sizeof(other) / sizeof(other[0]))], 3);
	return true;
}

static bool damage_counter_gone(struct foreign *t)
{
	static const uint8_t nop[COUNTER_LEN] = { 0x0f, 0x1f, 0x80 };
	const struct foreign_insn *x = pick_counter(t);

	if (x)
		memcpy(t->gen + x->off, nop, COUNTER_LEN);
	return x != NULL;
}

/* A counter changes places with the instruction before or behind it, where flags may be live;
 * its word stays the same. */
static bool damage_counter_place(struct foreign *t)
{
	const struct foreign_insn *x = pick_counter(t);
	uint8_t moved[COUNTER_LEN];
	int32_t d;

	if (!x)
		return false;
	const struct foreign_insn *y = x > t->insn && (x + 1 == t->insn + t->ninsn ||
						       below(t, 2)) ? x - 1 : x + 1;
	uint32_t from = x->off < y->off ? x->off : y->off;
	uint32_t at = x->off < y->off ? from + y->len : from;
	if ((x->off < y->off ? x->off + x->len : y->off + y->len) !=
	    (x->off < y->off ? y->off : x->off))
		return true;		/* padding between them: no damage, not counted */
	memcpy(moved, t->pristine.p + x->off, COUNTER_LEN);
	memcpy(&d, moved + sizeof(counter_code), sizeof(d));
	d -= (int32_t)at - (int32_t)x->off;
	memcpy(moved + sizeof(counter_code), &d, sizeof(d));
	memcpy(t->gen + (x->off < y->off ? from : from + COUNTER_LEN), t->pristine.p + y->off,
	       y->len);
	memcpy(t->gen + at, moved, COUNTER_LEN);
	return true;
}

/* A counter more, over whatever code was there. */
static bool damage_counter_added(struct foreign *t)
{
	const struct foreign_insn *x = pick_counter(t), *y = &t->insn[below(t, t->ninsn)];
	int32_t d;

	if (!x)
		return false;
	memcpy(&d, t->pristine.p + x->off + sizeof(counter_code), sizeof(d));
	d -= (int32_t)y->off - (int32_t)x->off;
	memcpy(t->gen + y->off, counter_code, sizeof(counter_code));
	memcpy(t->gen + y->off + sizeof(counter_code), &d, sizeof(d));
	return true;
}

#endif
