/* emit_plan.c - where each block goes in new text, and how its image ends
 *
 * ORDER    First the hot blocks: function by function in prog->order, each function's in
 *          fn->order.  Then in the same way the warm blocks, then the cold ones; warm and cold
 *          blocks are the fluff text.  Padding between functions is left out, and so are blocks
 *          that stay: what leads to a block that stays leads to the original.  NOPs at a
 *          block's end are left out, except one right behind a call, one behind int3, and those
 *          of static probe points.  A block of nothing but NOPs has an empty image: what leads
 *          to it leads to the block that it runs into.
 *
 * ENDS     Given the block that is placed next in the same part, a block ends as it did, or
 *          with its branch inverted, or with a synthetic jmp after it for the less likely edge.
 *          A jmp to the next block is left out, unless the block is a label and nothing else
 *          would be left of it: pointers to two labels must differ.
 *          A LOOP or JRCXZ whose target is out of reach of 8 bits becomes
 *              loop +2; jmp +5; jmp rel32 TARGET
 *          which is one branch of 9 bytes to relaxation: displacement at the end, as in all.
 *
 * LINES    Where the ends of lines shall lie is emit_lines.c's matter.  NOPs in front of a
 *          place run when control falls into it.
 *
 * INVARIANTS
 *   I1  every block of a moved function but padding and what stays has a place, its own or its
 *       successor's;
 *   I2  places of one function's part are adjacent and its first one starts a span.
 *
 * Tested by tests/unit/editor/emit/test_emit_plan.c and test_emit.c.
 */
#include "editor/emit/emit.h"

#include "lib/blockmap.h"
#include "lib/err.h"

enum { LOOP_LONG = 9, JMP_SHORT = 2, JMP_LONG = 5, JCC_LONG = 6, XBEGIN_LEN = 6,
       JMP_SLOT = 6 };
/* In bytes; 16 and at most 10 skipped are gcc's own (`.p2align 4,,10`). */
enum { HOT_ALIGN = 16, BLOCK_ALIGN = 16, BLOCK_MAX_SKIP = 10 };
/* A block is a loop's start if branches back are so large a part of its executions.  Chosen by
 * trial: aligning all blocks that are branched to more often than run into gave 2.5 % more
 * lines of hot text, and perl 12 % more I1 misses. */
#define LOOP_SHARE 0.875

const char *emit_fn_text(const struct prog *prog, const struct fn *fn)
{
	return arena_printf(prog->arena, "%s at 0x%llx", fn->name ? fn->name : "function",
			    (unsigned long long)fn->entry);
}

uint32_t emit_moved_entry(const struct prog *prog, vaddr addr)
{
	uint32_t fn = prog_find_fn(prog, addr);

	return fn != NO_FN && prog->fn[fn].entry == addr && prog->fn[fn].moved ? fn : NO_FN;
}

static const struct insn *last_insn(const struct fn *fn, const struct block *b)
{
	return &fn->insn[b->insn + b->ninsn - 1];
}

bool emit_ends_in_branch(const struct fn *fn, const struct block *b)
{
	uint8_t kind = last_insn(fn, b)->kind;

	return kind == INSN_JMP || kind == INSN_JCC || kind == INSN_LOOP || kind == INSN_XBEGIN;
}

/* Leading instructions that the image keeps: all without the branch or the NOPs at the end.  A
 * NOP right behind a call stays, because code that reads return addresses may look at it; so
 * does one behind int3, where trap handlers look for the meaning of the trap.  A probe's NOP
 * has an image of its own. */
uint32_t emit_count_kept(const struct prog *prog, const struct fn *fn, const struct block *b)
{
	static const uint8_t INT3 = 0xcc;

	const struct insn *insn = &fn->insn[b->insn];
	uint32_t n = b->ninsn;

	if (emit_ends_in_branch(fn, b))
		return n - 1;
	while (n > 0 && insn[n - 1].kind == INSN_NOP)
		n--;
	if (n > 0 && n < b->ninsn &&
	    (insn[n - 1].kind == INSN_CALL || insn[n - 1].kind == INSN_ICALL ||
	     *prog_insn_bytes(prog, &insn[n - 1]) == INT3))
		n++;
	return n == 0 && b->probe ? 1 : n;
}

