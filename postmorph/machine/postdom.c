/* postdom.c - finds the immediate postdominator of a branch, from the code around it
 *
 * The code is explored from the branch instruction by instruction, breadth first; a call is
 * one step.  Returns, computed jumps, instructions that cannot be followed, and everything
 * beyond the limits are ends.  Code from which no end is reached (it runs into a trap, a call
 * that does not return, or a circle) does not count.
 *
 * POSTDOMINATOR   Take the shortest way from the branch to an end.  The postdominator is the
 *          first instruction on it that no other way gets around.  The instructions of the way
 *          are tried in order: everything that can be reached from the earlier ones without
 *          stepping on the way shows how far along the way a detour can lead.
 *
 * INVARIANTS
 *   I1  the work is bounded by NODES instructions and the ways between them;
 *   I2  every instruction that can run between branch and postdominator was looked at.
 *
 * The limits NODES and MEMO were chosen, not measured.
 *
 * Tested by tests/unit/postmorph/machine/test_postdom.c.
 */
#include "postmorph/machine/postdom.h"

#include <string.h>

#include "lib/err.h"
#include "binary/decode.h"

enum { NODES = 256, SLOTS = 4 * NODES, MEMO = 1 << 13, RSP = MACHINE_RSP };
enum { NONE = 0xffff, END = 0xfffe };	/* no instruction; an end */

struct node {
	vaddr pc;
	struct act act;
	uint16_t next[2];
	uint16_t from;			/* by which it was found */
	/* what was added to the stack pointer on the way it was found by */
	int64_t rsp;
	bool reached, leads;		/* without passing the postdominator; to it */
};

struct postdoms {
	const struct image *img;
	struct plt plt;
	struct node node[NODES];
	uint32_t nnode;
	uint16_t slot[SLOTS];		/* hash of node[] by address */
	struct {
		vaddr pc;
		struct postdom postdom;
		bool valid;
	} memo[MEMO];
};

struct postdoms *postdom_new(const struct image *img, struct arena *a, struct err *err)
{
	struct postdoms *p = arena_alloc(a, sizeof(*p));

	p->img = img;
	return plt_read(img, a, &p->plt, err) < 0 ? NULL : p;
}

static uint16_t node_at(struct postdoms *p, vaddr pc, uint16_t from, int64_t rsp)
{
	uint32_t s = (uint32_t)((pc * 0x9e3779b97f4a7c15) >> 54);

	while (p->slot[s] != NONE && p->node[p->slot[s]].pc != pc)
		s = (s + 1) % SLOTS;
	if (p->slot[s] != NONE)
		return p->slot[s];
	if (p->nnode == NODES)
		return END;
	p->node[p->nnode] = (struct node){ .pc = pc, .from = from, .rsp = rsp };
	p->slot[s] = (uint16_t)p->nnode;
	return (uint16_t)p->nnode++;
}

/* What the instruction adds to the stack pointer; false if it is not told. */
static bool moves_stack(const struct act *act, int64_t *by)
{
	bool to_rsp = act->dst.kind == ARG_REG && act->dst.reg == RSP;
	int64_t imm = (int32_t)act->imm;

	*by = 0;
	switch ((enum act_kind)act->kind) {
	case ACT_PUSH:
		*by = -8;
		return true;
	case ACT_POP:
		*by = 8;
		return !to_rsp;
	case ACT_ALU:
		if (!to_rsp)
			return true;
		*by = act->alu == ALU_SUB ? -imm : imm;
		return act->dst.bits == 64 && act->b.kind == ARG_IMM &&
		       act->imm == (uint64_t)imm &&
		       (act->alu == ALU_SUB || act->alu == ALU_ADD);
	case ACT_LEA:
		if (!to_rsp)
			return true;
		*by = (int32_t)act->mem.disp;
		return act->dst.bits == 64 && act->mem.base == RSP &&
		       act->mem.index == ACT_NO_REG && !act->mem.narrow && act->mem.disp == *by;
	case ACT_LEAVE:
		return false;
	default:
		return !(act_writes(act) >> RSP & 1);
	}
}

/* It goes on behind the call. */
static bool comes_back(const struct postdoms *p, const struct act *act)
{
	return act->kind != ACT_CALL ||
	       !plt_noreturn(&p->plt, plt_stub_slot(p->img, act->imm));
}

static bool is_trap(const struct postdoms *p, vaddr pc)
{
	struct insn insn;
	vaddr target;

	return !insn_decode(image_rest(p->img, pc), pc, &insn, &target) ||
	       insn.kind == INSN_TRAP;
}

static void expand(struct postdoms *p, uint16_t n)
{
	struct node *x = &p->node[n];
	vaddr to[2];
	int64_t by;
	int ways = 1;

	act_lower(image_rest(p->img, x->pc), x->pc, &x->act);
	to[0] = x->pc + x->act.len;
	to[1] = x->act.imm;
	switch ((enum act_kind)x->act.kind) {
	case ACT_JMP:
		to[0] = x->act.imm;
		break;
	case ACT_JCC: case ACT_LOOP:
		ways = 2;
		break;
	case ACT_CALL: case ACT_ICALL:
		ways = comes_back(p, &x->act);
		break;
	case ACT_IJMP: case ACT_RET:
		ways = -1;
		break;
	case ACT_STOP:
		ways = is_trap(p, x->pc) ? 0 : -1;
		break;
	default:
		break;
	}
	(void)moves_stack(&x->act, &by);
	x->next[0] = x->next[1] = ways < 0 ? END : NONE;
	for (int i = 0; i < ways; i++)
		if (image_is_exec(p->img, to[i]))
			x->next[i] = node_at(p, to[i], n, x->rsp + by);
}

