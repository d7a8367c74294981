/* plt.c - tells which library function a call through the linkage table reaches
 *
 * The relocations say which symbol the loader puts into each slot; a stub of the linkage table
 * jumps through one slot.
 *
 * Tested by tests/unit/editor/passes/test_pass_calls.c.
 */
#include "postmorph/ir/plt.h"

#include <stdlib.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/search.h"
#include "binary/decode.h"
#include "binary/dynamic.h"
#include "binary/needed.h"

static const struct {
	const char *name, *version;
} noreturn[] = {
#define NORETURN(name) { #name, "" },
#define NORETURN_OF(name, version) { #name, version },
#include "postmorph/ir/noreturn.def"
#undef NORETURN
#undef NORETURN_OF
};

static bool never_returns(const struct image *img, const char *name, uint32_t symbol)
{
	for (size_t i = 0; i < sizeof(noreturn) / sizeof(noreturn[0]); i++)
		if (strcmp(name, noreturn[i].name) == 0)
			return strncmp(needed_version(img, symbol), noreturn[i].version,
				       strlen(noreturn[i].version)) == 0;
	return false;
}

struct reading {
	const struct image *img;
	struct arena *arena;
	const char **name;		/* [nname] of .dynsym */
	uint32_t nname, cap;
	VEC(struct plt_slot) slots;
};

static void take_name(void *ctx, uint32_t index, const struct symbol *s)
{
	struct reading *r = ctx;
	VEC(const char *) names = { r->name, r->nname, r->cap };

	(void)index;			/* consecutive */
	vec_push(r->arena, &names, s->name);
	r->name = names.v;
	r->nname = names.n;
	r->cap = names.cap;
}

static void take_slot(void *ctx, const struct reloc *rel)
{
	struct reading *r = ctx;

	if ((rel->type == R_X86_64_JUMP_SLOT || rel->type == R_X86_64_GLOB_DAT) &&
	    rel->sym < r->nname)
		vec_push(r->arena, &r->slots,
			 ((struct plt_slot){ rel->place, r->name[rel->sym],
					     never_returns(r->img, r->name[rel->sym],
							   rel->sym) }));
}

static int by_slot(const void *x, const void *y)
{
	const struct plt_slot *a = x, *b = y;

	return a->slot < b->slot ? -1 : a->slot > b->slot;
}

int plt_read(const struct image *img, struct arena *a, struct plt *out, struct err *err)
{
	struct reading r = { .img = img, .arena = a };

	symbols_each(img, SHT_DYNSYM, take_name, &r);
	if (relocs_each(img, take_slot, &r, err) < 0)
		return -1;
	if (r.slots.n)
		qsort(r.slots.v, r.slots.n, sizeof(*r.slots.v), by_slot);
	*out = (struct plt){ r.slots.v, r.slots.n };
	return 0;
}

const struct plt *plt_copy(const struct plt *plt, struct arena *a)
{
	struct plt *out = arena_alloc(a, sizeof(*out));

	out->v = arena_dup(a, plt->v, plt->n * sizeof(*plt->v));
	out->n = plt->n;
	return out;
}

static const struct plt_slot *find(const struct plt *plt, vaddr slot)
{
	uint32_t k = search_first(i, 0, plt->n, plt->v[i].slot < slot);

	return k < plt->n && plt->v[k].slot == slot ? &plt->v[k] : NULL;
}

const char *plt_name(const struct plt *plt, vaddr slot)
{
	const struct plt_slot *s = find(plt, slot);

	return s ? s->name : NULL;
}

bool plt_noreturn(const struct plt *plt, vaddr slot)
{
	const struct plt_slot *s = find(plt, slot);

	return s && s->noreturn;
}

/* Behind the endbr64 at addr, if there is one. */
static struct bytes stub_code(const struct image *img, vaddr *addr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct bytes code = image_rest(img, *addr);

	if (code.n > sizeof(endbr64) && memcmp(code.p, endbr64, sizeof(endbr64)) == 0) {
		code = bytes_at(code, sizeof(endbr64), code.n - sizeof(endbr64));
		*addr += sizeof(endbr64);
	}
	return code;
}

vaddr plt_stub_slot(const struct image *img, vaddr addr)
{
	struct bytes code = stub_code(img, &addr);
	struct insn insn;
	vaddr slot;

	if (!code.p || !insn_decode(code, addr, &insn, &slot) || insn.kind != INSN_IJMP ||
	    !insn.field)
		return 0;
	return slot;
}

const char *plt_stub_name(const struct plt *plt, const struct image *img, vaddr addr)
{
	vaddr slot = plt_stub_slot(img, addr);

	return slot ? plt_name(plt, slot) : NULL;
}

vaddr plt_plain_slot(const struct plt *plt, const struct image *img, vaddr addr)
{
	enum { BND = 0xf2, GROUP5 = 0xff, JMP_RIP = 0x25 };
	struct bytes code = stub_code(img, &addr);
	struct insn insn;
	vaddr slot;

	if (!code.p || !insn_decode(code, addr, &insn, &slot) || insn.kind != INSN_IJMP ||
	    !(insn.field == 2 || (insn.field == 3 && code.p[0] == BND)) ||
	    code.p[insn.field - 2] != GROUP5 || code.p[insn.field - 1] != JMP_RIP)
		return 0;
	return plt_name(plt, slot) ? slot : 0;
}
