/* ir_check.c - checks the invariants of ir.h
 *
 * It runs after the analysis and after each pass, over the whole program, so that a mistake in
 * one of them is found before anything is written.
 */
#include <string.h>

#include "lib/err.h"
#include "postmorph/ir/ir.h"

static int violated(const struct fn *fn, const char *what, struct err *err)
{
	return err_set(err, ERR_SYS, "internal error: function %#llx: %s",
		       (unsigned long long)fn->entry, what);
}

/* I1.  The ranges of all functions are the FDEs, each owned by one function; FDEs are
 *      disjoint. */
static int check_order(const struct prog *prog, uint8_t *owned, struct err *err)
{
	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];

		if (i && prog->fn[i - 1].entry >= fn->entry)
			return violated(fn, "I1: functions do not ascend", err);
		if (fn->nrange == 0 || fn->range[0].addr != fn->entry)
			return violated(fn, "I1: first range does not hold the entry", err);
		for (uint32_t r = 0; r < fn->nrange; r++) {
			const struct fn_range *range = &fn->range[r];

			if (range->fde >= prog->cfi.nfde || owned[range->fde] ||
			    range->addr != prog->cfi.fde[range->fde].addr ||
			    range->size != prog->cfi.fde[range->fde].len ||
			    prog->fn_of_fde[range->fde] != i)
				return violated(fn, "I1: range is not one FDE of its own", err);
			owned[range->fde] = 1;
		}
	}
	return 0;
}

/* I2 */
static int check_cover(const struct prog *prog, const struct fn *fn, struct err *err)
{
	uint32_t id = 0, insn = 0;

	for (uint32_t r = 0; r < fn->nrange; r++) {
		vaddr at = fn->range[r].addr, end = at + fn->range[r].size;

		while (at < end) {
			const struct block *b = &fn->block[id];
			uint64_t size = 0;

			if (id == fn->nblock || b->addr != at || b->range != r ||
			    b->insn != insn || b->ninsn == 0 ||
			    b->ninsn > fn->ninsn - insn)
				return violated(fn, "I2: blocks do not cover a range", err);
			for (uint32_t k = 0; k < b->ninsn; k++, insn++) {
				if (prog_insn_addr(prog, &fn->insn[insn]) != at + size)
					return violated(fn, "I2: a gap in a block", err);
				size += fn->insn[insn].len;
			}
			if (size != b->size)
				return violated(fn, "I2: block size", err);
			at += size;
			id++;
		}
		if (at != end)
			return violated(fn, "I2: a block crosses its range's end", err);
	}
	if (id != fn->nblock || insn != fn->ninsn)
		return violated(fn, "I2: blocks outside every range", err);
	return 0;
}

/* I3 */
static int check_permutation(const struct fn *fn, uint8_t *seen, struct err *err)
{
	memset(seen, 0, fn->nblock);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (fn->order[i] >= fn->nblock || seen[fn->order[i]])
			return violated(fn, "I3: order is not a permutation", err);
		seen[fn->order[i]] = 1;
	}
	if (fn->order[0] != 0)
		return violated(fn, "I3: order does not begin with the entry", err);
	if (fn->block[0].cold || fn->block[0].warm)
		return violated(fn, "I3: the entry is not hot", err);
	return 0;
}

/* I6 */
static int check_stays(const struct fn *fn, struct err *err)
{
	bool any = false;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		any |= b->stays;
		if (b->stays && (!b->cold || !block_may_stay(fn, b)))
			return violated(fn, "I6: a block stays that must not", err);
	}
	if (any != fn->leaves)
		return violated(
			fn, "I6: it leaves without a block that stays, or the other way", err);
	return 0;
}

