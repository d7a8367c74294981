/* returns.c - calls that certainly do not come back
 *
 * The code that follows such a call belongs to other ways.  A data flow that ran on into it
 * would find doubts where there are none.
 *
 * A function may return if a return can be reached from where it is entered: along direct
 * branches, after calls of what may return, and by jumps to what may return.  That is a least
 * fixed point.  Whoever comes to a call of a function that is not known to return waits for it;
 * once a return is found there, everybody who waits goes on.  What is not known may return: an
 * indirect jump, code without an FDE, an exception table of unknown form.  Imported functions
 * return unless their name says that they do not (assumption A2 in verify.c).  A call through a
 * slot that the loader fills with an address of the module, and then makes constant, is a call
 * of that address.  An instruction with a landing pad also leads there.
 *
 * Functions are looked at when somebody asks, their callees with them, each instruction once.
 *
 * Tested by tests/unit/verify/test_returns.c.
 */
#include <stdlib.h>

#include "binary/needed.h"
#include "verify/effect.h"
#include "verify/lookup.h"

enum { SLOT = 8 };			/* bytes of an entry of the GOT */

struct waiter {
	uint32_t next;			/* index + 1 of the next one that waits for the same */
	uint32_t fde;			/* who waits */
	/* where it goes on; 0: it returns itself (it had jumped) */
	vaddr addr;
};

struct returns {
	struct verify *v;
	/* one bit per byte of the original file: was on the list */
	uint8_t *seen;
	bool *known;			/* [nfde] a return was reached */
	uint32_t *waiting;		/* [nfde] first waiter, index + 1 */
	VEC(struct waiter) waiters;
	VEC(vaddr) todo;
};