/* Nothing of it is left and control runs on inside the function. */
bool emit_is_empty(const struct prog *prog, const struct fn *fn, const struct block *b)
{
	return !b->padding && b->fall != NO_BLOCK && emit_count_kept(prog, fn, b) == 0 &&
	       !emit_ends_in_branch(fn, b);
}

enum temperature { HOT, WARM, COLD, NTEMPERATURE };

static enum temperature temperature_of(const struct block *b)
{
	return b->cold ? COLD : b->warm ? WARM : HOT;
}

static void add_places(struct emit_plan *plan, uint32_t f, enum temperature temperature)
{
	const struct fn *fn = &plan->prog->fn[f];
	bool first = true;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[fn->order[i]];

		if (temperature_of(b) != temperature || b->padding || b->stays ||
		    emit_is_empty(plan->prog, fn, b))
			continue;
		plan->place_of[f][fn->order[i]] = plan->nplace;
		plan->place[plan->nplace++] = (struct emit_place){
			.fn = f, .block = fn->order[i], .starts_part = first,
			.hot = temperature == HOT,
		};
		first = false;
	}
}

/* The block that stays and is all there is of block `id`; NO_BLOCK if that has an image. */
static uint32_t find_stay(const struct emit_plan *plan, const struct fn *fn, uint32_t id)
{
	while (id < fn->nblock && !fn->block[id].stays) {
		if (!emit_is_empty(plan->prog, fn, &fn->block[id]) || fn->block[id].fall <= id)
			return NO_BLOCK;
		id = fn->block[id].fall;
	}
	return id < fn->nblock ? id : NO_BLOCK;
}

/* Empty blocks get the place of the block that they run into, unless that stays.  `fall` leads
 * to higher ids, so one pass backwards resolves several empty blocks in a row. */
static int resolve_empty(struct emit_plan *plan, uint32_t f, struct err *err)
{
	const struct fn *fn = &plan->prog->fn[f];

	for (uint32_t i = fn->nblock; i-- > 0; ) {
		if (!emit_is_empty(plan->prog, fn, &fn->block[i]) ||
		    find_stay(plan, fn, i) != NO_BLOCK)
			continue;
		uint32_t to = fn->block[i].fall;

		if (to <= i || to >= fn->nblock || plan->place_of[f][to] == NO_PLACE)
			return err_set(err, ERR_REFUSED,
				       "%s: block at 0x%llx runs into nothing",
				       emit_fn_text(plan->prog, fn),
				       (unsigned long long)fn->block[i].addr);
		plan->place_of[f][i] = plan->place_of[f][to];
	}
	return 0;
}

int emit_find_block(const struct emit_plan *plan, uint32_t f, uint32_t id,
		    struct emit_dest *dest)
{
	const struct fn *fn = &plan->prog->fn[f];

	if (id >= fn->nblock)
		return -1;
	*dest = (struct emit_dest){ plan->place_of[f][id], 0 };
	if (dest->place != NO_PLACE)
		return 0;
	id = find_stay(plan, fn, id);
	dest->addr = id == NO_BLOCK ? 0 : fn->block[id].addr;
	return id == NO_BLOCK ? -1 : 0;
}

/* Destination of an edge: block `id`, or address `out` when that is none. */
static int find_dest(const struct emit_plan *plan, uint32_t f, uint32_t id, vaddr out,
		     struct emit_dest *dest)
{
	if (id != NO_BLOCK)
		return emit_find_block(plan, f, id, dest);
	*dest = (struct emit_dest){ NO_PLACE, out };
	uint32_t callee = emit_moved_entry(plan->prog, out);

	if (callee != NO_FN)
		dest->place = plan->place_of[callee][0];
	return 0;
}

static bool has_fall(const struct block *b)
{
	return b->fall != NO_BLOCK || b->fall_out != 0;
}

/* Decides how place `i` ends; `next` is the place behind it in the same part, or NO_PLACE.
 * `fills` says for now only that control runs off its end into `next`. */
