/* innerwords.c - no word of data leads inside code that has an image
 *
 * Tables of instructions that may fault, of branches that are patched, and of places that
 * handlers know hold addresses of instructions without relocations.  What such a word leads to,
 * other than the start of a function, must have no image.
 *
 * WORDS     Those of 32 and 64 bits, aligned ones where data are mixed and in notes, read as a
 *           distance from where they stand, and in programs linked to a fixed address words of
 *           64 bits as they are, which are aligned in notes only; in sections that are loaded,
 *           but for unwind tables and those that the linker makes.  In sections of code they
 *           stand where no FDE is, and are no part of a NOP.
 * ENTRIES   A distance to the start of a function in a section of its own lists it for who
 *           patches it: it must have no image either.
 * TABLES    What reads as a jump table for the code that forms its address (entries.c), or has
 *           been copied (casetables.c), leads inside of functions as well, and is left out.
 * CHANCE    Numbers lead to instructions by chance.  In sections of mixed data a word counts
 *           only if one of its two neighbours leads to code close by; or if both could stand in
 *           a table with it and one of the next two leads there.  That a single word there is
 *           none is assumption A6 in verify.c.  Nor does a distance count there when the words
 *           of its size around it that lead to functions, but for tables of the above, lead
 *           between instructions as often as not; but eight in a row that lead to
 *           instructions, with numbers between them or not, are a table, wherever they lead.
 *           A section with a name of its own is of mixed data if two in three do so in all of
 *           it, and so is one of code.
 *
 * Tested by tests/unit/verify/test_watchedcode.c.
 */
#include <stdlib.h>
#include <string.h>

#include "verify/lookup.h"

enum { HALF = 4, FULL = 8,		/* bytes of a word */
       SMALL = 4096,			/* what is less is a distance to code close by only */
       CLOSE = 1 << 16 };

struct tables {				/* ascending, apart from each other */
	VEC(struct vextent) all;
};

struct scan {
	struct verify *v;
	const struct section *s;
	const struct tables *tables;
	bool code, mixed;		/* code; data of all kinds */
	bool aligned;
	vaddr lo, hi;			/* of all segments */
};

