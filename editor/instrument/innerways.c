/* innerways.c - finds where something but branches leads into functions
 *
 * Words that the loader fills, in a program at a fixed address any word, addresses that
 * instructions form or have as constants, and jump tables: these lead where they lead from the
 * function that jumps by them, and also when that is outside of it.  An address that is formed
 * may have been formed to add a distance to it.  A number that is none of these may be taken
 * for one: that costs counters, and nothing else.
 *
 * Tested by tests/unit/editor/instrument/test_flagscan.c and tests/programs/counting.sh.
 */
#include "editor/instrument/innerways.h"

#include <stdlib.h>
#include <string.h>

#include "binary/decode.h"
#include "lib/search.h"
#include "postmorph/machine/memview.h"

struct finding {
	const struct prog *prog;
	const struct memview_file *words;
	struct arena *a;
	bool *unclear;			/* [nfn] */
	VEC(struct innerway) way;
};

static void note_inner(struct finding *s, vaddr addr, bool formed)
{
	uint32_t f = addr - s->prog->img.text_at < s->prog->img.text.n ||
		     image_is_exec(&s->prog->img, addr) ? prog_find_fn(s->prog, addr) : NO_FN;

	if (f == NO_FN || s->prog->fn[f].entry == addr)
		return;
	vec_push(s->a, &s->way, ((struct innerway){ f, addr }));
	s->unclear[f] |= formed;
}

/* In a program at a fixed address any word may be one. */
static void note_words(struct finding *s)
{
	const struct image *img = &s->prog->img;
	uint64_t word;

	for (uint32_t i = 0; i < s->words->nword; i++)
		if (s->words->word[i].known)
			note_inner(s, s->words->word[i].value, false);
	for (uint32_t i = 0; img->eh.e_type == ET_EXEC && i < img->nph; i++) {
		const Elf64_Phdr *p = &img->ph[i];

		for (vaddr at = (p->p_vaddr + 7) & ~UINT64_C(7); p->p_type == PT_LOAD &&
		     at + 8 <= p->p_vaddr + p->p_filesz; at += 8) {
			memcpy(&word, image_at(img, at, 8).p, 8);	/* in the file */
			note_inner(s, word, false);
		}
	}
}

static void note_operands(struct finding *s, const struct fde *fde)
{
	const struct image *img = &s->prog->img;
	uint64_t constant[INSN_MAX_CONSTANTS];
	struct insn insn;
	vaddr target;

	for (vaddr at = fde->addr, end = at + fde->len; at < end; at += insn.len) {
		struct bytes code = image_rest(img, at);

		if (!insn_decode(code, at, &insn, &target)) {
			insn.len = 1;
			continue;
		}
		if (insn.field && !insn_is_branch(&insn))
			note_inner(s, target, true);
		uint32_t n = insn.constants && img->eh.e_type == ET_EXEC
				     ? insn_constants((struct bytes){ code.p, insn.len },
						      constant) : 0;
		while (n-- > 0)
			note_inner(s, constant[n], true);
	}
}

static void note_tables(struct finding *s, uint32_t f)
{
	const struct fn *fn = &s->prog->fn[f];

	for (uint32_t t = 0; t < fn->ntable; t++)
		for (uint32_t i = 0; i < fn->table[t].nentry; i++) {
			vaddr to = fn->table[t].target[i];

			note_inner(s, to, false);
			vec_push(s->a, &s->way, ((struct innerway){ f, to }));
		}
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
	struct finding s = { prog, words, a, unclear, { 0 } };

	*out = (struct innerways){ .any = any, .unclear = unclear };
	if (!words) {
		memset(any, true, prog->nfn * sizeof(*any));
		memset(unclear, true, prog->nfn * sizeof(*unclear));
		return out;
	}
	note_words(&s);
	for (uint32_t i = 0; i < prog->cfi.nfde; i++)
		note_operands(&s, &prog->cfi.fde[i]);
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];

		note_tables(&s, f);
		unclear[f] |= !fn->kept || fn->unproven;
		any[f] = unclear[f] || fn->ntable > 0;
		for (uint32_t i = 0; i < fn->njump; i++)
			any[f] |= fn->jump[i].kind != JUMP_TAIL;
	}
	out->n = sort(s.way.v, s.way.n);
	out->way = s.way.v;
	for (uint32_t i = 0; i < out->n; i++)
		any[out->way[i].fn] = true;
	return out;
}

uint32_t innerways_first(const struct innerways *w, uint32_t fn)
{
	return search_first(i, 0, w->n, w->way[i].fn < fn);
}