static int decide_end(struct emit_plan *plan, uint32_t i, uint32_t next)
{
	struct emit_place *p = &plan->place[i];
	const struct fn *fn = &plan->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	struct emit_dest taken, fall;

	p->nkept = emit_count_kept(plan->prog, fn, b);
	p->branched = emit_ends_in_branch(fn, b);
	if (p->branched) {
		if (find_dest(plan, p->fn, b->taken, b->taken_out, &taken) < 0)
			return -1;
		p->branch = taken;
		if (last_insn(fn, b)->kind == INSN_JMP) {
			p->fills = taken.place != NO_PLACE && taken.place == next &&
				   !(fn->threaded && b->pinned && p->nkept == 0);
			p->branched = !p->fills;
			p->slot = emit_slot_of(plan->prog, b, last_insn(fn, b));
			return 0;
		}
		if (!has_fall(b))
			return -1;
	}
	if (!has_fall(b))
		return 0;
	if (find_dest(plan, p->fn, b->fall, b->fall_out, &fall) < 0)
		return -1;
	p->jump = fall;
	p->fills = fall.place != NO_PLACE && fall.place == next;
	if (p->fills)
		return 0;

	/* What is counted on a way stays on it: then nothing is inverted. */
	bool free = p->branched && last_insn(fn, b)->kind == INSN_JCC &&
		    !emit_counters_taken(plan, p) && !emit_counters_fall(plan, p);

	if (free && taken.place != NO_PLACE && taken.place == next) {
		p->inverted = p->fills = true;
		p->branch = fall;
		return 0;
	}
	p->jumps = true;
	if (free && b->fall_count > b->taken_count) {
		p->inverted = true;	/* the likelier way costs no second jump */
		p->branch = fall;
		p->jump = taken;
	}
	return 0;
}

/* Bytes in front of the opcode of a direct branch. */
static uint32_t branch_prefixes(const struct insn *insn)
{
	uint32_t opcode = insn->kind == INSN_XBEGIN ||
			  (insn->kind == INSN_JCC && insn->field_size == 4) ? 2 : 1;

	return insn->field > opcode ? insn->field - opcode : 0;
}

static void set_branch(struct relax_item *item, const struct emit_dest *dest,
		       uint8_t short_size, uint8_t long_size)
{
	item->target = dest->place == NO_PLACE ? RELAX_FAR : dest->place;
	item->short_size = short_size;
	item->long_size = long_size;
}

static void set_block_branch(struct relax_item *item, const struct insn *insn,
			     const struct emit_place *p)
{
	const struct emit_dest *dest = &p->branch;

	item->size += branch_prefixes(insn);
	if (p->slot) {
		set_branch(item, dest, JMP_SLOT, JMP_SLOT);
		return;
	}
	switch (insn->kind) {
	case INSN_JMP:
		set_branch(item, dest, JMP_SHORT, JMP_LONG);
		break;
	case INSN_JCC:
		set_branch(item, dest, 2, JCC_LONG);
		break;
	case INSN_LOOP:
		set_branch(item, dest, 2, LOOP_LONG);
		break;
	default:
		set_branch(item, dest, XBEGIN_LEN, XBEGIN_LEN);
	}
}

/* For each place of the hot text: how often it is reached by a branch from itself or from a
 * later place. */
static double *count_loops(const struct emit_plan *plan)
{
	double *back = arena_array(plan->arena, plan->nplace, sizeof(*back));

	for (uint32_t i = 0; i < plan->nhot; i++) {
		const struct emit_place *p = &plan->place[i];
		const struct block *b = &plan->prog->fn[p->fn].block[p->block];
		const uint32_t to[2] = { b->fall, b->taken };
		const double count[2] = { b->fall_count, b->taken_count };

		for (int k = 0; k < 2; k++) {
			uint32_t place =
				to[k] == NO_BLOCK ? NO_PLACE : plan->place_of[p->fn][to[k]];

			if (place <= i)
				back[place] += count[k];
		}
	}
	return back;
}

/* Alignment of a place.  A loop is fetched best from the start of a 16-byte line; but the NOPs
 * in front of it run when it is entered, and always take room in the cache.  So a block is
 * aligned only if nearly all of its executions come by branches back, and if its counts are
 * more than a guess.  Programs use the low bits of function pointers, so entries are aligned in
 * any part, and as the original's where pointers lead to them.  In front of those there is a
 * byte of no function: an entry may stand where a return address belongs (makecontext()), and
 * unwinders look for the function of the byte in front of that. */
