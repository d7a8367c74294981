/* ir.c - look-ups in the annotated program: functions, blocks, instructions, their work
 *
 * Tested by tests/unit/postmorph/test_analyze.c.
 */
#include "postmorph/ir/ir.h"

#include "lib/search.h"
#include "postmorph/ir/plt.h"

uint32_t prog_find_fn(const struct prog *prog, vaddr addr)
{
	uint32_t fde = cfi_find(&prog->cfi, addr);

	return fde == UINT32_MAX ? NO_FN : prog->fn_of_fde[fde];
}

vaddr prog_stub_slot(const struct prog *prog, vaddr addr)
{
	uint32_t fn = prog_find_fn(prog, addr);

	/* Where the loader is told of no relocations, what a slot will hold is not known. */
	if (!prog->plt || !image_phdr(&prog->img, PT_DYNAMIC) ||
	    (fn != NO_FN && prog->fn[fn].skip != SKIP_PLT))
		return 0;
	return plt_plain_slot(prog->plt, &prog->img, addr);
}

/* Blocks ascend by range, then by address. */
uint32_t fn_find_block(const struct fn *fn, vaddr addr)
{
	const struct block *b = fn->block;
	uint32_t range = 0;

	while (range < fn->nrange && (addr < fn->range[range].addr ||
				      addr - fn->range[range].addr >= fn->range[range].size))
		range++;
	if (range == fn->nrange)
		return NO_BLOCK;
	uint32_t k = search_first(i, 0, fn->nblock, b[i].range < range ||
				  (b[i].range == range && b[i].addr <= addr));
	return k ? k - 1 : NO_BLOCK;
}

/* Nothing but NOPs, or a jmp. */
static bool is_mere_way(const struct fn *fn, const struct block *b)
{
	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++)
		if (fn->insn[i].kind != INSN_NOP && fn->insn[i].kind != INSN_JMP)
			return false;
	return true;
}

/* An entry or a landing pad of nothing but NOPs runs into it, and has its image. */
static bool is_behind_empty(const struct fn *fn, uint32_t id)
{
	for (; id > 0 && fn->block[id - 1].fall == id && is_mere_way(fn, &fn->block[id - 1]);
	     id--)
		if (fn->block[id - 1].landing || id == 1)
			return true;
	return false;
}

bool block_may_stay(const struct fn *fn, const struct block *b)
{
	enum { ENTRY_JUMP = 5 };

	if (b->landing || b->probe || is_mere_way(fn, b) ||
	    is_behind_empty(fn, (uint32_t)(b - fn->block)) ||
	    b->addr - fn->entry < fn->patch_off + ENTRY_JUMP)
		return false;
	/* The Verifier looks at jumps to redirected labels from where the map says that a
	 * block begins. */
	return fn->labels != POINTERS_KNOWN ||
	       !(b->pinned || fn->insn[b->insn + b->ninsn - 1].kind == INSN_IJMP);
}

bool fn_trap_falls(const struct fn *fn, uint32_t i, uint32_t end)
{
	if (fn->insn[i].kind != INSN_TRAP)
		return false;
	do {
		i++;
	} while (i < end && fn->insn[i].kind == INSN_NOP);
	return i < end;
}

bool block_trap_falls(const struct fn *fn, uint32_t id)
{
	const struct block *b = &fn->block[id];
	uint32_t last = b->insn + b->ninsn - 1, end = id + 1;

	if (fn->insn[last].kind != INSN_TRAP)
		return false;
	while (end < fn->nblock && fn->block[end].range == b->range)
		end++;
	return fn_trap_falls(fn, last, fn->block[end - 1].insn + fn->block[end - 1].ninsn);
}

uint32_t block_length(const struct fn *fn, const struct block *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->ninsn; i++)
		n += fn->insn[b->insn + i].kind != INSN_NOP;
	return n;
}

void fn_table_runs(const struct fn *fn, double *runs)
{
	for (uint32_t t = 0; t < fn->ntable; t++)
		runs[t] = 0;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (fn->block[i].table != NO_TABLE)
			runs[fn->block[i].table] += fn->block[i].count;
	}
}

double fn_table_share(const struct fn *fn, const double *runs, uint32_t id)
{
	const struct block *b = &fn->block[id];

	if (b->table == NO_TABLE || !fn->table[b->table].count || runs[b->table] <= 0)
		return 0;
	return b->count / runs[b->table];
}

double fn_work(const struct fn *fn)
{
	double work = 0;

	for (uint32_t i = 0; i < fn->nblock; i++)
		work += fn->block[i].count * block_length(fn, &fn->block[i]);
	return work;
}
