/* innerwords.c - words of data that hold the address of an instruction inside of a function
 *
 * Tables of instructions that may fault, of branches that are switched on and off while the
 * program runs, and of places that a handler knows hold addresses without relocations: as
 * distances from the words themselves (`.long label - .`), or, in programs linked to a fixed
 * address, as they are.  Whoever reads them knows nothing of images.  So a function in whose
 * middle an instruction begins where such a word leads stays where it is.
 *
 * A word is one of 32 or 64 bits in a section that is loaded, whatever type that has but those
 * of the linker's own tables; an aligned one, but for sections with a name of their own, of
 * which the entries may be packed.  In sections of code it stands between functions, where
 * no FDE is.  Words of unwind tables and of jump tables lead inside of functions as well, and
 * are left out:
 *
 *   proven     all entries of a table that the analysis has proven
 *   seeming    what stands where code forms an address, as long as it reads as distances from
 *              there to instructions of the function with that code
 *
 * A section with a name of its own may list functions by distances to their entries, for who
 * patches them: they stay as well.  Pointers by which functions are run are relocated.
 *
 * Numbers lead to instructions by chance: about every fourth that leads into code.  In sections
 * that hold data of all kinds, and between functions, a word counts only where it stands in
 * something like a table (is_in_table()), and a distance only if most of those around it that
 * lead into functions, but for jump tables, lead to instructions, too (is_amid_numbers()); or
 * where many do in a row, wherever they lead (is_in_long_table()).  A single one there, between
 * numbers that are no addresses, is not seen (doc/limits.md).  A section of another name is of
 * that kind when no more of all its distances lead to instructions than by chance.
 *
 * Tested by tests/unit/postmorph/test_analyze.c and tests/programs/knows_address.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "postmorph/refs/innerwords.h"
#include "postmorph/tables/tablescan.h"

enum { WORD = 4, SMALL = 4096, NEAR = 16, CLOSE = 1 << 16, ROW = 8 };

struct extent {			/* of what are, or seem to be, entries of a jump table */
	vaddr lo, hi;
};

struct words {
	struct text *t;
	VEC(struct extent) tables;	/* ascending, apart from each other */
};

struct scan {			/* of one section */
	const struct words *w;
	const struct text *t;
	const struct section *s;
	bool mixed;		/* data of all kinds */
};

/* How words lead somewhere: 32 or 64 bits as a distance from the word, or 64 as they are. */
enum form { DISTANCE, WIDE_DISTANCE, ADDRESS };

struct led {			/* words that lead into functions; ... to instructions */
	uint32_t all, insn;
};

static void stay(const struct text *t, uint32_t fn, enum skip reason)
{
	if (t->prog->fn[fn].skip == SKIP_NONE)
		t->prog->fn[fn].skip = reason;
}

/* The function in whose middle an instruction begins there; NO_FN if none does. */
static uint32_t inside_of(const struct text *t, vaddr place)
{
	if (!text_holds(t, place) || !(*text_mark(t, place) & MARK_INSN))
		return NO_FN;
	uint32_t fn = prog_find_fn(t->prog, place);

	return fn != NO_FN && t->prog->fn[fn].entry != place ? fn : NO_FN;
}

static int extent_cmp(const void *x, const void *y)
{
	const struct extent *a = x, *b = y;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->hi > b->hi) - (a->hi < b->hi);
}

/* A case of that function, or the start of what may be a part of it. */
static bool may_be_case(const struct text *t, uint32_t fn, vaddr to)
{
	if (tablescan_is_filler(t, &t->prog->fn[fn], to))
		return true;
	if (!text_holds(t, to) || !(*text_mark(t, to) & MARK_INSN))
		return false;
	uint32_t f = prog_find_fn(t->prog, to);
	return f == fn || (f != NO_FN && t->prog->fn[f].entry == to);
}

/* The end of what reads as a table of that function. */
static vaddr end_of_seeming(const struct text *t, const struct table_start *s)
{
	struct rd rd = rd_of(image_rest(&t->prog->img, s->addr));
	vaddr at = s->addr;

	for (; rd_left(&rd) >= WORD; at += WORD)
		if (!may_be_case(t, s->fn, s->addr + (vaddr)(int64_t)rd_s32(&rd)))
			break;
	return at;
}