static bool never_returns_by_name(const struct image *img, const char *name,
				  uint32_t symbol)
{
	static const char *const names[] = {
		"exit", "_exit", "_Exit", "quick_exit", "abort", "__assert_fail", "__assert",
		"__stack_chk_fail", "__fortify_fail", "__chk_fail", "longjmp", "_longjmp",
		"siglongjmp", "__longjmp_chk", "pthread_exit",
		"__libc_fatal", "__libc_start_main", "thrd_exit", "__assert_perror_fail",
		"_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast",
		"__cxa_bad_typeid", "__cxa_throw_bad_array_new_length", "__cxa_call_unexpected",
		"__cxa_pure_virtual", "__cxa_deleted_virtual", "__cxa_call_terminate",
		"_ZSt9terminatev",
		"g_assertion_message", "g_assertion_message_expr", "g_abort",
	};
	/* Others may have functions of these names that return. */
	static const struct { const char *name, *version; } versioned[] = {
		{ "err", "GLIBC_" }, { "errx", "GLIBC_" }, { "verr", "GLIBC_" },
		{ "verrx", "GLIBC_" }, { "log_assert_failed", "SD_" },
		{ "log_assert_failed_unreachable", "SD_" },
	};

	/* std::__throw_bad_cast() and its kin: _ZSt, length, name */
	if (strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_"))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	for (size_t i = 0; i < sizeof(versioned) / sizeof(versioned[0]); i++)
		if (strcmp(versioned[i].name, name) == 0)
			return strncmp(needed_version(img, symbol), versioned[i].version,
				       strlen(versioned[i].version)) == 0;
	return false;
}

/* These, too, have been chosen apart from the Editor's. */
static bool looks_by_name(const char *name)
{
	static const char *const names[] = {
		"memcpy", "memmove", "mempcpy", "__memcpy_chk", "__memmove_chk", "memcmp",
		"bcmp", "memset", "mprotect", "pkey_mprotect", "madvise", "mincore", "prctl",
		"write", "fwrite",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The loader makes it constant before the program runs. */
static bool is_relro(const struct verify *v, vaddr addr)
{
	const Elf64_Phdr *p = image_phdr(&v->orig, PT_GNU_RELRO);

	return p && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_memsz;
}

static void add_local(struct verify *v, vaddr addr, vaddr function)
{
	if (is_relro(v, addr) && image_is_exec(&v->orig, function))
		vec_push(v->a, &v->calls.locals,
			 ((struct vslot){ .addr = addr, .local = function }));
}

static void collect_slots(struct verify *v, int64_t table, int64_t table_size)
{
	uint64_t addr, size, symtab = 0, strtab = 0;

	if (!image_dynamic(&v->orig, table, &addr) ||
	    !image_dynamic(&v->orig, table_size, &size))
		return;
	bool named = image_dynamic(&v->orig, DT_SYMTAB, &symtab) &&
		     image_dynamic(&v->orig, DT_STRTAB, &strtab);
	struct rd r = rd_of(image_at(&v->orig, addr, size));
	while (rd_left(&r) >= sizeof(Elf64_Rela)) {
		struct vslot slot = { .addr = rd_u64(&r) };
		uint64_t info = rd_u64(&r), type = ELF64_R_TYPE(info);

		vaddr addend = rd_u64(&r);	/* counts for relative ones only */

		if (type == R_X86_64_RELATIVE)
			add_local(v, slot.addr, addend);
		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
		    type != R_X86_64_IRELATIVE)
			continue;
		struct rd s = rd_of(image_at(&v->orig, symtab + ELF64_R_SYM(info) *
					     sizeof(Elf64_Sym), sizeof(Elf64_Sym)));
		struct rd n = rd_of(image_rest(&v->orig, strtab + rd_u32(&s)));
		const char *name = named && ELF64_R_SYM(info) && !s.bad ? rd_str(&n) : NULL;

		slot.dead = name && never_returns_by_name(&v->orig, name,
							  (uint32_t)ELF64_R_SYM(info));
		slot.looks = name && looks_by_name(name);
		vec_push(v->a, &v->calls.slots, slot);
	}
}

/* A program without dynamic entries is relocated by its start-up code, which finds these by
 * symbols of the linker.  What it puts there is what a function returned: the address of
 * another one. */
static void collect_chosen(struct verify *v)
{
	const struct image *img = &v->orig;

	for (uint32_t i = 0; i < img->nsh && !image_phdr(img, PT_DYNAMIC); i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if (h->sh_type != SHT_RELA || !(h->sh_flags & SHF_ALLOC))
			continue;
		struct rd r = rd_of(image_at(img, h->sh_addr, h->sh_size));
		while (rd_left(&r) >= sizeof(Elf64_Rela)) {
			struct vslot slot = { .addr = rd_u64(&r) };

			if (ELF64_R_TYPE(rd_u64(&r)) == R_X86_64_IRELATIVE)
				vec_push(v->a, &v->calls.chosen, slot);
			(void)rd_u64(&r);
		}
	}
}

static int slot_cmp(const void *x, const void *y)
{
	const struct vslot *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

static void sort_slots(struct vslots *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), slot_cmp);
}

/* The slot at `addr`; NULL if there is none. */
static const struct vslot *find_slot(const struct vslots *s, vaddr addr)
{
	struct vslot key = { .addr = addr };

	return addr && s->n ? bsearch(&key, s->v, s->n, sizeof(key), slot_cmp) : NULL;
}

/* Marks what relocations of a table fill in the section: a bit per word of it in `filled`. */
static void mark_filled(const struct verify *v, int64_t table, int64_t table_size,
			const Elf64_Shdr *h, uint8_t *filled)
{
	uint64_t addr, size;

	if (!image_dynamic(&v->orig, table, &addr) ||
	    !image_dynamic(&v->orig, table_size, &size))
		return;
	struct rd r = rd_of(image_at(&v->orig, addr, size));
	while (rd_left(&r) >= sizeof(Elf64_Rela)) {
		uint64_t word = (rd_u64(&r) - h->sh_addr) / SLOT;

		(void)rd_skip(&r, sizeof(Elf64_Rela) - sizeof(uint64_t));
		if (word < h->sh_size / SLOT)
			filled[word / 8] |= (uint8_t)(1 << word % 8);
	}
}

/* Static programs have slots of weak functions that are absent: zero, and nothing fills
 * them.  Who jumps there has left the module for address 0.  (A word that RELR relocates is
 * not zero.) */
static void collect_absent(struct verify *v)
{
	uint64_t got, needed;

	if (!image_dynamic(&v->orig, DT_PLTGOT, &got) ||
	    image_dynamic(&v->orig, DT_NEEDED, &needed))
		return;
	const struct section *s = image_section_at(&v->orig, got);
	if (!s || s->h.sh_type != SHT_PROGBITS || s->h.sh_addr % SLOT)
		return;
	uint8_t *filled = arena_alloc(v->a, s->h.sh_size / SLOT / 8 + 1);
	mark_filled(v, DT_JMPREL, DT_PLTRELSZ, &s->h, filled);
	mark_filled(v, DT_RELA, DT_RELASZ, &s->h, filled);
	struct rd r = rd_of(bytes_at(v->orig.file, s->h.sh_offset, s->h.sh_size));
	for (uint64_t i = 0; rd_left(&r) >= SLOT; i++)
		if (rd_u64(&r) == 0 && !(filled[i / 8] & 1 << i % 8))
			vec_push(v->a, &v->calls.slots,
				 ((struct vslot){ .addr = s->h.sh_addr + i * SLOT }));
}

void verify_collect_slots(struct verify *v)
{
	collect_slots(v, DT_JMPREL, DT_PLTRELSZ);
	collect_slots(v, DT_RELA, DT_RELASZ);
	collect_absent(v);
	collect_chosen(v);
	sort_slots(&v->calls.slots);
	sort_slots(&v->calls.locals);
	sort_slots(&v->calls.chosen);
}

/* The function of the module that the slot has the address of; 0: none, or not known. */
static vaddr local_of(const struct verify *v, vaddr addr)
{
	const struct vslot *s = find_slot(&v->calls.locals, addr);

	return s ? s->local : 0;
}

bool verify_is_slot(const struct vcalls *calls, vaddr addr)
{
	return find_slot(&calls->slots, addr) != NULL;
}

bool verify_is_chosen(const struct vcalls *calls, vaddr addr)
{
	return find_slot(&calls->chosen, addr) != NULL;
}

bool verify_slot_function(const struct verify *v, vaddr addr, vaddr *function)
{
	const struct vslot *s = find_slot(&v->calls.slots, addr);

	if (!s)
		s = find_slot(&v->calls.locals, addr);
	*function = s ? s->local : 0;
	return s != NULL;
}

static bool is_dead_slot(const struct verify *v, vaddr addr)
{
	const struct vslot *s = find_slot(&v->calls.slots, addr);

	return s && s->dead;
}

/* Exactly `jmp *slot(%rip)`, perhaps behind endbr64 or with a bnd prefix: the slot, or 0. */
static vaddr slot_of_jump(const struct verify *v, vaddr addr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	enum { BND = 0xf2, GROUP5 = 0xff, JMP_RIP = 0x25 };

	struct bytes code = verify_orig_code(v, addr);
	struct rd r = rd_of(code);
	if (code.n >= sizeof(endbr64) && memcmp(code.p, endbr64, sizeof(endbr64)) == 0)
		(void)rd_skip(&r, sizeof(endbr64));
	uint8_t first = rd_u8(&r);
	uint8_t opcode = first == BND ? rd_u8(&r) : first;
	if (opcode != GROUP5 || rd_u8(&r) != JMP_RIP)
		return 0;
	vaddr distance = (vaddr)(int64_t)rd_s32(&r);
	return r.bad ? 0 : addr + (code.n - rd_left(&r)) + distance;
}

static vaddr slot_of_stub(const struct verify *v, vaddr addr)
{
	vaddr slot = slot_of_jump(v, addr);

	return verify_is_slot(&v->calls, slot) ? slot : 0;
}

bool verify_is_stub(const struct verify *v, vaddr addr)
{
	return slot_of_stub(v, addr) != 0;
}

bool verify_looks_at_arguments(const struct verify *v, vaddr called)
{
	const struct vslot *s = find_slot(&v->calls.slots, called);

	if (!s)
		s = find_slot(&v->calls.slots, slot_of_stub(v, called));
	return s && s->looks;
}

bool verify_is_chosen_stub(const struct verify *v, vaddr addr)
{
	return verify_is_chosen(&v->calls, slot_of_jump(v, addr));
}

vaddr verify_stub_slot(const struct verify *v, vaddr addr)
{
	return verify_has_entry(v, addr) ? 0 : slot_of_stub(v, addr);
}

static void visit(struct returns *r, vaddr addr)
{
	struct bytes code = verify_orig_code(r->v, addr);
	uint64_t off = (uint64_t)(code.p - r->v->orig.file.p);

	if (!code.p || (r->seen[off / 8] & 1 << off % 8))
		return;
	r->seen[off / 8] |= (uint8_t)(1 << off % 8);
	vec_push(r->v->a, &r->todo, addr);
}

/* `fde` has been found to return: all who wait for it go on. */
static void found(struct returns *r, uint32_t fde)
{
	VEC(uint32_t) all = { 0 };

	vec_push(r->v->a, &all, fde);
	while (all.n) {
		uint32_t f = all.v[--all.n];

		if (r->known[f])
			continue;
		r->known[f] = true;
		for (uint32_t w = r->waiting[f]; w; w = r->waiters.v[w - 1].next) {
			const struct waiter *who = &r->waiters.v[w - 1];

			if (who->addr)
				visit(r, who->addr);
			else
				vec_push(r->v->a, &all, who->fde);
		}
	}
}

/* Control of `fde` goes to `to`; once it comes back from there, on to `next` (0: it
 * returns). */
static void enter(struct returns *r, uint32_t fde, vaddr to, vaddr next)
{
	uint32_t callee = vcfi_find(&r->v->ocfi, to);
	vaddr slot = slot_of_stub(r->v, to);
	bool returns = slot ? !is_dead_slot(r->v, slot) : callee == NO_FDE || r->known[callee];

	if (returns && next)
		visit(r, next);
	else if (returns)
		found(r, fde);
	if (slot || callee == NO_FDE)
		return;
	visit(r, to);
	if (!returns) {
		struct waiter w = { r->waiting[callee], fde, next };

		vec_push(r->v->a, &r->waiters, w);
		r->waiting[callee] = r->waiters.n;
	}
}

/* Control goes to `to` without leaving a way back, perhaps out of the FDE. */
static void go(struct returns *r, uint32_t fde, vaddr to)
{
	const struct vfde *o = &r->v->ocfi.fde[fde];

	if (to - o->addr < o->len)
		visit(r, to);
	else
		enter(r, fde, to, 0);
}

static void land(struct returns *r, uint32_t fde, vaddr addr)
{
	const struct vlsda *l = vlsda_of(&r->v->ocfi, fde);
	const struct vsite *s = vlsda_site(&r->v->ocfi, fde, addr);

	if (l && !l->understood)
		found(r, fde);
	else if (s && s->pad)
		go(r, fde, s->pad);
}

static void step(struct returns *r, vaddr addr)
{
	uint32_t fde = vcfi_find(&r->v->ocfi, addr);
	struct insn insn;
	vaddr target;

	if (fde == NO_FDE)
		return;
	struct bytes code = verify_orig_code(r->v, addr);
	land(r, fde, addr);
	if (!insn_decode(code, addr, &insn, &target)) {
		found(r, fde);
		return;
	}
	vaddr next = addr + insn.len;
	switch (insn.kind) {
	case INSN_RET:
		found(r, fde);
		return;
	case INSN_IJMP:
		if (insn.field && local_of(r->v, target))
			enter(r, fde, local_of(r->v, target), 0);
		else if (!insn.field || !is_dead_slot(r->v, target))
			found(r, fde);
		return;
	case INSN_TRAP:
		if (!verify_goes_on(r->v, fde, next))
			return;
		break;
	case INSN_CALL:
		enter(r, fde, target, next);	/* step() of next finds out whose that is */
		return;
	case INSN_ICALL:
		if (insn.field && is_dead_slot(r->v, target))
			return;
		if (insn.field && local_of(r->v, target)) {
			enter(r, fde, local_of(r->v, target), next);
			return;
		}
		break;
	case INSN_JMP: case INSN_JCC: case INSN_LOOP: case INSN_XBEGIN:
		go(r, fde, target);
		if (insn.kind == INSN_JMP)
			return;
		break;
	}
	go(r, fde, next);
}

static struct returns *start(struct verify *v)
{
	struct returns *r = arena_alloc(v->a, sizeof(*r));

	r->v = v;
	r->seen = arena_alloc(v->a, v->orig.file.n / 8 + 1);
	r->known = arena_array(v->a, v->ocfi.nfde, sizeof(*r->known));
	r->waiting = arena_array(v->a, v->ocfi.nfde, sizeof(*r->waiting));
	return r;
}

bool verify_call_returns(struct verify *v, const struct effect *call)
{
	bool indirect = call->kind == INSN_ICALL;
	vaddr target = indirect ? local_of(v, call->slot) : call->target;
	vaddr slot = target ? slot_of_stub(v, target) : call->slot;

	if (slot || !target)
		return !is_dead_slot(v, slot);
	uint32_t fde = vcfi_find(&v->ocfi, target);
	if (fde == NO_FDE)
		return true;
	if (!v->calls.returns)
		v->calls.returns = start(v);
	visit(v->calls.returns, target);
	while (v->calls.returns->todo.n)
		step(v->calls.returns, v->calls.returns->todo.v[--v->calls.returns->todo.n]);
	return v->calls.returns->known[fde];
}

bool verify_falls(struct verify *v, vaddr addr, const struct effect *e)
{
	switch (e->kind) {
	case INSN_IJMP: case INSN_JMP: case INSN_RET:
		return false;
	case INSN_TRAP: {
		uint32_t fde = vcfi_find(&v->ocfi, addr);
		return fde != NO_FDE && verify_goes_on(v, fde, addr + e->len);
	}
	case INSN_CALL: case INSN_ICALL:
		return verify_call_returns(v, e);
	default:
		return true;
	}
}
