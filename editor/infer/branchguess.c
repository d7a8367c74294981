/* branchguess.c - finds the features of conditional branches from which probabilities are
 * learnt
 *
 * What programmers and compilers do shows in the code: pointers are seldom null, loops are
 * seldom left, and a compiler lays the successor that it thinks likelier behind the branch
 * (Ball and Larus 1993).  How much each feature says differs between compilers and programs, so
 * no weights stand here: the branches of a program that were seen teach what its others do
 * (Calder et al. 1997 learn them from other programs; to begin with the weights of 16 programs
 * made no difference for a 17th from 5,000 samples on).
 *
 * FEATURES  what kind of instruction sets the flags, and the condition: a number for each pair
 *           of opposite conditions
 *           its form: which constant or which field of a structure is compared, and which call
 *           or field the compared value came from.  A program asks the same questions in many
 *           places.  Forms are numbered by a hash, so a few share a number
 *           how far and in which direction the branch leads; the same once more inside loops
 *           facts about the block that it leads to, less those about the block behind it
 *
 * Thresholds (of distance, of length, AHEAD, NFORM) are chosen; what all features together
 * bring is measured by bench/accuracy.c ("right").
 *
 * Tested by tests/unit/editor/passes/test_passes.c (tests/ir/infer_guess*.txt).
 */
#include "editor/infer/branchguess.h"

#include <assert.h>

#include "binary/bytememo.h"
#include "postmorph/machine/machine.h"

enum { AHEAD = 3 };		/* blocks that are looked at behind a branch */

enum compare {			/* what sets the flags */
	TEST64, TEST32, TEST8, TEST_BITS, CMP_ZERO, CMP_MINUS_ONE, CMP_CONSTANT, CMP_LOADED,
	CMP_REGISTERS, CMP_MEMORY, COMPUTED, UNSEEN, NCOMPARE
};

enum { NCONDITION = 8, NREACH = 7 };

/* of a block behind a branch; of AHEAD blocks behind it: RETURNS, NO_CALL */
enum fact {
	NORETURN, FRAGMENT, ENTERS, LEAVES, CALLS, COMPUTED_CALL, STORES, SHORT, LONG, JOINS,
	JUMPS, RETURNS, NO_CALL, NFACT
};

enum {
	FEATURE_CONDITION = 0,
	FEATURE_REACH = NCOMPARE * NCONDITION,
	FEATURE_REACH_IN_LOOP = FEATURE_REACH + NREACH,
	FEATURE_FACT = FEATURE_REACH_IN_LOOP + NREACH,
	FEATURE_FORM = FEATURE_FACT + NFACT,
	NFORM = 1024,
	FEATURE_FORM_AND_SOURCE = FEATURE_FORM + NFORM,
	NFEATURE = FEATURE_FORM_AND_SOURCE + NFORM,
};
static_assert((int)NFEATURE <= (int)BRANCHGUESS_WEIGHTS, "a weight for each feature");

enum { OWN_CALL = 1, OWN_ICALL = 2, OWN_STORE = 4, OWN_RET = 8, OWN_JUMP = 16 };

struct looks {
	const struct prog *prog;
	const struct fn *fn;
	int32_t *depth;		/* [nblock] of loops */
	uint32_t *ways;		/* [nblock] falls and branches that lead there */
	uint8_t *own;		/* [nblock] OWN_ bits */
};

static struct act act_at(const struct looks *w, const struct insn *insn)
{
	struct act act;

	act_lower((struct bytes){ prog_insn_bytes(w->prog, insn), insn->len },
		  prog_insn_addr(w->prog, insn), &act);
	return act;
}

static enum compare compare_of(const struct act *act)
{
	bool same =
		act->a.kind == ARG_REG && act->b.kind == ARG_REG && act->a.reg == act->b.reg;

	if (act->kind != ACT_ALU)
		return UNSEEN;
	if (act->dst.kind != ARG_NONE)
		return COMPUTED;
	if (act->alu == ALU_AND)
		return !same		 ? TEST_BITS
		       : act->bits == 64 ? TEST64
		       : act->bits == 8	 ? TEST8
					 : TEST32;
	if (act->b.kind != ARG_IMM)
		return act->a.kind == ARG_MEM || act->b.kind == ARG_MEM ? CMP_MEMORY
									: CMP_REGISTERS;
	if (act->imm == 0)
		return CMP_ZERO;
	if (alu_low(~act->imm, act->bits) == 0)
		return CMP_MINUS_ONE;
	return act->a.kind == ARG_MEM ? CMP_LOADED : CMP_CONSTANT;
}

/* What sets the flags of a branch. */
struct question {
	enum compare compare;
	uint32_t form, source;		/* hashes; source 0: not seen */
};

