/* innerways.c - finds where something but branches leads into functions
 *
 * Jump tables, which lead where they lead from the function that jumps by them, and also when
 * that is outside of it.  Labels: words that the loader fills, in a program at a fixed address
 * any eight bytes, addresses that instructions form or have as constants; but no entries of
 * jump tables.  A function that forms its own entry may add a distance to it, as to a label.  A
 * number that is none of these may be taken for one: that costs counters, and nothing else.
 * What is not aligned counts for jumps without a known table only, since most of it is text.
 *
 * Tested by tests/unit/editor/instrument/test_flagscan.c and tests/programs/counting.sh.
 */
#include "editor/instrument/innerways.h"

#include <stdlib.h>
#include <string.h>

#include "binary/decode.h"
#include "editor/instrument/calculated.h"
#include "lib/blockmap.h"
#include "lib/search.h"
#include "postmorph/machine/memview.h"

struct leap {			/* a direct jump, branch or fall into another function */
	uint32_t from, to;
	vaddr at;
};

struct finding {
	const struct prog *prog;
	const struct memview_file *words;
	struct arena *a;
	bool *unclear, *loose, *part;	/* [nfn] */
	bool *called;			/* [nfn] by a direct call, or something leads to it */
	struct range {
		vaddr lo, hi;
	} *table;			/* [ntable] of tables of addresses, ascending */
	uint32_t ntable;
	VEC(struct innerway) way;
	VEC(vaddr) named;
	VEC(struct leap) leap;
};

/* `from`: the function whose code forms it; NO_FN: data hold it. */
static void note(struct finding *s, vaddr addr, uint32_t from)
{
	const struct image *img = &s->prog->img;
	uint32_t f = addr - img->text_at < img->text.n || image_is_exec(img, addr)
			     ? prog_find_fn(s->prog, addr) : NO_FN;

	if (f == NO_FN)
		return;
	const struct fn *fn = &s->prog->fn[f];
	s->unclear[f] |= fn->entry != addr || f == from;
	s->called[f] |= fn->entry == addr;
	for (uint32_t r = 0; r < fn->nrange; r++)	/* the Verifier knows of FDEs alone */
		if (fn->range[r].addr == addr)
			vec_push(s->a, &s->named, addr);
}

static bool is_in_table(const struct finding *s, vaddr at)
{
	uint32_t k = search_first(i, 0, s->ntable, s->table[i].hi < at + 8);

	return k < s->ntable && s->table[k].lo <= at;
}

static void note_bytes(struct finding *s, vaddr at, uint64_t word)
{
	uint32_t f = prog_find_fn(s->prog, word);

	if (at % 8 == 0)
		note(s, word, NO_FN);
	else if (f != NO_FN)
		s->loose[f] = true;
}

/* In a program at a fixed address any eight bytes may be one. */
static void note_words(struct finding *s)
{
	const struct image *img = &s->prog->img;
	uint64_t word;

	for (uint32_t i = 0; i < s->words->nword; i++)
		if (s->words->word[i].known && !is_in_table(s, s->words->word[i].place))
			note(s, s->words->word[i].value, NO_FN);
	for (uint32_t i = 0; img->eh.e_type == ET_EXEC && i < img->nph; i++) {
		const Elf64_Phdr *p = &img->ph[i];

		for (vaddr at = p->p_vaddr; p->p_type == PT_LOAD &&
		     at + 8 <= p->p_vaddr + p->p_filesz; at++) {
			memcpy(&word, image_at(img, at, 8).p, 8);	/* in the file */
			if (word - img->text_at < img->text.n && !is_in_table(s, at))
				note_bytes(s, at, word);
		}
	}
}

static void note_call(struct finding *s, vaddr target)
{
	uint32_t f = prog_find_fn(s->prog, target);

	if (f == NO_FN)
		return;
	s->called[f] = true;
	s->part[f] |= target != s->prog->fn[f].entry;
}

