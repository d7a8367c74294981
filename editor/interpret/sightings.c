/* sightings.c - turns sightings in a mapped file into edges and calls of its original
 *
 * A block's image has the block's instructions in order, the branch at its end last, and
 * perhaps a jump or NOPs after that.  So the image around a branch gives the block and the
 * instruction.  The target of a branch is followed through such jumps and NOPs to the start of
 * an image. A block without an image (nothing but NOPs, or a lone jump) has one successor, so
 * an edge to it is one to the first block after it that has an image.
 *
 * Tested by tests/unit/editor/interpret/test_interpret.c, on originals and generations.
 */
#include "editor/interpret/placing.h"

/* Jumps, or empty blocks, that are followed in a row; chosen, not measured. */
enum { HOPS = 8 };

/* How many instructions other than NOPs are in [from, to) of new text. */
static uint32_t instructions_between(const struct image *img, new_vaddr from, new_vaddr to)
{
	uint32_t n = 0;

	while (from < to) {
		struct insn insn;
		vaddr target;

		if (!insn_decode(image_rest(img, from), from, &insn, &target))
			return UINT32_MAX;
		n += insn.kind != INSN_NOP;
		from += insn.len;
	}
	return from == to ? n : UINT32_MAX;
}

static vaddr original_of(const struct sightings_source *s, new_vaddr addr)
{
	const struct blockmap_block *b = placing_image(s, addr);

	return b ? s->map->orig_base + b->orig : addr;
}

vaddr *sightings_wanted(const struct sightings_source *s, struct arena *a, uint32_t *n)
{
	vaddr *v = arena_array(a, 2 * (size_t)s->nsighting, sizeof(*v));

	*n = 0;
	for (uint32_t i = 0; i < s->nsighting; i++) {
		v[(*n)++] = original_of(s, s->sighting[i].insn);
		if (s->sighting[i].kind == SIGHTING_RUN)
			v[(*n)++] = original_of(s, s->sighting[i].to);
	}
	return v;
}

/* The instruction of a block that begins at addr. */
static const struct insn *insn_at(const struct prog *prog, const struct fn *fn,
				  const struct block *b, vaddr addr)
{
	for (uint32_t i = 0; i < b->ninsn; i++)
		if (prog_insn_addr(prog, &fn->insn[b->insn + i]) == addr)
			return &fn->insn[b->insn + i];
	return NULL;
}

/* The `count`-th one from addr on that is no NOP; NULL if there is none. */
static const struct insn *insn_behind(const struct prog *prog, const struct fn *fn,
				      const struct block *b, vaddr addr, uint32_t count)
{
	for (uint32_t i = 0; i < b->ninsn; i++) {
		const struct insn *insn = &fn->insn[b->insn + i];

		if (prog_insn_addr(prog, insn) >= addr && insn->kind != INSN_NOP &&
		    count-- == 0)
			return insn;
	}
	return NULL;
}

bool placing_block(const struct placing *p, new_vaddr addr, struct place *out)
{
	const struct blockmap_block *image = placing_image(p->source, addr);
	vaddr in_original = image ? p->source->map->orig_base + image->orig : addr;
	uint32_t f = prog_find_fn(p->prog, in_original);
	const struct fn *fn = f == NO_FN ? NULL : &p->prog->fn[f];

	if (!fn || !fn->kept || fn->nblock == 0)
		return false;
	uint32_t b = fn_find_block(fn, in_original);
	if (b == NO_BLOCK || fn->block[b].ninsn == 0)
		return false;
	*out = (struct place){ fn, b, &fn->insn[fn->block[b].insn + fn->block[b].ninsn - 1],
			       image != NULL };
	return true;
}

bool placing_find(const struct placing *p, new_vaddr addr, struct place *out)
{
	const struct sightings_source *s = p->source;
	const struct blockmap_block *image = placing_image(s, addr);

	if (!placing_block(p, addr, out))
		return false;
	const struct block *b = &out->fn->block[out->block];
	out->insn = image ? insn_behind(p->prog, out->fn, b, s->map->orig_base + image->orig,
					instructions_between(s->mapped,
							     s->map->gen_base + image->gen,
							     addr))
			  : insn_at(p->prog, out->fn, b, addr);
	return out->insn != NULL;
}

bool placing_is_last(const struct place *at)
{
	const struct block *b = &at->fn->block[at->block];

	return at->insn == &at->fn->insn[b->insn + b->ninsn - 1];
}

/* Where control arrives in the original when it gets to `addr`; false when it cannot be
 * told. */
bool placing_arrival(const struct sightings_source *s, new_vaddr addr, vaddr *out)
{
	for (int hop = 0; hop < HOPS; hop++) {
		const struct blockmap_block *b = placing_image(s, addr);
		struct insn insn;
		vaddr target;

		if (!b) {
			*out = addr;
			return true;
		}
		if (addr == s->map->gen_base + b->gen) {
			*out = s->map->orig_base + b->orig;
			return true;
		}
		if (!insn_decode(image_rest(s->mapped, addr), addr, &insn, &target))
			return false;
		if (insn.kind == INSN_JMP)
			addr = target;
		else if (insn.kind == INSN_NOP)
			addr += insn.len;
		else
			return false;
	}
	return false;
}

/* From block `b` of a moved function on to the first one that left an image. */
static uint32_t pass_through(const struct sightings_source *s, const struct fn *fn, uint32_t b)
{
	for (int hop = 0; hop < HOPS && b != NO_BLOCK; hop++) {
		const struct block *at = &fn->block[b];

		if (blockmap_find_orig(s->map, at->addr))
			return b;
		if (at->taken != NO_BLOCK && at->fall != NO_BLOCK)
			return b;
		b = at->taken != NO_BLOCK ? at->taken : at->fall;
	}
	return b;
}