/* I4: what can be seen from the block's last instruction and its neighbours. */
static int check_edges(const struct prog *prog, const struct fn *fn, uint32_t id,
		       struct err *err)
{
	const struct block *b = &fn->block[id];
	const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];
	const struct fn_range *range = &fn->range[b->range];
	vaddr end = b->addr + b->size;
	bool branch = insn_is_branch(last) && last->kind != INSN_CALL;

	if (insn_ends_flow(last) && !block_trap_falls(fn, id) ? b->fall != NO_BLOCK || b->fall_out != 0 :
	    end == range->addr + range->size ? b->fall != NO_BLOCK || b->fall_out != end :
	    b->fall != id + 1 || b->fall_out != 0)
		return violated(fn, "I4: fall-through edge", err);
	if (!branch && (b->taken != NO_BLOCK || b->taken_out != 0))
		return violated(fn, "I4: taken edge without a branch", err);
	if (branch) {
		vaddr target = insn_target(last, prog_insn_bytes(prog, last),
					   prog_insn_addr(prog, last));

		if (b->taken != NO_BLOCK
			    ? b->taken >= fn->nblock || fn->block[b->taken].addr != target ||
				      b->taken_out
			    : b->taken_out != target)
			return violated(fn, "I4: taken edge", err);
	}
	if (b->table != NO_TABLE && (b->table >= fn->ntable || last->kind != INSN_IJMP))
		return violated(fn, "I4: jump table", err);
	for (uint32_t i = b->insn; i + 1 < b->insn + b->ninsn; i++)
		if (insn_ends_flow(&fn->insn[i]) || (insn_is_branch(&fn->insn[i]) &&
						     fn->insn[i].kind != INSN_CALL))
			return violated(fn, "I4: a branch inside a block", err);
	return 0;
}

static int check_tables(const struct fn *fn, struct err *err)
{
	for (uint32_t i = 0; i < fn->ntable; i++) {
		const struct jump_table *t = &fn->table[i];

		if (t->nentry < t->bound || t->bound == 0 || t->nuser == 0)
			return violated(fn, "I4: jump table without a bound or a base", err);
		for (uint32_t k = 0; k < t->nentry; k++)
			if (t->succ[k] != NO_BLOCK && (t->succ[k] >= fn->nblock ||
			    fn->block[t->succ[k]].addr != t->target[k]))
				return violated(fn, "I4: jump table entry", err);
		for (uint32_t k = 0; k < t->nuser; k++)
			if (t->user[k] >= fn->ninsn)
				return violated(fn, "I4: jump table base", err);
	}
	return 0;
}

static int check_fn(const struct prog *prog, const struct fn *fn, struct err *err)
{
	if (fn->nblock == 0)
		return fn->skip == SKIP_NONE && fn->kept ? violated(fn, "I2: no blocks", err)
							 : 0;
	if (check_cover(prog, fn, err) < 0 || check_tables(fn, err) < 0)
		return -1;
	for (uint32_t k = 0; k < fn->nblock; k++)
		if (check_edges(prog, fn, k, err) < 0)
			return -1;
	return 0;
}

/* `seen` is zeroed. */
static int check_layout(const struct prog *prog, uint8_t *seen, struct err *err)
{
	for (uint32_t i = 0; i < prog->norder; i++) {
		uint32_t f = prog->order[i];

		if (f >= prog->nfn || seen[f])
			return err_set(err, ERR_SYS, "internal error: I5: layout names a "
				       "function twice or one that does not exist");
		if (!prog->fn[f].moved || prog->fn[f].skip != SKIP_NONE)
			return violated(&prog->fn[f], "I5: laid out but not to be moved", err);
		seen[f] = 1;
	}
	for (uint32_t i = 0; i < prog->nfn; i++)
		if (prog->order && prog->fn[i].moved && !seen[i])
			return violated(&prog->fn[i], "I5: moved but not laid out", err);
	return 0;
}

int ir_check_layout(const struct prog *prog, struct err *err)
{
	struct arena *scratch = arena_new();
	int rc = check_layout(prog, arena_alloc(scratch, prog->nfn), err);

	arena_free(scratch);
	return rc;
}

int ir_check_order(const struct prog *prog, struct err *err)
{
	struct arena *scratch = arena_new();
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < prog->nfn; i++)
		if (prog->fn[i].nblock > n)
			n = prog->fn[i].nblock;
	uint8_t *seen = arena_alloc(scratch, n);
	for (uint32_t i = 0; rc == 0 && i < prog->nfn; i++)
		if (prog->fn[i].nblock &&
		    (rc = check_permutation(&prog->fn[i], seen, err)) == 0)
			rc = check_stays(&prog->fn[i], err);
	arena_free(scratch);
	return rc < 0 ? -1 : ir_check_layout(prog, err);
}

int ir_check(const struct prog *prog, struct err *err)
{
	struct arena *scratch = arena_new();
	int rc = check_order(prog, arena_alloc(scratch, prog->cfi.nfde), err);

	arena_free(scratch);
	for (uint32_t i = 0; rc == 0 && i < prog->nfn; i++)
		rc = check_fn(prog, &prog->fn[i], err);
	return rc < 0 ? -1 : ir_check_order(prog, err);
}