static void note_leap(struct finding *s, uint32_t from, vaddr target)
{
	uint32_t to = prog_find_fn(s->prog, target);

	if (from != NO_FN && to != NO_FN && from != to)
		vec_push(s->a, &s->leap, ((struct leap){ from, to, target }));
}

static void note_operands(struct finding *s, const struct fde *fde)
{
	const struct image *img = &s->prog->img;
	const uint32_t from = prog_find_fn(s->prog, fde->addr);
	const vaddr end = fde->addr + fde->len;
	uint64_t constant[INSN_MAX_CONSTANTS];
	uint8_t last = INSN_TRAP;		/* but for NOPs */
	struct insn insn;
	vaddr target;

	for (vaddr at = fde->addr; at < end; at += insn.len) {
		struct bytes code = image_rest(img, at);

		if (!insn_decode(code, at, &insn, &target)) {
			insn.len = 1;
			continue;
		}
		last = insn.kind == INSN_NOP ? last : insn.kind;
		if (insn.kind == INSN_CALL)
			note_call(s, target);
		else if (insn_is_branch(&insn))
			note_leap(s, from, target);
		else if (insn.field && !insn_is_branch(&insn))
			note(s, target, from);
		uint32_t n = insn.constants && img->eh.e_type == ET_EXEC
				     ? insn_constants((struct bytes){ code.p, insn.len },
						      constant) : 0;
		while (n-- > 0)
			note(s, constant[n], from);
	}
	if (last == INSN_PLAIN || last == INSN_JCC || last == INSN_LOOP)
		note_leap(s, from, end);
}

static int by_from(const void *a, const void *b)
{
	const struct leap *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* It soon jumps through a register, or through memory that may have been one. */
static bool is_thunk(const struct finding *s, vaddr at)
{
	enum { FEW = 16 };
	struct insn insn;
	vaddr target;

	for (int i = 0; i < FEW; i++, at += insn.len) {
		struct bytes code = image_rest(&s->prog->img, at);

		if (!insn_decode(code, at, &insn, &target))
			return false;
		if (insn.kind == INSN_IJMP)
			return !insn.field;
		if (insn.kind != INSN_NOP && insn.kind != INSN_PLAIN)
			return false;
	}
	return false;
}

/* It is no function that is called in the end, but a part of the one that it comes from. */
static bool leads_to_part(const struct finding *s, const struct leap *l)
{
	return l->at != s->prog->fn[l->to].entry || !s->called[l->to] || is_thunk(s, l->at);
}

/* Where control goes on without a call, it may be that there it jumps to a label of the
 * function that it comes from: a cold part, or a thunk. */
static void inherit(struct finding *s, bool *has)
{
	const uint32_t nfn = s->prog->nfn;
	uint32_t *queue = arena_array(s->a, nfn, sizeof(*queue)), n = 0;

	for (uint32_t f = 0; f < nfn; f++)
		if (has[f])
			queue[n++] = f;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = search_first(j, 0, s->leap.n, s->leap.v[j].from < queue[i]);
		     k < s->leap.n && s->leap.v[k].from == queue[i]; k++)
			if (!has[s->leap.v[k].to] && leads_to_part(s, &s->leap.v[k])) {
				has[s->leap.v[k].to] = true;
				queue[n++] = s->leap.v[k].to;
			}
}

