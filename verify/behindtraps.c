/* behindtraps.c - code in which data may stand behind a trap has no image
 *
 * A handler may read what stands behind a trap, and go on behind that.  An image that has the
 * trap may have something else there: a branch is another one, a block ends.
 *
 * What a compiler puts behind a trap is another trap, padding, or code to which something
 * leads: a branch, a table, an exception, an address in code or in data.  Behind int3, which
 * debuggers go on behind, it may be a NOP that says what it means (code.c compares it), or a
 * jump without prefixes within the function, and that of it behind the jump.  Everything else
 * is taken for data.  NOPs that are not at such a place are padding if they end at one, and
 * that is aligned.
 *
 * A function with indirect jumps may go there by these: of that nothing is shown.
 *
 * The cold part of a function may look like a function of its own: it begins with the frame of
 * an entry, and no branch leads into it.  A table of the other part that leads into it seems to
 * end there.  So before code is taken for data, the functions are followed whose tables go on
 * with entries that lead there (dataflow.c): what comparisons admit is met.
 *
 * Tested by tests/unit/verify/test_behindtraps.c.
 */
#include "verify/lookup.h"
#include "verify/tableentries.h"

static bool is_unmet(const struct verify *v, uint32_t fde, vaddr addr)
{
	enum { ALIGNED = 8 };
	vaddr end = v->ocfi.fde[fde].addr + v->ocfi.fde[fde].len, at = addr, target;
	struct insn insn;

	for (; at < end; at += insn.len) {
		struct bytes code = verify_orig_code(v, at);

		if (verify_is_met(v, at))
			return at != addr && at % ALIGNED != 0;
		if (!insn_decode(code, at, &insn, &target))
			return true;
		if (insn.kind != INSN_NOP)
			return !verify_is_trap(&insn, code.p);
	}
	return false;
}

/* The int3 in front of addr may come back to what stands there. */
static bool is_code_behind_break(const struct verify *v, uint32_t fde, vaddr *addr)
{
	struct insn insn;
	vaddr target;

	if (*addr - v->ocfi.fde[fde].addr >= v->ocfi.fde[fde].len ||
	    !insn_decode(verify_orig_code(v, *addr), *addr, &insn, &target))
		return false;
	if (insn.kind == INSN_JMP && insn.field == 1) {
		uint32_t to = vcfi_find(&v->ocfi, target);

		if (to != NO_FDE && verify_is_start(v, target) &&
		    verify_group(v, to) == verify_group(v, fde))
			*addr += insn.len;
	}
	return insn.kind == INSN_NOP;
}

static bool may_be_data(const struct verify *v, uint32_t fde, const struct insn *trap,
			vaddr addr)
{
	if (trap->kind != INSN_TRAP && is_code_behind_break(v, fde, &addr))
		return false;
	return is_unmet(v, fde, addr);
}

/* Behind what reads as the entries of the table one more leads into the FDE. */
static bool may_go_on(const struct verify *v, const struct vextent *x, uint32_t fde)
{
	uint64_t size = blockmap_entry_size(x->kind), n = (x->hi - x->lo) / size;
	vaddr end = verify_next_table(&v->walk, x->lo), to;

	for (; end - x->lo >= (n + 1) * size &&
	       verify_table_entry(&v->orig, x->lo, x->kind, n, &to) && verify_is_start(v, to);
	     n++)
		if (vcfi_find(&v->ocfi, to) == fde)
			return true;
	return false;
}

/* Looks for what leads into the FDE by a table of another function; each is asked once. */
static int meet_cases(struct verify *v, uint32_t fde, bool *asked)
{
	for (uint32_t i = 0, n = v->walk.extents.n; i < n; i++) {
		struct vextent x = v->walk.extents.v[i];

		if (asked[verify_group(v, x.fde)] || !may_go_on(v, &x, fde))
			continue;
		asked[verify_group(v, x.fde)] = true;
		if (verify_show_cases(v, x.fde) < 0)
			return -1;
	}
	return 0;
}

int verify_behindtraps(struct verify *v)
{
	bool *asked = arena_array(v->a, v->ocfi.nfde, sizeof(*asked));
	bool *jumps = arena_array(v->a, v->ocfi.nfde, sizeof(*jumps));

	for (uint32_t i = 0; i < v->refs.all.n; i++)
		if (v->refs.all.v[i].kind == REF_JUMP && v->refs.all.v[i].fde != NO_FDE)
			jumps[verify_group(v, v->refs.all.v[i].fde)] = true;
	for (uint32_t i = 0; i < v->walk.traps.n; i++) {
		vaddr trap = v->walk.traps.v[i], target;
		uint32_t fde = vcfi_find(&v->ocfi, trap);
		struct insn insn;

		if (!blockmap_find_orig(&v->map, trap) || jumps[verify_group(v, fde)] ||
		    !insn_decode(verify_orig_code(v, trap), trap, &insn, &target) ||
		    !may_be_data(v, fde, &insn, trap + insn.len))
			continue;
		if (meet_cases(v, fde, asked) < 0)
			return -1;
		if (!may_be_data(v, fde, &insn, trap + insn.len))
			continue;
		return refuse(v, "the code at 0x%llx was moved, but data may stand behind it",
			      ULL(trap));
	}
	return 0;
}