static void align_place(const struct emit_plan *plan, uint32_t i, double back,
			struct relax_item *item)
{
	const struct emit_place *p = &plan->place[i];
	const struct fn *fn = &plan->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];

	item->align = 1;
	if ((p->hot && p->starts_part) || plan->place_of[p->fn][0] == i) {
		item->parted = plan->place_of[p->fn][0] == i && fn->redirected;
		item->align = item->parted && fn->align > HOT_ALIGN ? fn->align : HOT_ALIGN;
		return;
	}
	if (!p->hot)
		return;
	if (b->count <= 0 || b->confidence == CONFIDENCE_LOW || back < LOOP_SHARE * b->count)
		return;
	item->align = BLOCK_ALIGN;
	item->max_skip = BLOCK_MAX_SKIP;
}

/* A branch whose taken edge is counted: [branch around | counter | jmp TARGET]. */
static void set_counted_branch(const struct emit_plan *plan, const struct emit_place *p,
			       struct relax_item *item, const struct insn *insn)
{
	item->size += branch_prefixes(insn) + emit_counters_around(insn) +
		      emit_counters_taken(plan, p);
	set_branch(item, &p->branch, JMP_SHORT, JMP_LONG);
}

static void add_entries(struct emit_plan *plan, struct emit_place *p)
{
	const struct edgecounter *c =
		edgecounter_entries(plan->counters, p->fn, p->block, &p->nentry);

	for (uint32_t i = 0; i < p->nentry; i++) {
		struct relax_item item = { .target = RELAX_NONE };
		struct emit_dest to = { plan->place_of[p->fn][c[i].where], 0 };

		item.size = emit_counters_size(plan, &c[i], NULL);
		set_branch(&item, &to, JMP_SHORT, JMP_LONG);
		plan->item[plan->nitem++] = item;
	}
}

static void add_items(struct emit_plan *plan, uint32_t i, double back)
{
	struct emit_place *p = &plan->place[i];
	const struct fn *fn = &plan->prog->fn[p->fn];
	const struct block *b = &fn->block[p->block];
	struct relax_item item = { .target = RELAX_NONE };
	uint32_t fall = emit_counters_fall(plan, p);

	align_place(plan, i, back, &item);
	if (i > 0)
		plan->place[i - 1].fills &= item.align > 1 || (plan->fitted && i < plan->nhot);
	for (uint32_t k = 0; k < p->nkept; k++)
		item.size += emit_counters_before(plan, p, k) +
			     emit_insn_size(plan, p, k);
	if (emit_ends_in_branch(fn, b))
		item.size += emit_counters_before(plan, p, b->ninsn - 1);
	p->item = plan->nitem;
	if (p->branched && emit_counters_taken(plan, p))
		set_counted_branch(plan, p, &item, last_insn(fn, b));
	else if (p->branched)
		set_block_branch(&item, last_insn(fn, b), p);
	if (!p->branched)
		item.size += fall;
	if (p->jumps && !p->branched)
		set_branch(&item, &p->jump, JMP_SHORT, JMP_LONG);
	plan->item[plan->nitem++] = item;
	if (p->branched && (p->jumps || fall)) {
		item = (struct relax_item){ .target = RELAX_NONE, .size = fall };
		if (p->jumps)
			set_branch(&item, &p->jump, JMP_SHORT, JMP_LONG);
		plan->item[plan->nitem++] = item;
	}
	add_entries(plan, p);
	p->nitem = plan->nitem - p->item;
}

static int decide_all(struct emit_plan *plan, const double *back, struct err *err)
{
	emit_lines_mark(plan);
	plan->item = arena_array(plan->arena,
				 2 * (size_t)plan->nplace +
					 (plan->counters ? plan->counters->nentry : 0),
				 sizeof(*plan->item));
	for (uint32_t i = 0; i < plan->nplace; i++) {
		bool last = i + 1 == plan->nplace || plan->place[i + 1].starts_part;

		if (decide_end(plan, i, last ? NO_PLACE : i + 1) < 0) {
			const struct fn *fn = &plan->prog->fn[plan->place[i].fn];

			return err_set(err, ERR_REFUSED,
				       "%s: block at 0x%llx has an edge that leads nowhere",
				       emit_fn_text(plan->prog, fn), (unsigned long long)
				       fn->block[plan->place[i].block].addr);
		}
		add_items(plan, i, back[i]);
	}
	for (uint32_t i = 0; i < plan->nitem; i++)	/* from places to items */
		if (plan->item[i].target < RELAX_FAR)
			plan->item[i].target = plan->place[plan->item[i].target].item;
	return 0;
}

