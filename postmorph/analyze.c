/* analyze.c - runs all steps of the analysis: from the bytes of a file to the annotated program
 *
 * prog_analyze() reads as the list of these steps.
 *
 * Tested by tests/unit/postmorph/test_analyze.c.
 */
#include "lib/err.h"
#include "postmorph/analyze.h"
#include "postmorph/blocks.h"
#include "postmorph/calls.h"
#include "postmorph/functionnames.h"
#include "postmorph/functions.h"
#include "postmorph/hazards.h"
#include "postmorph/ir/landing.h"
#include "postmorph/noreturn.h"
#include "postmorph/pieces.h"
#include "postmorph/probes.h"
#include "postmorph/refs/behindtraps.h"
#include "postmorph/refs/between.h"
#include "postmorph/refs/cutlabels.h"
#include "postmorph/refs/innerwords.h"
#include "postmorph/refs/pointers.h"
#include "postmorph/refs/references.h"
#include "postmorph/refs/watched.h"
#include "postmorph/tables/jumptable.h"
#include "postmorph/unwind/personality.h"
#include "binary/loadtables.h"

static const uint64_t MAX_SPAN = (uint64_t)1 << 31;	/* struct insn counts in 32 bits */

/* [base, base + span) holds all executable segments. */
static int find_text(struct text *t, struct err *err)
{
	const struct image *img = &t->prog->img;
	vaddr lo = UINT64_MAX, hi = 0;

	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (!(ph->p_flags & PF_X))
			continue;
		if (ph->p_vaddr < lo)
			lo = ph->p_vaddr;
		if (ph->p_vaddr + ph->p_memsz > hi)
			hi = ph->p_vaddr + ph->p_memsz;
	}
	if (hi <= lo)
		return err_set(err, ERR_REFUSED, "no executable code");
	if (hi - lo > MAX_SPAN)
		return err_set(err, ERR_REFUSED, "its code spans more than 2 GiB");
	t->prog->base = lo;
	t->span = hi - lo;
	t->mark = arena_alloc(t->scratch, t->span);
	image_span(&t->prog->img, &t->loaded_lo, &t->loaded_hi);
	return 0;
}

static void measure(struct prog *prog)
{
	for (uint32_t i = 0; i < prog->img.nsh; i++) {
		const Elf64_Shdr *h = &prog->img.sh[i].h;

		if ((h->sh_flags & SHF_ALLOC) && (h->sh_flags & SHF_EXECINSTR))
			prog->text_size += h->sh_size;
	}
	for (uint32_t i = 0; i < prog->cfi.nfde; i++)
		prog->fde_bytes += prog->cfi.fde[i].len;
}

/* The functions that hold an address of wanted[n]; all when that is NULL. */
static void keep_functions(struct prog *prog, const vaddr *wanted, uint32_t n)
{
	for (uint32_t i = 0; i < prog->nfn; i++)
		prog->fn[i].kept = !wanted;
	for (uint32_t i = 0; wanted && i < n; i++) {
		uint32_t f = prog_find_fn(prog, wanted[i]);

		if (f != NO_FN)
			prog->fn[f].kept = true;
	}
}

static void find_blocks_of(struct text *t, struct fn *fn)
{
	uint32_t nuse;

	fn_load(t, t->prog->arena, fn);
	const struct table_use *use = jumptables_find(t, fn, &nuse);
	blocks_make(t, t->prog->arena, fn, use, nuse);
	cutlabels_guard(t, fn);
}

struct keeper {
	struct text *t;
	VEC(uint32_t) fn;	/* all that are kept, those first that others call */
};

static void keep_callee(void *ctx, const struct call_site *call)
{
	struct keeper *k = ctx;
	struct fn *fn = &k->t->prog->fn[call->callee];

	if (!fn->kept)
		vec_push(k->t->scratch, &k->fn, call->callee);
	fn->kept = true;
}

/* Of the functions that are kept, and those that they call, `depth` calls deep. */
static void find_blocks(struct text *t, uint32_t depth)
{
	struct prog *prog = t->prog;
	struct keeper k = { .t = t };
	uint32_t i = 0;

	for (uint32_t f = 0; f < prog->nfn; f++)
		if (prog->fn[f].kept)
			vec_push(t->scratch, &k.fn, f);
	for (uint32_t level = 0; i < k.fn.n; level++)
		for (uint32_t end = k.fn.n; i < end; i++) {
			find_blocks_of(t, &prog->fn[k.fn.v[i]]);
			if (level < depth)
				calls_each(prog, k.fn.v[i], keep_callee, &k);
		}
}

/* What has to be known of the whole file before one function can be judged. */
static int look_at_all(struct text *t, struct err *err)
{
	struct prog *prog = t->prog;

	if (hazards_check_file(&prog->img, err) < 0 || find_text(t, err) < 0 ||
	    cfi_parse(&prog->img, prog->arena, &prog->cfi, err) < 0 ||
	    personality_find(&prog->img, t->scratch, &prog->cfi, err) < 0)
		return -1;
	measure(prog);
	if (pieces_decode(t, err) < 0)
		return -1;
	names_mark_fragments(t);
	pieces_join(t);
	functions_make(t);
	names_give(t);
	landing_mark(t);
	if (plt_read(&prog->img, t->scratch, &t->plt, err) < 0 || pointers_mark(t, err) < 0 ||
	    hazards_check_code(t, err) < 0)
		return -1;
	prog->plt = plt_copy(&t->plt, prog->arena);
	probes_mark(t);
	noreturn_find(t);
	arena_reset(t->early);
	return 0;
}

int prog_analyze_around(struct bytes file, const struct prog_wanted *wanted, struct arena *a,
			struct prog *out, struct err *err)
{
	struct prog prog = { .arena = a, .digest = digest_of(file) };
	struct text t = { .prog = &prog, .scratch = arena_new(), .pass = arena_new(),
		.early = arena_new() };

	int rc = image_parse(file, a, &prog.img, err);
	if (rc == 0)
		rc = loadtables_check(&prog.img, err);
	if (rc == 0)
		rc = look_at_all(&t, err);
	if (rc == 0) {
		keep_functions(&prog, wanted->addr, wanted->n);
		find_blocks(&t, wanted->depth);
		probes_settle(&prog);
		watched_judge(&t);
		between_judge(&t);
		behindtraps_judge(&t);
		functions_settle(&t);
		innerwords_judge(&t);
		calls_find(&t);
		rc = references_find(&t, err);
		*out = prog;
	}
	arena_free(t.early);
	arena_free(t.pass);
	arena_free(t.scratch);
	return rc;
}

int prog_analyze_at(struct bytes file, const vaddr *addr, uint32_t n, struct arena *a,
		    struct prog *out, struct err *err)
{
	struct prog_wanted wanted = { .addr = addr, .n = n };

	return prog_analyze_around(file, &wanted, a, out, err);
}

int prog_analyze(struct bytes file, struct arena *a, struct prog *out, struct err *err)
{
	return prog_analyze_at(file, NULL, 0, a, out, err);
}