static bool in_jump_table(const struct scan *s, vaddr at)
{
	const struct vextent *table = s->tables->all.v;
	uint32_t lo = 0, n = s->tables->all.n;	/* of those that may end behind it */

	while (n > 0) {
		uint32_t half = n / 2;

		if (table[lo + half].hi <= at) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo < s->tables->all.n && table[lo].lo <= at;
}

/* An instruction in the middle of a function, which has an image. */
static bool is_moved(const struct verify *v, vaddr to)
{
	uint32_t fde = image_is_exec(&v->orig, to) ? vcfi_find(&v->ocfi, to) : NO_FDE;

	return fde != NO_FDE && verify_is_start(v, to) && !verify_is_function(v, to) &&
	       blockmap_find_orig(&v->map, to);
}

enum kind { NONE, COUNT, DATA, CODE };

static bool leads_to_insn(const struct scan *s, vaddr to)
{
	return image_is_exec(&s->v->orig, to) && verify_is_start(s->v, to);
}

/* What could stand in a table beside an address: a small number, aligned data, code. */
static enum kind kind_of(const struct scan *s, uint64_t number, vaddr to, vaddr align)
{
	if (number < SMALL && !leads_to_insn(s, to))
		return COUNT;
	if (to < s->lo || to >= s->hi)
		return NONE;
	if (!image_is_exec(&s->v->orig, to))
		return to % align ? NONE : DATA;
	return vcfi_find(&s->v->ocfi, to) == NO_FDE || verify_is_start(s->v, to) ? CODE : NONE;
}

/* A half that is a distance, or a full word that is one or is an address as it is. */
enum read_as { AS_HALF, AS_DISTANCE, AS_ADDRESS };

static uint32_t bytes_of(enum read_as as)
{
	return as == AS_HALF ? HALF : FULL;
}

/* Where the word there leads. */
static vaddr target_of(const struct scan *s, vaddr at, enum read_as as)
{
	struct rd r = rd_of(image_at(&s->v->orig, at, bytes_of(as)));
	vaddr word = as == AS_HALF ? (vaddr)(int64_t)rd_s32(&r) : rd_u64(&r);

	return r.bad ? 0 : as == AS_ADDRESS ? word : at + word;
}

/* The half is, or runs into, what an FDE covers. */
static bool is_function_code(const struct scan *s, vaddr at)
{
	return s->code && (vcfi_find(&s->v->ocfi, at) != NO_FDE ||
			   vcfi_find(&s->v->ocfi, at + HALF - 1) != NO_FDE);
}

static bool runs_into_function(const struct scan *s, vaddr at, enum read_as as)
{
	return is_function_code(s, at) || is_function_code(s, at + bytes_of(as) - HALF);
}

/* The word leads to code with unwind information: to an instruction, or between two. */
enum leads { NOWHERE, BETWEEN, START };

static enum leads leads_of(const struct scan *s, vaddr at, enum read_as as)
{
	vaddr to = target_of(s, at, as);

	if (!image_is_exec(&s->v->orig, to) || vcfi_find(&s->v->ocfi, to) == NO_FDE ||
	    in_jump_table(s, at) || runs_into_function(s, at, as))
		return NOWHERE;
	return verify_is_start(s->v, to) ? START : BETWEEN;
}

/* How many of the words from `at` up to `end` lead to code; *starts to instructions. */
static uint64_t count_leading(const struct scan *s, vaddr at, vaddr end, enum read_as as,
			      uint64_t *starts)
{
	uint32_t size = bytes_of(as);
	uint64_t n = 0;

	for (*starts = 0; at < end && end - at >= size; at += size) {
		enum leads leads = leads_of(s, at, as);

		n += leads != NOWHERE;
		*starts += leads == START;
	}
	return n;
}

static bool is_within(const struct scan *s, vaddr at, uint64_t n)
{
	return at >= s->s->h.sh_addr && at + n <= s->s->h.sh_addr + s->s->h.sh_size;
}

/* At least eight words in a row lead to instructions, the one at `at` among them: between two
 * of them are fewer than 16, none of which leads between instructions. */
static bool stands_in_row(const struct scan *s, vaddr at, enum read_as as)
{
	enum { GAP = 16, ROW = 8 };
	uint32_t row = 1, size = bytes_of(as);

	for (int side = -1; side <= 1; side += 2) {
		vaddr last = 0;		/* steps to the last of the row so far */

		for (vaddr i = 1; row < ROW && i - last <= GAP; i++) {
			vaddr word = side < 0 ? at - i * size : at + i * size;

			if (!is_within(s, word, size) || leads_of(s, word, as) == BETWEEN)
				break;
			if (leads_of(s, word, as) == START) {
				last = i;
				row++;
			}
		}
	}
	return row >= ROW;
}

static vaddr first_half(const struct scan *s)
{
	return (s->s->h.sh_addr + HALF - 1) & ~(vaddr)(HALF - 1);
}

static vaddr end_of(const struct scan *s)
{
	return s->s->h.sh_addr + s->s->h.sh_size;
}

/* The whole section leads to instructions no more often than chance does. */
static bool holds_numbers(const struct scan *s)
{
	enum { MANY = 64 };
	uint64_t starts, n = count_leading(s, first_half(s), end_of(s), AS_HALF, &starts);

	return n >= MANY && 3 * starts <= n;
}

/* What stands around a distance, eight words on each side. */
static bool stands_in_numbers(const struct scan *s, vaddr at, enum read_as as)
{
	vaddr size = bytes_of(as), around = 8 * size, before = at - s->s->h.sh_addr;
	vaddr lo = at - (before > around ? around : before / size * size);
	vaddr hi = end_of(s) - at > around + size ? at + around + size : end_of(s);
	uint64_t starts, n = count_leading(s, lo, hi, as, &starts);

	return 2 * starts <= n;
}

/* Two equal numbers of 16 bits. */
static bool are_halves(uint64_t word)
{
	return (word & 0xffff) == (word >> 16 & 0xffff) && word;
}

/* What is left of a NOP that a word of code begins within: 0f 1f 84 00, 1f 40 00 00... */
static bool ends_nop(const struct scan *s, uint64_t word)
{
	static const uint8_t operand[] = { 0x40, 0x44, 0x80, 0x84 };

	for (uint32_t i = 0; s->code && i < sizeof(operand); i++)
		if (word == (0x1f | (uint64_t)operand[i] << 8) ||
		    word == (0x1f0f | (uint64_t)operand[i] << 16))
			return true;
	return false;
}

/* What the word there may be, and where it leads. */
static enum kind kind_at(const struct scan *s, vaddr at, enum read_as as, vaddr *to)
{
	enum { NEAR = 16 };
	struct rd r = rd_of(image_at(&s->v->orig, at, bytes_of(as)));
	int64_t number = as == AS_HALF ? rd_s32(&r) : (int64_t)rd_u64(&r);

	*to = (as == AS_ADDRESS ? 0 : at) + (vaddr)number;
	if (r.bad)
		return NONE;
	if (as == AS_HALF && (are_halves((uint64_t)number) || ends_nop(s, (uint64_t)number) ||
			      (number < 0 && number >= -NEAR && !leads_to_insn(s, *to))))
		return NONE;
	return kind_of(s, (uint64_t)number, *to, as == AS_HALF ? HALF : 1);
}

/* As the comment at the top says.  A full distance may also stand beside words whose first half
 * is one, and it is enough that of the full ones beside it one leads anywhere, or one of the
 * next two to any code.  Code of functions is beside nothing. */
static bool in_table(const struct scan *s, vaddr at, enum read_as as, vaddr place)
{
	bool leads = false, plausible = true;

	for (int i = -2; i <= 2; i++) {
		vaddr beside = at + (vaddr)(i * (int)bytes_of(as)), to = 0, half;

		if (i == 0 || !is_within(s, beside, bytes_of(as)) ||
		    runs_into_function(s, beside, as))
			continue;
		enum kind kind = kind_at(s, beside, as, &to);
		bool next = i == -1 || i == 1;
		bool close = kind == CODE && to - place + CLOSE < 2 * CLOSE;
		if (next && close)
			return true;
		if (next && kind == NONE &&
		    (as != AS_DISTANCE || kind_at(s, beside, AS_HALF, &half) == NONE))
			plausible = false;
		leads |= close;
		if (as == AS_DISTANCE)
			leads |= kind == CODE || (next && kind == DATA);
	}
	return leads && plausible;
}

/* The word is one of a table, and no number that leads to `place` by chance. */
static bool is_listed_by(const struct scan *s, vaddr at, enum read_as as, vaddr place)
{
	if (stands_in_row(s, at, as))
		return true;
	return in_table(s, at, as, place) &&
	       (as == AS_ADDRESS || !stands_in_numbers(s, at, as));
}

/* A string of a few letters, or a few bytes that count something. */
static bool is_bytes(uint64_t word)
{
	uint64_t w = word;

	while (w && (w & 0xff) >= 0x20 && (w & 0xff) < 0x7f)
		w >>= 8;
	while (word && (word & 0xff) <= 16)
		word >>= 8;
	return w == 0 || word == 0;
}

/* Its indirect jumps, which may go by such words. */
static bool jumps(const struct verify *v, const bool *has_jump, vaddr to)
{
	return has_jump[verify_group(v, vcfi_find(&v->ocfi, to))];
}

static int refuse_word(const struct scan *s, vaddr at, vaddr to)
{
	return refuse(s->v,
		      "the code at 0x%llx was moved, but the word at 0x%llx holds its address",
		      ULL(to), ULL(at));
}

/* A section of its own lists the function by a distance. */
static int check_entry(const struct scan *s, vaddr at, vaddr to)
{
	if (s->mixed || !image_is_exec(&s->v->orig, to) || !verify_is_function(s->v, to) ||
	    !blockmap_find_orig(&s->v->map, to))
		return 0;
	return refuse(s->v, "the function at 0x%llx was moved, but the word at 0x%llx lists it",
		      ULL(to), ULL(at));
}

static int check_word(const struct scan *s, vaddr at)
{
	struct verify *v = s->v;
	struct rd r = rd_of(image_at(&v->orig, at, HALF)), wide;
	vaddr distance = (vaddr)(int64_t)rd_s32(&r);

	if (is_moved(v, at + distance) &&
	    (!s->mixed ||
	     (!are_halves(distance) && !ends_nop(s, distance) &&
	      is_listed_by(s, at, AS_HALF, at + distance))))
		return refuse_word(s, at, at + distance);
	if (check_entry(s, at, at + distance) < 0)
		return -1;
	if ((s->aligned && at % FULL) || !is_within(s, at, FULL) ||
	    is_function_code(s, at + HALF))
		return 0;
	wide = rd_of(image_at(&v->orig, at, FULL));
	uint64_t word = rd_u64(&wide);

	if (check_entry(s, at, at + word) < 0)
		return -1;
	if (is_moved(v, at + word) &&
	    (!s->mixed ||
	     (!ends_nop(s, word) &&
	      is_listed_by(s, at, AS_DISTANCE, at + word))))
		return refuse_word(s, at, at + word);
	return 0;
}

static int extent_cmp(const void *x, const void *y)
{
	const struct vextent *a = x, *b = y;

	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* The tables that were copied, and those that code was seen to use. */
static void collect_tables(struct verify *v, struct tables *tables)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < v->walk.extents.n; i++)
		vec_push(v->a, &tables->all, v->walk.extents.v[i]);
	for (uint32_t i = 0; i < v->map.ntable; i++) {
		const struct blockmap_table *t = &v->map.table[i];
		uint64_t size = (uint64_t)blockmap_entry_size(t->kind) * t->nentry;

		vec_push(v->a, &tables->all,
			 ((struct vextent){ t->orig_addr, t->orig_addr + size, t->kind,
					     NO_FDE }));
	}
	if (tables->all.n == 0)
		return;
	struct vextent *x = tables->all.v;
	qsort(x, tables->all.n, sizeof(*x), extent_cmp);
	for (uint32_t i = 1; i < tables->all.n; i++) {
		if (x[i].lo > x[last].hi)
			x[++last] = x[i];
		else if (x[i].hi > x[last].hi)
			x[last].hi = x[i].hi;
	}
	tables->all.n = last + 1;
}