/* What overlaps becomes one. */
static void join_tables(struct words *w)
{
	uint32_t n = 0;

	if (w->tables.n)
		qsort(w->tables.v, w->tables.n, sizeof(*w->tables.v), extent_cmp);
	for (uint32_t i = 0; i < w->tables.n; i++) {
		const struct extent *x = &w->tables.v[i];

		if (n == 0 || x->lo > w->tables.v[n - 1].hi)
			w->tables.v[n++] = *x;
		else if (x->hi > w->tables.v[n - 1].hi)
			w->tables.v[n - 1].hi = x->hi;
	}
	w->tables.n = n;
}

static void collect_tables(struct words *w)
{
	struct text *t = w->t;

	for (uint32_t i = 0; i < t->prog->nfn; i++)
		for (uint32_t k = 0; k < t->prog->fn[i].ntable; k++) {
			const struct jump_table *j = &t->prog->fn[i].table[k];
			uint64_t size = (uint64_t)tablescan_entry_size(j->kind) * j->nentry;

			if (j->guard)		/* nothing shows how long it is */
				continue;
			vec_push(t->scratch, &w->tables,
				 ((struct extent){ j->addr, j->addr + size }));
		}
	for (uint32_t i = 0; i < t->tables.n; i++) {
		vaddr end = end_of_seeming(t, &t->tables.v[i]);

		/* another begins before it ends: that one is read, too */
		if (i + 1 < t->tables.n && t->tables.v[i + 1].addr < end)
			end = t->tables.v[i + 1].addr;
		vec_push(t->scratch, &w->tables, ((struct extent){ t->tables.v[i].addr, end }));
	}
	join_tables(w);
}