/* Marks what can be reached from `n` without stepping on the way; tells how far along that
 * one gets. */
static uint32_t spread(struct postdoms *p, uint16_t n, const uint16_t place[NODES],
		       uint32_t end, uint32_t far)
{
	uint16_t stack[NODES];
	uint32_t depth = 0;

	p->node[n].reached = true;
	stack[depth++] = n;
	while (depth) {
		const struct node *x = &p->node[stack[--depth]];

		for (int i = 0; i < 2; i++) {
			uint16_t to = x->next[i];
			uint32_t at = to == END ? end : to == NONE ? 0 : place[to];

			if (at > far)
				far = at;
			if (to >= END || at || p->node[to].reached)
				continue;
			p->node[to].reached = true;
			stack[depth++] = to;
		}
	}
	return far;
}

/* The node of the postdominator, NONE if there is none; marks what is reached without it. */
static uint16_t find(struct postdoms *p)
{
	uint16_t place[NODES] = { 0 };	/* on the way; 0: not on it, or the branch */
	uint16_t last = 0, way[NODES];
	uint32_t n = 0, far = 0;

	while (last < p->nnode && p->node[last].next[0] != END && p->node[last].next[1] != END)
		last++;
	if (last == p->nnode)
		return NONE;
	for (uint16_t at = last; at; at = p->node[at].from)
		n++;
	for (uint16_t at = last, i = (uint16_t)n; i; at = p->node[at].from, i--) {
		place[at] = i;
		way[i] = at;
	}
	way[0] = 0;
	for (uint32_t i = 0; i <= n; i++) {
		if (i && far <= i)
			return way[i];
		far = spread(p, way[i], place, n + 1, far);
	}
	return NONE;
}

/* Marks the instructions from which the postdominator is reached; only what these write
 * counts. */
static void mark_leading(struct postdoms *p, uint16_t postdom)
{
	bool more = true;

	p->node[postdom].leads = true;
	while (more) {
		more = false;
		for (uint32_t i = p->nnode; i-- > 0; ) {
			struct node *x = &p->node[i];

			for (int k = 0; k < 2 && x->reached && !x->leads; k++)
				if (x->next[k] < END && p->node[x->next[k]].leads)
					more = x->leads = true;
		}
	}
	p->node[postdom].leads = false;
}

static void add_store(const struct node *x, uint16_t bytes, struct postdom *out)
{
	const struct act *act = &x->act;
	int64_t disp = act->mem.disp + (act->mem.base == RSP ? x->rsp : 0);

	if (out->nstore == POSTDOM_STORES || bytes == UINT16_MAX || act->mem.opaque ||
	    act->mem.narrow || act->mem.base >= MACHINE_GPRS || act->mem.index != ACT_NO_REG ||
	    disp != (int32_t)disp)
		out->stores = true;
	else
		out->store[out->nstore++] =
			(struct postdom_store){ (int32_t)disp, bytes, act->mem.base };
}

/* The stack pointer changes in the same way on all ways to instruction `at`, and by what is
 * told. */
static bool one_stack(const struct postdoms *p, uint16_t at)
{
	for (uint32_t i = 0; i < p->nnode; i++) {
		const struct node *x = &p->node[i];
		int64_t by;

		if (x->leads && !moves_stack(&x->act, &by))
			return false;
		for (int k = 0; k < 2 && x->leads; k++) {
			const struct node *to = x->next[k] < END ? &p->node[x->next[k]] : NULL;

			if (to && (to->leads || x->next[k] == at) && to->rsp != x->rsp + by)
				return false;
		}
	}
	return true;
}

/* Places that depend on registers that change on the way are not told. */
static void drop_stores(struct postdom *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < out->nstore; i++) {
		if (out->writes >> out->store[i].base & 1)
			out->stores = true;
		else
			out->store[n++] = out->store[i];
	}
	out->nstore = n;
}

static void sum_up(const struct postdoms *p, uint16_t at, struct postdom *out)
{
	*out = (struct postdom){ .found = true, .at = p->node[at].pc, .rsp = p->node[at].rsp };
	for (uint32_t i = 0; i < p->nnode; i++) {
		const struct act *act = &p->node[i].act;
		uint16_t bytes = act_stores(act);

		if (!p->node[i].leads)
			continue;
		out->writes |= act_writes(act) & (uint16_t)~(1u << RSP);
		out->flags |= act_writes_flags(act);
		if (act->kind == ACT_CALL || act->kind == ACT_ICALL) {
			out->calls = out->flags = true;
			out->writes |= MACHINE_CALLER_SAVED;
		}
		if (bytes)
			add_store(&p->node[i], bytes, out);
	}
	drop_stores(out);
}

static void look(struct postdoms *p, vaddr branch, struct postdom *out)
{
	p->nnode = 0;
	memset(p->slot, 0xff, sizeof(p->slot));
	(void)node_at(p, branch, NONE, 0);
	for (uint32_t i = 0; i < p->nnode; i++)
		expand(p, (uint16_t)i);
	uint16_t at = find(p);
	*out = (struct postdom){ 0 };
	if (at == NONE)
		return;
	mark_leading(p, at);
	if (one_stack(p, at))
		sum_up(p, at, out);
}

const struct postdom *postdom_find(struct postdoms *p, vaddr branch)
{
	uint32_t slot = (branch ^ branch >> 13) % MEMO;

	if (!p->memo[slot].valid || p->memo[slot].pc != branch) {
		look(p, branch, &p->memo[slot].postdom);
		p->memo[slot].pc = branch;
		p->memo[slot].valid = true;
	}
	return &p->memo[slot].postdom;
}