static bool leads_to(const struct placing *p, const struct place *at, uint32_t succ,
		     uint32_t to)
{
	return succ != NO_BLOCK &&
	       (succ == to || (at->moved && pass_through(p->source, at->fn, succ) == to));
}

enum { AMBIGUOUS = UINT32_MAX - 1 };

static uint32_t choose(uint32_t so_far, uint32_t succ)
{
	return so_far == NO_BLOCK || so_far == succ ? succ : AMBIGUOUS;
}

/* The successor of a block that leads to block `to`: NO_BLOCK if none, AMBIGUOUS if several. */
static uint32_t successor(const struct placing *p, const struct place *at, uint32_t to)
{
	const struct fn *fn = at->fn;
	const struct block *b = &fn->block[at->block];
	uint32_t found = NO_BLOCK;

	if (leads_to(p, at, b->fall, to))
		found = choose(found, b->fall);
	if (leads_to(p, at, b->taken, to))
		found = choose(found, b->taken);
	if (b->table != NO_TABLE) {
		const struct jump_table *t = &fn->table[b->table];

		for (uint32_t i = 0; i < t->nentry; i++)
			if (leads_to(p, at, t->succ[i], to))
				found = choose(found, t->succ[i]);
	} else if (at->insn->kind == INSN_IJMP && fn->block[to].pinned) {
		found = choose(found, to);
	}
	return found;
}

void placing_call(struct placing *p, const struct place *at, vaddr to, uint64_t count)
{
	uint32_t f = prog_find_fn(p->prog, to);

	if (f == NO_FN || p->prog->fn[f].entry != to) {
		p->stats->outside += count;
	} else {
		struct profile_call call = { prog_insn_addr(p->prog, at->insn), to,
					     (double)count };

		vec_push(p->prog->arena, &p->calls, call);
		p->stats->calls += count;
	}
}

/* A direct call and the piece of code that ran because of it: if that is of the called
 * function, not of one that it has jumped to. */
static void place_caller(struct placing *p, const struct place *at, new_vaddr piece,
			 uint32_t count)
{
	const struct blockmap_block *image = placing_image(p->source, piece);
	vaddr ran = image ? p->source->map->orig_base + image->orig : piece;
	vaddr to = insn_target(at->insn, prog_insn_bytes(p->prog, at->insn),
			       prog_insn_addr(p->prog, at->insn));
	uint32_t f = prog_find_fn(p->prog, ran);

	if (f != NO_FN && p->prog->fn[f].entry == to)
		placing_call(p, at, to, count);
	else
		p->stats->others += count;
}

bool placing_edge(struct placing *p, const struct place *at, uint32_t to, uint64_t count)
{
	uint32_t succ = successor(p, at, to);

	if (succ == NO_BLOCK || succ == AMBIGUOUS)
		return false;
	struct profile_edge edge = { at->fn->block[at->block].addr, at->fn->block[succ].addr,
				     (double)count };
	vec_push(p->prog->arena, &p->edges, edge);
	p->stats->edges += count;
	return true;
}

void placing_branch(struct placing *p, const struct place *at, vaddr to, uint64_t count)
{
	uint32_t b = fn_find_block(at->fn, to), succ = NO_BLOCK;

	if (b != NO_BLOCK && at->fn->block[b].addr == to)
		succ = successor(p, at, b);
	if (succ == AMBIGUOUS) {
		p->stats->ambiguous += count;
	} else if (succ != NO_BLOCK) {
		(void)placing_edge(p, at, b, count);	/* there is one */
	} else if (at->insn->kind == INSN_IJMP || at->fn->block[at->block].taken_out == to) {
		placing_call(p, at, to, count);
	} else {
		p->stats->no_edge += count;
	}
}

static void place_sighting(struct placing *p, const struct sighting *s)
{
	struct place at;
	vaddr to;

	if (!placing_find(p, s->insn, &at)) {
		p->stats->uncut += s->count;
		return;
	}
	if (s->kind == SIGHTING_CALLER) {
		if (at.insn->kind == INSN_CALL)
			place_caller(p, &at, s->to, s->count);
		else
			p->stats->no_edge += s->count;
		return;
	}
	bool fits = s->kind == SIGHTING_CALL ? at.insn->kind == INSN_ICALL :
		    placing_is_last(&at) &&
			    (at.insn->kind == INSN_JCC || at.insn->kind == INSN_LOOP ||
			     at.insn->kind == INSN_IJMP);
	if (!fits || !placing_arrival(p->source, s->to, &to))
		p->stats->no_edge += s->count;
	else if (s->kind == SIGHTING_CALL)
		placing_call(p, &at, to, s->count);
	else
		placing_branch(p, &at, to, s->count);
}

/* Several sightings may be of one edge: through an entry jump or straight, say. */
void placing_finish(struct placing *p, struct profile *out)
{
	out->block = p->blocks.v;
	out->nblock = p->blocks.n;
	out->edge = p->edges.v;
	out->nedge = p->edges.n;
	out->call = p->calls.v;
	out->ncall = p->calls.n;
	profile_sort(out);
}

void sightings_place(const struct sightings_source *source, struct prog *prog,
		     struct profile *out, struct sightings_stats *stats)
{
	struct placing p = { .source = source, .prog = prog, .stats = stats };

	*stats = (struct sightings_stats){ 0 };
	for (uint32_t i = 0; i < source->nsighting; i++)
		place_sighting(&p, &source->sighting[i]);
	placing_finish(&p, out);
}