/* The address of an instruction as it is, at any byte: what is written by hand is not aligned.
 * Parts of numbers that are read so begin with a byte of zeros or ones. */
static int check_addresses(const struct scan *s, const bool *has_jump)
{
	bool aligned = s->s->h.sh_type == SHT_NOTE;
	vaddr at = s->s->h.sh_addr, end = end_of(s);

	for (at += aligned ? -at % FULL : 0; at < end && end - at >= FULL;
	     at += aligned ? FULL : 1) {
		struct rd r = rd_of(image_at(&s->v->orig, at, FULL));
		vaddr to = rd_u64(&r);
		bool part = at % FULL && (to % 256 == 0 || to % 256 == 255);

		if (to < s->lo || to >= s->hi || part || in_jump_table(s, at) ||
		    runs_into_function(s, at, AS_ADDRESS) || !is_moved(s->v, to))
			continue;
		if (!s->mixed || (!jumps(s->v, has_jump, to) && !is_bytes(to) &&
				  is_listed_by(s, at, AS_ADDRESS, to)))
			return refuse_word(s, at, to);
	}
	return 0;
}

static int check_section(const struct scan *s, const bool *has_jump)
{
	vaddr end = end_of(s), at = s->aligned ? first_half(s) : s->s->h.sh_addr;

	for (; at < end && end - at >= HALF; at += s->aligned ? HALF : 1)
		if (!in_jump_table(s, at) && !is_function_code(s, at) && check_word(s, at) < 0)
			return -1;
	return s->v->orig.eh.e_type == ET_EXEC ? check_addresses(s, has_jump) : 0;
}

int verify_innerwords(struct verify *v)
{
	bool *has_jump = arena_array(v->a, v->ocfi.nfde, sizeof(*has_jump));
	struct tables tables = { 0 };

	collect_tables(v, &tables);
	for (uint32_t i = 0; i < v->refs.all.n; i++)
		if (v->refs.all.v[i].kind == REF_JUMP && v->refs.all.v[i].fde != NO_FDE)
			has_jump[verify_group(v, v->refs.all.v[i].fde)] = true;
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const struct section *section = &v->orig.sh[i];
		struct scan s = { .v = v, .s = section, .tables = &tables };

		if (!verify_holds_words(section))
			continue;
		image_span(&v->orig, &s.lo, &s.hi);
		s.code = section->h.sh_flags & SHF_EXECINSTR;
		s.mixed = s.code || verify_is_mixed(section) || holds_numbers(&s);
		s.aligned = s.mixed || section->h.sh_type == SHT_NOTE;
		if (check_section(&s, has_jump) < 0)
			return -1;
	}
	return 0;
}
