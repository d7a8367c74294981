/* branchstacks.c - turns branches and runs of branch stacks into edges, calls and executions
 *
 * A processor that records branches can be wrong, a recording can be of another file, and it
 * may come from somebody who wants to mislead.  So each branch is held against the code that
 * was mapped: an instruction that branches stands there, and it can lead where it is said to
 * have led.  A run must decode from one end to the other, without an instruction in between
 * that always leads elsewhere or calls (a call is a taken branch, and would be in the stack).
 *
 * A run that passes the start of a block executed that block, and between two blocks of one
 * function it went over an edge.  In a generation images take the place of blocks; the jump
 * that may stand at the end of an image is an edge, too, and an entry jump is none.
 *
 * Tested by tests/unit/editor/interpret/test_branchstacks.c.
 */
#include "editor/interpret/branchstacks.h"

#include "editor/interpret/placing.h"
#include "lib/branchcounts.h"

/* False when no instruction is there. */
static bool decode(const struct placing *p, new_vaddr addr, struct insn *insn,
		   new_vaddr *target)
{
	const struct image *img = p->source->mapped;

	return image_is_exec(img, addr) &&
	       insn_decode(image_rest(img, addr), addr, insn, target);
}

static bool branches(const struct insn *insn)
{
	return insn_is_branch(insn) || insn->kind == INSN_ICALL || insn->kind == INSN_IJMP ||
	       insn->kind == INSN_RET;
}

/* Not so in the middle of a run. */
static bool leads_away(const struct insn *insn)
{
	return insn_ends_flow(insn) || insn->kind == INSN_CALL || insn->kind == INSN_ICALL;
}

/* --- runs --- */

static bool is_run(const struct placing *p, new_vaddr from, new_vaddr to)
{
	struct insn insn;
	new_vaddr target;

	if (to < from || to - from >= BRANCHCOUNT_RUN_MAX)
		return false;
	while (decode(p, from, &insn, &target)) {
		if (from == to)
			return branches(&insn);
		if (leads_away(&insn) || insn.len > to - from)
			return false;
		from += insn.len;
	}
	return false;
}

/* Does a block, or its image, begin at this address of the mapped file? */
static bool begins(const struct placing *p, const struct place *at, new_vaddr addr)
{
	const struct blockmap_block *image = placing_image(p->source, addr);

	return image ? addr == p->source->map->gen_base + image->gen
		     : addr == at->fn->block[at->block].addr;
}

/* The bytes of an entry jump, which are no longer the block's. */
static bool is_entry_jump(const struct placing *p, new_vaddr addr)
{
	const struct blockmap *map = p->source->map;

	for (uint32_t lo = 0, hi = map ? map->nentry : 0; lo < hi; ) {
		uint32_t mid = lo + (hi - lo) / 2;
		vaddr entry = map->orig_base + map->entry[mid];

		if (entry == addr)
			return true;
		if (entry < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static void place_run(struct placing *p, const struct sighting *s)
{
	struct place last = { .block = NO_BLOCK }, at;
	struct insn insn;
	new_vaddr target;

	if (!is_run(p, s->insn, s->to)) {
		p->stats->no_run += s->count;
		return;
	}
	p->stats->runs += s->count;
	for (new_vaddr pc = s->insn; pc <= s->to; pc += insn.len) {
		bool entered = placing_block(p, pc, &at) && begins(p, &at, pc) &&
			       !is_entry_jump(p, s->to);

		if (entered && last.block != NO_BLOCK && last.fn == at.fn)
			(void)placing_edge(p, &last, at.block, s->count);
		if (entered && p->source->executions) {
			struct profile_block b = { at.fn->block[at.block].addr, s->count };

			vec_push(p->prog->arena, &p->blocks, b);
		}
		if (entered || (pc == s->insn && placing_block(p, pc, &at)))
			last = at;
		if (!decode(p, pc, &insn, &target))
			return;		/* it decoded a moment ago */
	}
}

/* --- taken branches --- */

/* The jump at the end of an image, which its block does not have. */
static bool place_jump_of_image(struct placing *p, const struct sighting *s)
{
	struct place at;
	vaddr to;

	if (!placing_image(p->source, s->insn) || !placing_block(p, s->insn, &at) ||
	    !placing_arrival(p->source, s->to, &to))
		return false;
	uint32_t b = fn_find_block(at.fn, to);
	if (b == NO_BLOCK || at.fn->block[b].addr != to)
		return false;
	return placing_edge(p, &at, b, s->count);
}

/* A branch of the block's own. */
static void place_branch(struct placing *p, const struct sighting *s, const struct insn *insn)
{
	struct place at;
	vaddr to;

	if (!placing_find(p, s->insn, &at)) {
		if (insn->kind != INSN_JMP || !place_jump_of_image(p, s))
			p->stats->uncut += s->count;
		return;
	}
	bool call = insn->kind == INSN_CALL || insn->kind == INSN_ICALL;
	if ((!call && !placing_is_last(&at)) || !placing_arrival(p->source, s->to, &to))
		p->stats->no_edge += s->count;
	else if (call)
		placing_call(p, &at, to, s->count);
	else
		placing_branch(p, &at, to, s->count);
}

/* Back behind a call that is the last of its block: on to the next one, over an edge that no
 * run goes over.  An image may lack the jump that its block has behind the call. */
static void place_return(struct placing *p, const struct sighting *s)
{
	struct place at, caller;

	p->stats->returns += s->count;
	if (placing_block(p, s->to, &at) && begins(p, &at, s->to) &&
	    placing_block(p, s->to - 1, &caller) && caller.fn == at.fn &&
	    (caller.insn->kind == INSN_CALL || caller.insn->kind == INSN_ICALL ||
	     (caller.moved && caller.insn->kind == INSN_JMP)))
		(void)placing_edge(p, &caller, at.block, s->count);
}

static void place_taken(struct placing *p, const struct sighting *s)
{
	struct insn insn, there;
	new_vaddr target, unused;

	if (!decode(p, s->insn, &insn, &target) || !branches(&insn)) {
		p->stats->no_branch += s->count;
		return;
	}
	if ((insn_is_branch(&insn) && target != s->to) || !decode(p, s->to, &there, &unused)) {
		p->stats->no_target += s->count;
		return;
	}
	p->stats->taken += s->count;
	if (insn.kind == INSN_RET)
		place_return(p, s);
	else if (is_entry_jump(p, s->insn))
		p->stats->own += s->count;
	else
		place_branch(p, s, &insn);
}

void branchstacks_place(const struct sightings_source *source, struct prog *prog,
			struct profile *out, struct sightings_stats *stats)
{
	struct placing p = { .source = source, .prog = prog, .stats = stats };

	*stats = (struct sightings_stats){ 0 };
	for (uint32_t i = 0; i < source->nsighting; i++) {
		if (source->sighting[i].kind == SIGHTING_RUN)
			place_run(&p, &source->sighting[i]);
		else
			place_taken(&p, &source->sighting[i]);
	}
	placing_finish(&p, out);
}