static int add_tables(struct emit_plan *plan, uint32_t f, struct err *err)
{
	const struct prog *prog = plan->prog;
	const struct fn *fn = &prog->fn[f];

	if (fn->ntable == 0)
		return 0;
	plan->table_of[f] = arena_array(plan->arena, fn->ninsn, sizeof(**plan->table_of));
	for (uint32_t i = 0; i < fn->ninsn; i++)
		plan->table_of[f][i] = NO_TABLE;
	for (uint32_t i = 0; i < fn->ntable; i++) {
		const struct jump_table *t = &fn->table[i];
		uint32_t size = t->kind == BLOCKMAP_TABLE_ABS64 ? 8 : 4;

		if (size == 8 && prog->img.pie_or_dso)
			return err_set(err, ERR_REFUSED,
				       "%s: jump table at 0x%llx has absolute "
				       "addresses in a file that is loaded anywhere",
				       emit_fn_text(prog, fn), (unsigned long long)t->addr);
		plan->tables_size = (plan->tables_size + size - 1) & ~(uint64_t)(size - 1);
		for (uint32_t k = 0; k < t->nuser; k++)
			plan->table_of[f][t->user[k]] = plan->ntable;
		plan->table[plan->ntable++] = (struct emit_table){ f, i, plan->tables_size };
		plan->tables_size += (uint64_t)size * t->nentry;
	}
	return 0;
}

static int check_order(const struct prog *prog, uint32_t f, struct err *err)
{
	if (f < prog->nfn && prog->fn[f].moved && prog->fn[f].nblock > 0)
		return 0;
	return err_set(err, ERR_REFUSED, "order names function %u, which is not moved", f);
}

int emit_plan_fill(struct emit_plan *plan, const struct prog *prog,
		   const struct edgecounters *counters, struct err *err)
{
	uint64_t nblock = 0, ntable = 0;

	*plan = (struct emit_plan){ .prog = prog, .counters = counters, .arena = arena_new() };
	plan->place_of = arena_array(plan->arena, prog->nfn, sizeof(*plan->place_of));
	plan->table_of = arena_array(plan->arena, prog->nfn, sizeof(*plan->table_of));
	for (uint32_t i = 0; i < prog->norder; i++) {
		if (check_order(prog, prog->order[i], err) < 0)
			return -1;
		const struct fn *fn = &prog->fn[prog->order[i]];
		uint32_t *of = arena_array(plan->arena, fn->nblock, sizeof(*of));

		for (uint32_t k = 0; k < fn->nblock; k++)
			of[k] = NO_PLACE;
		plan->place_of[prog->order[i]] = of;
		nblock += fn->nblock;
		ntable += fn->ntable;
	}
	if (nblock > INT32_MAX / 2)
		return err_set(err, ERR_REFUSED, "too many blocks");
	plan->place = arena_array(plan->arena, nblock, sizeof(*plan->place));
	plan->table = arena_array(plan->arena, ntable, sizeof(*plan->table));
	for (enum temperature temperature = HOT; temperature < NTEMPERATURE; temperature++) {
		for (uint32_t i = 0; i < prog->norder; i++)
			add_places(plan, prog->order[i], temperature);
		if (temperature == HOT)
			plan->nhot = plan->nplace;
	}
	for (uint32_t i = 0; i < prog->norder; i++)
		if (resolve_empty(plan, prog->order[i], err) < 0 ||
		    add_tables(plan, prog->order[i], err) < 0)
			return -1;
	const double *back = count_loops(plan);

	if (decide_all(plan, back, err) < 0)
		return -1;
	plan->text_size = emit_lines_relax(plan, back);
	for (uint32_t i = 0; i < plan->nplace; i++)
		plan->place[i].front = plan->item[plan->place[i].item].front;
	plan->hot_size = plan->nhot < plan->nplace ?
			 plan->item[plan->place[plan->nhot].item].addr : plan->text_size;
	if (plan->text_size > INT32_MAX || plan->tables_size > INT32_MAX)
		return err_set(err, ERR_REFUSED, "new text would be over 2 GiB");
	return 0;
}

void emit_plan_free(struct emit_plan *plan)
{
	arena_free(plan->arena);
	plan->arena = NULL;
	plan->place = NULL;
	plan->item = NULL;
	plan->place_of = plan->table_of = NULL;
	plan->table = NULL;
}