static int by_address(const void *a, const void *b)
{
	const vaddr *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Each once. */
static void sort_named(struct finding *s)
{
	uint32_t n = 0;

	if (s->named.n)
		qsort(s->named.v, s->named.n, sizeof(*s->named.v), by_address);
	for (uint32_t i = 0; i < s->named.n; i++)
		if (!n || s->named.v[n - 1] != s->named.v[i])
			s->named.v[n++] = s->named.v[i];
	s->named.n = n;
}

static void note_tables(struct finding *s, uint32_t f)
{
	const struct fn *fn = &s->prog->fn[f];

	for (uint32_t t = 0; t < fn->ntable; t++)
		for (uint32_t i = 0; i < fn->table[t].nentry; i++)
			vec_push(s->a, &s->way,
				 ((struct innerway){ f, fn->table[t].target[i] }));
}

static int by_range(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->hi != y->hi ? (x->hi > y->hi ? 1 : -1) : (x->lo > y->lo) - (x->lo < y->lo);
}

static void find_tables(struct finding *s)
{
	uint32_t n = 0;

	for (uint32_t f = 0; f < s->prog->nfn; f++)
		n += s->prog->fn[f].ntable;
	s->table = arena_array(s->a, n, sizeof(*s->table));
	for (uint32_t f = 0; f < s->prog->nfn; f++)
		for (uint32_t t = 0; t < s->prog->fn[f].ntable; t++) {
			const struct jump_table *j = &s->prog->fn[f].table[t];

			if (j->kind == BLOCKMAP_TABLE_ABS64)
				s->table[s->ntable++] = (struct range){
					j->addr, j->addr + UINT64_C(8) * j->nentry };
		}
	if (s->ntable)
		qsort(s->table, s->ntable, sizeof(*s->table), by_range);
}

static int by_place(const void *a, const void *b)
{
	const struct innerway *x = a, *y = b;

	return x->fn != y->fn ? (x->fn > y->fn) - (x->fn < y->fn)
			      : (x->to > y->to) - (x->to < y->to);
}

static uint32_t sort(struct innerway *way, uint32_t n)
{
	uint32_t kept = 0;

	if (n)
		qsort(way, n, sizeof(*way), by_place);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || by_place(&way[kept - 1], &way[i]) != 0)
			way[kept++] = way[i];
	return kept;
}

const struct innerways *innerways_find(const struct prog *prog,
				       const struct memview_file *words, struct arena *a)
{
	struct innerways *out = arena_alloc(a, sizeof(*out));
	bool *any = arena_array(a, prog->nfn, sizeof(*any));
	bool *unclear = arena_array(a, prog->nfn, sizeof(*unclear));
	bool *loose = arena_array(a, prog->nfn, sizeof(*loose));
	const bool **calculated = arena_array(a, prog->nfn, sizeof(*calculated));
	struct finding s = { .prog = prog, .words = words, .a = a, .unclear = unclear,
			     .loose = loose,
			     .part = arena_array(a, prog->nfn, sizeof(*s.part)),
			     .called = arena_array(a, prog->nfn, sizeof(*s.called)) };

	*out = (struct innerways){ .any = any, .unclear = unclear, .loose = loose,
				   .calculated = calculated };
	if (!words) {
		memset(any, true, prog->nfn * sizeof(*any));
		memset(unclear, true, prog->nfn * sizeof(*unclear));
		return out;
	}
	find_tables(&s);
	note_words(&s);
	for (uint32_t i = 0; i < prog->cfi.nfde; i++)
		note_operands(&s, &prog->cfi.fde[i]);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		note_tables(&s, f);
		unclear[f] |= prog->fn[f].unproven > 0 || fn_has_guard(&prog->fn[f]);
	}
	if (s.leap.n)
		qsort(s.leap.v, s.leap.n, sizeof(*s.leap.v), by_from);
	for (uint32_t i = 0; i < s.leap.n; i++)
		s.part[s.leap.v[i].to] |= leads_to_part(&s, &s.leap.v[i]);
	inherit(&s, unclear);
	inherit(&s, loose);
	sort_named(&s);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];

		unclear[f] |= !fn->kept;
		any[f] = unclear[f] || loose[f] || fn->ntable > 0;
		if (fn->njump)
			calculated[f] = calculated_find(prog, fn, s.part[f], a);
		for (uint32_t i = 0; i < fn->njump; i++)
			any[f] |= fn->jump[i].kind != JUMP_TAIL || calculated[f][i];
	}
	out->n = sort(s.way.v, s.way.n);
	out->way = s.way.v;
	out->named = s.named.v;
	out->nnamed = s.named.n;
	return out;
}

uint32_t innerways_first(const struct innerways *w, uint32_t fn)
{
	return search_first(i, 0, w->n, w->way[i].fn < fn);
}