static uint32_t mix(uint32_t hash, uint64_t v)
{
	return (uint32_t)(((hash ^ v) * 0x9e3779b97f4a7c15) >> 32);
}

static uint64_t field_of(const struct act *act)
{
	return (uint64_t)act->mem.disp ^ (uint64_t)act->bits << 48;
}

static uint32_t form_of(const struct act *act)
{
	uint32_t kinds = (uint32_t)(act->a.kind << 8 | act->b.kind << 4 | act->dst.kind);
	uint32_t hash = mix(mix(mix(act->kind, act->alu), kinds), act->imm);
	bool memory = act->a.kind == ARG_MEM || act->b.kind == ARG_MEM;

	return mix(hash, memory ? field_of(act) : act->bits);
}

/* What an instruction does, whatever its constants are. */
struct traits {
	bool stores, loads, writes_flags;
};

static struct traits traits_of(const struct looks *w, const struct insn *insn)
{
	static struct { uint64_t key; struct traits traits; } memo[BYTEMEMO_SLOTS];
	uint64_t key = bytememo_key_pattern(
		(struct bytes){ prog_insn_bytes(w->prog, insn), insn->len });
	uint32_t slot = bytememo_slot(key);

	if (!key || memo[slot].key != key) {
		struct act act = act_at(w, insn);

		memo[slot].key = key;
		memo[slot].traits = (struct traits){
			.stores = act.dst.kind == ARG_MEM ||
				  (act.kind == ACT_OTHER && act.stores),
			.loads = act.kind == ACT_MOVE && act.a.kind == ARG_MEM,
			.writes_flags = act_writes_flags(&act),
		};
	}
	return memo[slot].traits;
}

/* The last load or call in front of it is taken to be where what it looks at comes from. */
static struct question find_question(const struct looks *w, const struct block *b)
{
	struct question q = { .compare = UNSEEN };
	bool found = false;

	for (uint32_t i = b->ninsn - 1; i-- > 0 && !q.source; ) {
		const struct insn *insn = &w->fn->insn[b->insn + i];
		const uint8_t *code = prog_insn_bytes(w->prog, insn);
		struct traits traits = traits_of(w, insn);

		if (insn->kind == INSN_CALL) {
			q.source =
				mix(1, insn_target(insn, code, prog_insn_addr(w->prog, insn))) |
				1;
		} else if (found && traits.loads) {
			struct act act = act_at(w, insn);

			q.source = mix(2, field_of(&act)) | 1;
		} else if (!found && traits.writes_flags) {
			struct act act = act_at(w, insn);

			found = true;
			q.compare = compare_of(&act);
			q.form = form_of(&act);
		}
	}
	return q;
}

static uint8_t own_bit(const struct looks *w, const struct insn *insn)
{
	switch ((enum insn_kind)insn->kind) {
	case INSN_CALL:
		return OWN_CALL;
	case INSN_ICALL:
		return OWN_ICALL;
	case INSN_RET:
		return OWN_RET;
	case INSN_JMP:
		return OWN_JUMP;
	case INSN_PLAIN:
		return traits_of(w, insn).stores ? OWN_STORE : 0;
	default:
		return 0;
	}
}

static void look_at_blocks(struct looks *w)
{
	const struct fn *fn = w->fn;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		for (uint32_t k = 0; k < b->ninsn; k++) {
			const struct insn *insn = &fn->insn[b->insn + k];

			if (insn->kind != INSN_PLAIN || !(w->own[i] & OWN_STORE))
				w->own[i] |= own_bit(w, insn);
		}
		if (b->fall != NO_BLOCK)
			w->ways[b->fall]++;
		if (b->taken != NO_BLOCK)
			w->ways[b->taken]++;
	}
}

/* Every branch backwards makes a loop of what stands between.  step[] is scratch, [nblock +
 * 1], zero. */
static void look_at_loops(struct looks *w, int32_t *step)
{
	const struct fn *fn = w->fn;
	int32_t depth = 0;

	for (uint32_t i = 0; i < fn->nblock; i++) {
		uint32_t to = fn->block[i].taken;

		if (to <= i && fn->block[to].range == fn->block[i].range) {
			step[to]++;
			step[i + 1]--;
		}
	}
	for (uint32_t i = 0; i < fn->nblock; i++)
		w->depth[i] = depth += step[i];
}

/* OWN_ bits of the blocks that follow for certain. */
static uint8_t look_ahead(const struct looks *w, uint32_t id)
{
	uint8_t own = 0;

	for (int i = 0; i < AHEAD; i++) {
		const struct block *b = &w->fn->block[id];

		own |= w->own[id];
		if (b->noreturn || (b->fall == NO_BLOCK) == (b->taken == NO_BLOCK))
			break;
		id = b->fall != NO_BLOCK ? b->fall : b->taken;
	}
	return own;
}

