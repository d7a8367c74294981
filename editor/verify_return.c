/* verify_return.c - calls that certainly do not come back
 *
 * Behind such a call stands code that belongs to other ways, and a data flow that ran on into it
 * would find doubts where there are none.  A function may return when, from its entry, along
 * direct branches and calls that may return, a return can be reached, or anything whose further
 * way is not known (an indirect jump, a function that is being looked at already, too deep
 * nesting).  Imported functions return unless their name says that they cannot.
 */
#include <stdlib.h>

#include "editor/verify_effect.h"
#include "editor/verify_parts.h"

enum { UNKNOWN, RETURNS, NEVER };	/* v->returns[]; RETURNS also while it is being found out */
enum { MAX_DEPTH = 60 };

struct span {				/* what was visited of one FDE */
	uint32_t fde;
	uint8_t *seen;			/* one bit per byte */
};

struct look {
	struct verify *v;
	struct arena *a;
	VEC(struct span) spans;
	VEC(vaddr) todo;
	unsigned depth;
	bool returns;
};

static bool function_returns(struct verify *v, vaddr addr, unsigned depth);

static bool never_returns_by_name(const char *name)
{
	static const char *const names[] = {
		"exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail", "__assert",
		"__stack_chk_fail", "__fortify_fail", "__chk_fail", "longjmp", "_longjmp",
		"siglongjmp", "__longjmp_chk", "err", "errx", "verr", "verrx", "pthread_exit",
		"__libc_fatal", "__libc_start_main", "__cxa_throw", "__cxa_rethrow",
		"_Unwind_Resume",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void collect_slots(struct verify *v, int64_t table, int64_t table_size)
{
	uint64_t addr, size, symtab, strtab;

	if (!image_dynamic(&v->orig, table, &addr) ||
	    !image_dynamic(&v->orig, table_size, &size) ||
	    !image_dynamic(&v->orig, DT_SYMTAB, &symtab) ||
	    !image_dynamic(&v->orig, DT_STRTAB, &strtab))
		return;
	struct rd r = rd_of(image_at(&v->orig, addr, size));
	while (rd_left(&r) >= sizeof(Elf64_Rela)) {
		struct vslot slot = { .addr = rd_u64(&r) };
		uint64_t info = rd_u64(&r), type = ELF64_R_TYPE(info);

		(void)rd_u64(&r);		/* addend: none of these has one that counts */
		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
		    type != R_X86_64_IRELATIVE)
			continue;
		struct rd s = rd_of(image_at(&v->orig, symtab + ELF64_R_SYM(info) *
					     sizeof(Elf64_Sym), sizeof(Elf64_Sym)));
		struct rd n = rd_of(image_rest(&v->orig, strtab + rd_u32(&s)));
		const char *name = ELF64_R_SYM(info) && !s.bad ? rd_str(&n) : NULL;

		slot.dead = name && never_returns_by_name(name);
		vec_push(v->a, &v->slots, slot);
	}
}

static int slot_cmp(const void *x, const void *y)
{
	const struct vslot *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

void verify_collect_slots(struct verify *v)
{
	v->returns = arena_alloc(v->a, v->ocfi.nfde);
	collect_slots(v, DT_JMPREL, DT_PLTRELSZ);
	collect_slots(v, DT_RELA, DT_RELASZ);
	if (v->slots.n)
		qsort(v->slots.v, v->slots.n, sizeof(*v->slots.v), slot_cmp);
}

/* The slot of the GOT at `addr`; NULL if it is none. */
static const struct vslot *find_slot(const struct verify *v, vaddr addr)
{
	struct vslot key = { .addr = addr };

	return addr && v->slots.n ?
	       bsearch(&key, v->slots.v, v->slots.n, sizeof(key), slot_cmp) : NULL;
}

bool verify_is_slot(const struct verify *v, vaddr addr)
{
	return find_slot(v, addr) != NULL;
}

static bool is_dead_slot(const struct verify *v, vaddr addr)
{
	const struct vslot *s = find_slot(v, addr);

	return s && s->dead;
}

/* Perhaps endbr64, then `jmp *slot(%rip)`: the slot, or 0. */
static vaddr slot_of_stub(const struct verify *v, vaddr addr)
{
	struct effect e;

	for (int i = 0; i < 2; i++) {
		struct bytes code = verify_orig_code(v, addr);

		if (!code.p || !effect_decode(code, addr, &e))
			return 0;
		if (e.kind == INSN_IJMP)
			return e.slot && verify_is_slot(v, e.slot) ? e.slot : 0;
		addr += e.len;
	}
	return 0;
}

bool verify_is_stub(const struct verify *v, vaddr addr)
{
	return slot_of_stub(v, addr) != 0;
}

static void visit(struct look *l, vaddr addr)
{
	uint32_t fde = vcfi_find(&l->v->ocfi, addr), i = 0;
	vaddr slot = slot_of_stub(l->v, addr);

	if (slot) {
		l->returns |= !is_dead_slot(l->v, slot);
		return;
	}
	if (fde == NO_FDE || !verify_is_start(l->v, addr)) {
		l->returns = true;
		return;
	}
	const struct vfde *o = &l->v->ocfi.fde[fde];
	if (l->spans.n && l->spans.v[0].fde != fde && o->addr == addr && !l->v->fragment[fde]) {
		l->returns |= function_returns(l->v, addr, l->depth + 1);	/* tail call */
		return;
	}
	while (i < l->spans.n && l->spans.v[i].fde != fde)
		i++;
	if (i == l->spans.n) {
		struct span s = { fde, arena_alloc(l->a, o->len / 8 + 1) };

		vec_push(l->a, &l->spans, s);
	}
	uint64_t off = addr - o->addr;
	if (l->spans.v[i].seen[off / 8] & 1 << off % 8)
		return;
	l->spans.v[i].seen[off / 8] |= (uint8_t)(1 << off % 8);
	vec_push(l->a, &l->todo, addr);
}

static void look_at(struct look *l, vaddr addr)
{
	struct bytes code = verify_orig_code(l->v, addr);
	struct effect e;

	if (!code.p || !effect_decode(code, addr, &e)) {
		l->returns = true;
		return;
	}
	switch (e.kind) {
	case INSN_RET:
		l->returns = true;
		return;
	case INSN_IJMP:
		l->returns |= !e.slot || !is_dead_slot(l->v, e.slot);
		return;
	case INSN_TRAP:
		if (!e.is_int3)
			return;
		break;
	case INSN_CALL: case INSN_ICALL:
		if (!verify_call_returns(l->v, &e, l->depth + 1))
			return;
		break;
	case INSN_JMP: case INSN_JCC: case INSN_LOOP: case INSN_XBEGIN:
		visit(l, e.target);
		if (e.kind == INSN_JMP)
			return;
		break;
	}
	visit(l, addr + e.len);
}

static bool function_returns(struct verify *v, vaddr addr, unsigned depth)
{
	uint32_t fde = vcfi_find(&v->ocfi, addr);

	vaddr slot = slot_of_stub(v, addr);

	if (slot)
		return !is_dead_slot(v, slot);
	if (fde == NO_FDE || v->ocfi.fde[fde].addr != addr)
		return true;
	if (v->returns[fde] != UNKNOWN)
		return v->returns[fde] == RETURNS;
	if (depth > MAX_DEPTH)
		return true;
	struct look l = { .v = v, .a = arena_new(), .depth = depth };

	v->returns[fde] = RETURNS;
	visit(&l, addr);
	while (l.todo.n && !l.returns)
		look_at(&l, l.todo.v[--l.todo.n]);
	if (!l.returns)
		v->returns[fde] = NEVER;
	arena_free(l.a);
	return l.returns;
}

bool verify_call_returns(struct verify *v, const struct effect *call, unsigned depth)
{
	if (call->kind == INSN_ICALL)
		return !call->slot || !is_dead_slot(v, call->slot);
	return function_returns(v, call->target, depth);
}