static bool in_a_table(const struct words *w, vaddr at)
{
	uint32_t lo = 0, hi = w->tables.n;	/* the first that ends behind it */

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (w->tables.v[mid].hi > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo < w->tables.n && w->tables.v[lo].lo <= at;
}

static bool is_unwind(const char *name)
{
	return strcmp(name, ".eh_frame") == 0 || strcmp(name, ".eh_frame_hdr") == 0 ||
	       strncmp(name, ".gcc_except_table", 17) == 0;
}

bool innerwords_may_hold(const struct section *s)
{
	uint32_t type = s->h.sh_type;

	if (!(s->h.sh_flags & SHF_ALLOC) || is_unwind(s->name))
		return false;
	return type == SHT_PROGBITS || type == SHT_NOTE ||
	       (type >= SHT_LOOS && (type < SHT_GNU_ATTRIBUTES || type > SHT_HIOS));
}

static bool is_code_section(const struct section *s)
{
	return s->h.sh_flags & SHF_EXECINSTR;
}

static struct bytes content(const struct text *t, const struct section *s)
{
	return bytes_at(t->prog->img.file, s->h.sh_offset, s->h.sh_size);
}

bool innerwords_is_code(const struct text *t, vaddr at)
{
	return text_holds(t, at) && text_piece(t, at) != UINT32_MAX;
}

static bool is_insn(const struct text *t, vaddr at)
{
	return text_holds(t, at) && (*text_mark(t, at) & MARK_INSN);
}

/* Where instructions begin is not known there. */
static bool is_undecoded(const struct text *t, vaddr place)
{
	uint32_t fn = prog_find_fn(t->prog, place);

	return fn != NO_FN && t->prog->fn[fn].skip == SKIP_DECODE;
}

/* At n bytes there may be data. */
static bool is_between(const struct scan *c, vaddr at, uint32_t n)
{
	return !is_code_section(c->s) ||
	       (!innerwords_is_code(c->t, at) && !innerwords_is_code(c->t, at + n - 1));
}

static bool is_in_section(const struct scan *c, vaddr at, uint32_t size)
{
	return at >= c->s->h.sh_addr && at + size <= c->s->h.sh_addr + c->s->h.sh_size;
}

static uint32_t size_of(enum form form)
{
	return form == DISTANCE ? WORD : 2 * WORD;
}

static vaddr read_number(struct rd *rd, enum form form)
{
	return form == DISTANCE ? (vaddr)(int64_t)rd_s32(rd) : rd_u64(rd);
}

/* Of the words of that form from lo up to hi, both in the section. */
static struct led led(const struct scan *c, vaddr lo, vaddr hi, enum form form)
{
	const struct text *t = c->t;
	uint32_t size = size_of(form);
	struct rd rd = rd_of(content(t, c->s));
	struct led led = { 0, 0 };

	(void)rd_skip(&rd, lo - c->s->h.sh_addr);
	for (; lo < hi && rd_left(&rd) >= size; lo += size) {
		vaddr to = (form == ADDRESS ? 0 : lo) + read_number(&rd, form);

		if (!innerwords_is_code(t, to) || in_a_table(c->w, lo) ||
		    !is_between(c, lo, size))
			continue;
		led.insn += is_insn(t, to);
		led.all += is_insn(t, to) || !is_undecoded(t, to);
	}
	return led;
}

/* Other sections hold what their makers have put there. */
bool innerwords_is_mixed(const struct section *s)
{
	static const char *const mixed[] = { ".rodata", ".data", ".lrodata", ".ldata",
					     ".tdata", ".interp" };

	for (uint32_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++)
		if (strncmp(s->name, mixed[i], strlen(mixed[i])) == 0)
			return true;
	return s->name[0] == '.' && (s->h.sh_flags & SHF_WRITE);
}

enum beside { NUMBER, DATA, CODE };

/* What a word beside an address may be: code (an instruction, or where no FDE covers it), data,
 * to which distances are even, or a small number, which leads to no instruction close by; -1:
 * something else. */
static int classify(const struct text *t, uint64_t number, vaddr to, vaddr align)
{
	if (number < SMALL && !is_insn(t, to))
		return NUMBER;
	if (to < t->loaded_lo || to >= t->loaded_hi)
		return -1;
	if (!image_is_exec(&t->prog->img, to))
		return to % align == 0 ? DATA : -1;
	return text_piece(t, to) == UINT32_MAX || is_insn(t, to) ? CODE : -1;
}

/* Of another name, but no more of its distances lead to instructions than by chance. */
static bool is_numbers(const struct scan *c, vaddr first)
{
	enum { MANY = 64 };
	struct led l = led(c, first, c->s->h.sh_addr + c->s->h.sh_size, DISTANCE);

	return l.all >= MANY && l.insn <= l.all / 3;
}

/* No more than half of the distances around that one, and of it, lead to instructions. */
static bool is_amid_numbers(const struct scan *c, vaddr at, enum form form)
{
	enum { AROUND = 8 };
	uint32_t size = size_of(form);
	vaddr before = (at - c->s->h.sh_addr) / size;
	struct led l = led(c, at - size * (before < AROUND ? before : AROUND),
			   at + (AROUND + 1) * size, form);

	return l.insn <= l.all / 2;
}

/* Two equal numbers of 16 bits, of which there are long tables. */
static bool are_halves(vaddr distance)
{
	return (uint16_t)distance == (uint16_t)(distance >> 16) && distance != 0;
}

/* The end of a long NOP, between functions: 0F 1F, ModRM, zeros. */
static bool is_of_nop(const struct scan *c, vaddr distance)
{
	vaddr modrm = (distance & 0xff) == 0x1f ? distance >> 8 :
		      (distance & 0xffff) == 0x1f0f ? distance >> 16 : 0;

	return is_code_section(c->s) &&
	       (modrm == 0x40 || modrm == 0x44 || modrm == 0x80 || modrm == 0x84);
}

/* A distance that cannot be told from a number. */
static bool is_common(const struct scan *c, vaddr distance)
{
	return are_halves(distance) || is_of_nop(c, distance);
}

/* ... and *to where it leads. */
static int classify_at(const struct scan *c, vaddr at, enum form form, vaddr *to)
{
	struct rd rd = rd_of(image_at(&c->t->prog->img, at, size_of(form)));
	vaddr number = read_number(&rd, form);

	*to = (form == ADDRESS ? 0 : at) + number;
	if (rd.bad || (form == DISTANCE && (is_common(c, number) ||
					    (number + NEAR < NEAR && !is_insn(c->t, *to)))))
		return -1;
	return classify(c->t, number, *to, form == DISTANCE ? WORD : 1);
}

/* Code of a function, or what is in another section, stands beside no word. */
static bool is_beside(const struct scan *c, vaddr at, enum form form)
{
	return is_in_section(c, at, size_of(form)) && is_between(c, at, size_of(form));
}

/* Of words in between numbers of any kind some lead to an instruction by chance.  In a table of
 * them another one that leads close by stands beside it; or addresses and small numbers on both
 * sides, and one that leads close by among the next two of each side.  For a distance of 64
 * bits it is enough that one beside it leads somewhere, which so large a number does not by
 * chance, or one of the next two to code; and what is beside it may begin with one of 32
 * bits. */
static bool is_in_table(const struct scan *c, vaddr at, enum form form, vaddr place)
{
	const vaddr size = size_of(form);
	const vaddr beside[] = { at - size, at + size, at - 2 * size, at + 2 * size };
	const bool wide = form == WIDE_DISTANCE;
	bool leads = false, plausible = true;

	for (int i = 0; i < 4; i++) {
		if (!is_beside(c, beside[i], form))
			continue;
		vaddr to = 0, half;
		int kind = classify_at(c, beside[i], form, &to);
		bool next = i < 2, close = kind == CODE && to - place + CLOSE < 2 * CLOSE;

		if (close && next)
			return true;
		plausible &= !next || kind >= 0 ||
			     (wide && classify_at(c, beside[i], DISTANCE, &half) >= 0);
		leads |= close || (wide && (kind == CODE || (next && kind == DATA)));
	}
	return leads && plausible;
}

/* Letters, a short string or the end of one, or a row of small numbers. */
static bool is_bytes(uint64_t word)
{
	enum { SMALL_BYTE = 16 };
	bool text = true, small = true;

	for (; word; word >>= 8) {
		text &= (word & 0xff) >= ' ' && (word & 0xff) <= '~';
		small &= (word & 0xff) <= SMALL_BYTE;
	}
	return text || small;
}

/* Something leads into the middle of fn. */
static void stay_inside(const struct text *t, uint32_t fn)
{
	if (t->prog->fn[fn].kept)
		stay(t, fn, SKIP_INNER_WORD);
}

/* Steps of one word from a word, up to the first that leads between instructions, or REACH in a
 * row that lead to no code; how many lead to an instruction, up to ROW. */
static uint32_t count_led(const struct scan *c, vaddr at, enum form form, vaddr step)
{
	enum { REACH = 16 };
	uint32_t n = 0;

	for (int idle = 0; idle < REACH && n < ROW; idle++) {
		at += step;
		if (!is_in_section(c, at, size_of(form)))
			break;
		struct led l = led(c, at, at + size_of(form), form);
		if (l.all > l.insn)
			break;
		if (l.insn)
			idle = -1;
		n += l.insn;
	}
	return n;
}

/* Of a table whose entries lead far from each other, with numbers between them or not: all of
 * so many around it that lead into functions lead to instructions. */
static bool is_in_long_table(const struct scan *c, vaddr at, enum form form)
{
	vaddr size = size_of(form);

	return 1 + count_led(c, at, form, size) + count_led(c, at, form, -size) >= ROW;
}

/* A word of mixed data that leads there is one of a table. */
static bool is_listed(const struct scan *c, vaddr at, enum form form, vaddr place)
{
	return is_in_long_table(c, at, form) ||
	       (is_in_table(c, at, form, place) &&
		(form == ADDRESS || !is_amid_numbers(c, at, form)));
}

/* A distance in a section of its own leads to the entry. */
static void stay_listed(const struct scan *c, vaddr place)
{
	uint32_t fn = !c->mixed && text_holds(c->t, place) ? prog_find_fn(c->t->prog, place) :
							     NO_FN;

	if (fn != NO_FN && c->t->prog->fn[fn].entry == place && c->t->prog->fn[fn].kept)
		stay(c->t, fn, SKIP_LISTED);
}

static void look_at_distance(const struct scan *c, vaddr at, vaddr distance)
{
	stay_listed(c, at + distance);
	uint32_t fn = inside_of(c->t, at + distance);

	if (fn != NO_FN &&
	    (!c->mixed || (!is_common(c, distance) &&
			   is_listed(c, at, DISTANCE, at + distance))))
		stay_inside(c->t, fn);
}

bool innerwords_may_be_jumped_to(const struct text *t, uint32_t fn, vaddr place)
{
	const struct fn *f = &t->prog->fn[fn];
	uint32_t piece = text_piece(t, place);

	return fn_has_open_jump(f) && (place - f->range[0].addr < f->range[0].size ||
				       !t->piece[piece].name);
}

static void look_at_wide(const struct scan *c, vaddr at, uint64_t distance)
{
	uint32_t fn = inside_of(c->t, at + distance);

	stay_listed(c, at + distance);

	if (fn != NO_FN &&
	    (!c->mixed || (!is_of_nop(c, distance) &&
			   is_listed(c, at, WIDE_DISTANCE, at + distance))))
		stay_inside(c->t, fn);
}

static void look_at_address(const struct scan *c, vaddr at, vaddr place)
{
	uint32_t fn = inside_of(c->t, place);

	if (fn != NO_FN &&
	    (!c->mixed || (!innerwords_may_be_jumped_to(c->t, fn, place) && !is_bytes(place) &&
			   is_listed(c, at, ADDRESS, place))))
		stay_inside(c->t, fn);
}

/* What reads as the address of code where none is aligned, because numbers or masks are. */
static bool is_of_numbers(vaddr at, vaddr place)
{
	uint8_t low = (uint8_t)place;

	return at % (2 * WORD) && (low == 0 || low == 0xff);
}

/* Assembler code aligns no data of itself. */
static void look_at_addresses(const struct scan *c)
{
	const vaddr step = c->s->h.sh_type == SHT_NOTE ? 2 * WORD : 1;
	const vaddr start = c->s->h.sh_addr;
	struct bytes all = content(c->t, c->s);

	for (vaddr i = -start & (step - 1); i < all.n && all.n - i >= 2 * WORD; i += step) {
		struct rd rd = rd_of(bytes_at(all, i, 2 * WORD));
		vaddr place = rd_u64(&rd);

		if (text_holds(c->t, place) && !is_of_numbers(start + i, place) &&
		    !in_a_table(c->w, start + i) && is_between(c, start + i, 2 * WORD))
			look_at_address(c, start + i, place);
	}
}

static void look_at_section(const struct words *w, const struct section *s)
{
	const struct text *t = w->t;
	vaddr at = (s->h.sh_addr + WORD - 1) & ~(vaddr)(WORD - 1), end;
	struct scan c = { w, t, s, innerwords_is_mixed(s) || is_code_section(s) };
	uint32_t next = 0, step;

	c.mixed = c.mixed || is_numbers(&c, at);
	step = c.mixed || s->h.sh_type == SHT_NOTE ? WORD : 1;
	at = step == 1 ? s->h.sh_addr : at;
	end = s->h.sh_addr + content(t, s).n;
	for (; at < end && end - at >= WORD; at += step) {
		struct rd rd = rd_of(bytes_at(content(t, s), at - s->h.sh_addr, WORD));
		struct rd wide = rd_of(bytes_at(content(t, s), at - s->h.sh_addr, 2 * WORD));

		while (next < w->tables.n && w->tables.v[next].hi <= at)
			next++;
		if ((next < w->tables.n && w->tables.v[next].lo <= at) ||
		    !is_between(&c, at, WORD))
			continue;
		look_at_distance(&c, at, (vaddr)(int64_t)rd_s32(&rd));
		if ((step == 1 || at % (2 * WORD) == 0) && rd_left(&wide) &&
		    is_between(&c, at, 2 * WORD))
			look_at_wide(&c, at, rd_u64(&wide));
	}
	if (!t->prog->img.pie_or_dso)
		look_at_addresses(&c);
}

void innerwords_judge(struct text *t)
{
	struct words w = { .t = t };

	collect_tables(&w);
	for (uint32_t i = 0; i < t->prog->img.nsh; i++)
		if (innerwords_may_hold(&t->prog->img.sh[i]))
			look_at_section(&w, &t->prog->img.sh[i]);
}