static void find_facts(const struct looks *w, uint32_t from, uint32_t id, bool *fact)
{
	const struct block *b = &w->fn->block[id];
	uint8_t ahead = look_ahead(w, id);
	uint32_t length = block_length(w->fn, b);

	fact[NORETURN] = b->leads_to_noreturn;
	fact[FRAGMENT] = b->range > 0;
	fact[ENTERS] = w->depth[id] > w->depth[from];
	fact[LEAVES] = w->depth[id] < w->depth[from];
	fact[CALLS] = w->own[id] & OWN_CALL;
	fact[COMPUTED_CALL] = w->own[id] & OWN_ICALL;
	fact[STORES] = w->own[id] & OWN_STORE;
	fact[SHORT] = length <= 2;
	fact[LONG] = length >= 10;
	fact[JOINS] = w->ways[id] > 1;
	fact[JUMPS] = w->own[id] & OWN_JUMP;
	fact[RETURNS] = ahead & OWN_RET;
	fact[NO_CALL] = (ahead & OWN_RET) && !(ahead & (OWN_CALL | OWN_ICALL));
}

/* Backwards; forwards, by the distance; to another range. */
static uint32_t reach_of(const struct fn *fn, const struct block *b)
{
	const struct block *to = &fn->block[b->taken];
	uint64_t skipped = to->addr - (b->addr + b->size);

	if (to->range != b->range)
		return 6;
	if (to->addr <= b->addr)
		return 0;
	return skipped < 16 ? 1 : skipped < 64 ? 2 : skipped < 256 ? 3 : skipped < 1024 ? 4 : 5;
}

static void add_feature(struct logistic_feature *feature, uint32_t *n, uint32_t weight,
			float value)
{
	feature[(*n)++] = (struct logistic_feature){ weight, value };
}

static void read_features(const struct looks *w, uint32_t id, struct arena *a,
			  struct logistic_case *out)
{
	const struct block *b = &w->fn->block[id];
	const uint8_t *jcc = prog_insn_bytes(w->prog, &w->fn->insn[b->insn + b->ninsn - 1]);
	uint32_t condition = (*jcc == 0x0f ? jcc[1] : *jcc) & 15, reach = reach_of(w->fn, b),
		 n = 0;
	struct logistic_feature feature[NFACT + 5];
	struct question q = find_question(w, b);
	float way = condition % 2 ? -1 : 1;	/* conditions 2n and 2n + 1 are opposites */
	uint32_t form = mix(q.form, condition / 2);
	bool taken[NFACT], fall[NFACT];

	add_feature(feature, &n, FEATURE_CONDITION + q.compare * NCONDITION + condition / 2,
		    way);
	add_feature(feature, &n, FEATURE_FORM + form % NFORM, way);
	if (q.source)
		add_feature(feature, &n, FEATURE_FORM_AND_SOURCE + mix(form, q.source) % NFORM,
			    way);
	add_feature(feature, &n, FEATURE_REACH + reach, 1);
	if (w->depth[id] > 0)
		add_feature(feature, &n, FEATURE_REACH_IN_LOOP + reach, 1);
	find_facts(w, id, b->taken, taken);
	find_facts(w, id, b->fall, fall);
	for (uint32_t i = 0; i < NFACT; i++) {
		if (taken[i] != fall[i])
			add_feature(feature, &n, FEATURE_FACT + i, taken[i] ? 1 : -1);
	}
	*out = (struct logistic_case){ .feature = arena_dup(a, feature, n * sizeof(*feature)),
				       .nfeature = n };
}

void branchguess_features(const struct prog *prog, const struct fn *fn, struct arena *a,
			  struct logistic_case *out)
{
	struct looks w = { .prog = prog, .fn = fn };

	w.depth = arena_array(a, fn->nblock, sizeof(*w.depth));
	w.ways = arena_array(a, fn->nblock, sizeof(*w.ways));
	w.own = arena_array(a, fn->nblock, sizeof(*w.own));
	look_at_loops(&w, arena_array(a, (size_t)fn->nblock + 1, sizeof(int32_t)));
	look_at_blocks(&w);
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];

		out[i] = (struct logistic_case){ 0 };
		if (b->ninsn && fn->insn[b->insn + b->ninsn - 1].kind == INSN_JCC &&
		    b->fall != NO_BLOCK && b->taken != NO_BLOCK && b->fall != b->taken)
			read_features(&w, i, a, &out[i]);
	}
}
