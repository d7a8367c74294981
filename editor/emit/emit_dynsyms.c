/* emit_dynsyms.c - which parts of exported functions get a dynamic symbol of their own
 *
 * Each part of a moved function does, but for one that a redirected symbol begins already
 * (emit_redirect.c).  So does the original of a function whose symbol is redirected away from
 * it although its code may still run.  Of several names the part gets the one that the
 * program's own dladdr() prefers, which is the first in the table.  It gets none if that one is
 * weak: of a weak symbol that a library has in several sizes GNU ld warns, each time that
 * something is linked with it.
 *
 * Tested by tests/programs/names.sh: dladdr() names every frame as it does in the original.
 */
#include <stdlib.h>
#include <string.h>

#include "editor/emit/elfout.h"
#include "editor/emit/emit.h"
#include "lib/search.h"

struct exported {			/* a function symbol of .dynsym */
	vaddr addr;
	uint64_t size;
	uint32_t index;
	bool weak;
};

struct dynsyms {
	const struct emit_plan *plan;
	struct exported *exported;	/* [nexported] ascending by addr, index */
	uint32_t nexported;
	VEC(struct elfout_dynsym) all;
};

static int compare_exported(const void *x, const void *y)
{
	const struct exported *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* The hash of .gnu.hash. */
static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

/* Valgrind's libraries name what replaces a function of others, and what wraps one, by that;
 * it takes any symbol of such a name for the function. */
static bool is_order(const char *name)
{
	return strncmp(name, "_vgr", 4) == 0 || strncmp(name, "_vgw", 4) == 0;
}

/* It may be added: no lookup finds it by its hash, and it orders nothing. */
static bool may_be_added(const struct image *img, uint32_t symbols, uint32_t name)
{
	const Elf64_Shdr *h = &img->sh[img->sh[symbols].h.sh_link].h;
	struct rd r = rd_of(bytes_at(img->file, h->sh_offset, h->sh_size));

	(void)rd_skip(&r, name);
	const char *text = rd_str(&r);
	return text && *text && (hash_of(text) | 1) != (ELFOUT_NO_HASH | 1) &&
	       !is_order(text);
}

static void find_exported(struct dynsyms *s, const struct elfout_dynsyms *d)
{
	const struct image *img = &s->plan->prog->img;
	const Elf64_Shdr *h = &img->sh[d->symbols].h;
	struct rd r = rd_of(bytes_at(img->file, h->sh_offset, h->sh_size));

	s->exported = arena_array(s->plan->prog->arena, d->n, sizeof(*s->exported));
	for (uint32_t i = 0; i < d->n && h->sh_link < img->nsh; i++) {
		uint32_t name = rd_u32(&r);
		uint8_t info = rd_u8(&r);
		(void)rd_u8(&r);
		uint16_t section = rd_u16(&r);
		struct exported e = { .addr = rd_u64(&r), .index = i };

		e.size = rd_u64(&r);
		e.weak = ELF64_ST_BIND(info) == STB_WEAK;
		if (section != SHN_UNDEF && section < img->nsh && e.size > 0 &&
		    ELF64_ST_TYPE(info) == STT_FUNC && ELF64_ST_BIND(info) != STB_LOCAL &&
		    may_be_added(img, d->symbols, name))
			s->exported[s->nexported++] = e;
	}
	qsort(s->exported, s->nexported, sizeof(*s->exported), compare_exported);
}

/* The function's first symbol; NULL if it is not exported, or weak. */
static const struct exported *find_name(const struct dynsyms *s, vaddr entry)
{
	uint32_t i = search_first(k, 0, s->nexported, s->exported[k].addr < entry);

	return i < s->nexported && s->exported[i].addr == entry && !s->exported[i].weak ?
		       &s->exported[i] : NULL;
}

/* The part that begins with that place. */
static void add_part(struct dynsyms *s, uint32_t first)
{
	const struct emit_plan *plan = s->plan;
	uint32_t f = plan->place[first].fn;
	const struct fn *fn = &plan->prog->fn[f];
	const struct exported *e = find_name(s, fn->entry);
	uint64_t size = emit_part_size(plan, first);

	if (!e || size == 0 || (fn->redirected && plan->place_of[f][0] == first))
		return;
	vec_push(plan->prog->arena, &s->all,
		 ((struct elfout_dynsym){ .like = e->index, .size = size, .image = true,
					  .addr = emit_place_addr(plan, first),
					  .hot = plan->place[first].hot }));
}

static void add_original(struct dynsyms *s, const struct fn *fn)
{
	const struct exported *e = find_name(s, fn->entry);

	if (e && fn->redirected && (fn->leaves || !fn->sealed))
		vec_push(s->plan->prog->arena, &s->all,
			 ((struct elfout_dynsym){ .like = e->index, .addr = e->addr,
						  .size = e->size }));
}

uint32_t emit_dynsyms_fill(const struct emit_plan *plan, const struct elfout_dynsym **out)
{
	struct dynsyms s = { .plan = plan };
	struct elfout_dynsyms d;

	elfout_find_dynsyms(&plan->prog->img, &d);
	if (!d.n)
		return 0;
	find_exported(&s, &d);
	for (uint32_t i = 0; i < plan->nplace; i++)
		if (plan->place[i].starts_part)
			add_part(&s, i);
	for (uint32_t i = 0; i < plan->prog->norder; i++)
		add_original(&s, &plan->prog->fn[plan->prog->order[i]]);
	*out = s.all.v;
	return s.all.n;
}
