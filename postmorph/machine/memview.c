/* memview.c - reads memory from stores, the sample's stack and constant bytes, in that order
 *
 * CONSTANT are bytes that no process can write: segments that are not writable, and memory
 * that is read-only after relocation (RELRO), with the values that its relocations give.  Of
 * RELRO only sections that compilers put constants into count: the loader keeps state of its
 * own in others (.dynamic, .got).
 *
 * Tested by tests/unit/editor/interpret/test_interpret.c (memory_that_comes_along_decides).
 */
#include "postmorph/machine/memview.h"

#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "binary/dynamic.h"

/* Addresses so near to the stack count as the stack's (chosen); RED_ZONE is the ABI's. */
enum { STACK_REACH = 1 << 20, RED_ZONE = 128 };

struct opening {
	struct arena *arena;
	const struct image *img;
	VEC(struct memview_word) words;
	vaddr *symbol;			/* [nsymbol] of .dynsym; 0: none of this module's */
	uint32_t nsymbol, cap;
};

static void take_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	struct opening *o = ctx;
	VEC(vaddr) v = { o->symbol, o->nsymbol, o->cap };
	bool plain = s->defined && s->section != SHN_ABS &&
		     (s->type == STT_FUNC || s->type == STT_OBJECT || s->type == STT_NOTYPE);

	(void)index;			/* consecutive */
	vec_push(o->arena, &v, plain ? s->value : 0);
	o->symbol = v.v;
	o->nsymbol = v.n;
	o->cap = v.cap;
}

/* A symbol of the module's own is taken to be bound to it: what is interposed is a rare
 * sight, and here it costs an edge that is not one. */
static void take_reloc(void *ctx, const struct reloc *r)
{
	struct opening *o = ctx;
	struct memview_word w = { .place = r->place };

	switch (r->type) {
	case R_X86_64_RELATIVE:
		w.known = true;
		w.value = r->value;
		break;
	case R_X86_64_64: case R_X86_64_GLOB_DAT: case R_X86_64_JUMP_SLOT:
		w.known = r->sym < o->nsymbol && o->symbol[r->sym] != 0;
		w.value = w.known ? o->symbol[r->sym] : 0;
		if (r->type == R_X86_64_64)
			w.value += r->value;
		break;
	default:
		break;
	}
	vec_push(o->arena, &o->words, w);
}

static int by_place(const void *a, const void *b)
{
	const struct memview_word *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

int memview_open(const struct image *img, struct arena *a, struct memview_file *out,
		 struct err *err)
{
	struct opening o = { .arena = a, .img = img };
	const Elf64_Phdr *relro = image_phdr(img, PT_GNU_RELRO);

	symbols_each(img, SHT_DYNSYM, take_symbol, &o);
	if (relocs_each(img, take_reloc, &o, err) < 0)
		return -1;
	if (o.words.n)
		qsort(o.words.v, o.words.n, sizeof(*o.words.v), by_place);
	*out = (struct memview_file){ .img = img, .word = o.words.v, .nword = o.words.n };
	if (relro) {
		out->relro = relro->p_vaddr;
		out->relro_end = relro->p_vaddr + relro->p_memsz;
	}
	return 0;
}

/* The first relocated word that ends behind addr; NULL if none. */
static const struct memview_word *word_from(const struct memview_file *f, vaddr addr)
{
	uint32_t k = search_first(i, 0, f->nword, f->word[i].place + 8 <= addr);

	return k < f->nword ? &f->word[k] : NULL;
}

static bool is_constant(const struct memview_file *f, vaddr addr)
{
	if (!image_is_writable(f->img, addr))
		return true;
	if (addr < f->relro || addr >= f->relro_end)
		return false;
	const struct section *s = image_section_at(f->img, addr);
	return s && strncmp(s->name, ".data.rel.ro", 12) == 0;
}

static bool is_linkage_slot(const struct memview_file *f, vaddr addr)
{
	const struct section *s = image_section_at(f->img, addr);

	return s && strncmp(s->name, ".got", 4) == 0;
}

static struct value of_file(const struct memview *m, vaddr addr, unsigned n)
{
	const struct memview_file *f = m->file;
	struct value out = { .why = UNKNOWN_DATA };
	const struct memview_word *w = word_from(f, addr);
	bool relocated = w && w->place < addr + n;

	if (relocated && w->place == addr && n == 8 && w->known &&
	    (is_constant(f, addr) || is_linkage_slot(f, addr)))
		return (struct value){ w->value + m->bias, 0xff, UNKNOWN_NOTHING };
	if (relocated || !is_constant(f, addr))
		return out;
	struct bytes b = image_at(f->img, addr, n);
	if (!b.p)
		return out;
	memcpy(&out.v, b.p, n);			/* little-endian host */
	out.known = (uint8_t)((1u << n) - 1);
	out.why = UNKNOWN_NOTHING;
	return out;
}

static const struct memview_cell *cell_of(const struct memview *m, uint64_t at)
{
	for (uint32_t i = m->ncell; i-- > 0; )
		if (m->cell[i].at == at)
			return &m->cell[i];
	return NULL;
}

/* A byte that came with the sample, on the stack or elsewhere; NULL when it did not. */
static const uint8_t *sampled(const struct memview *m, uint64_t addr)
{
	if (addr - m->stack_at < m->stack.n)
		return m->stack.p + (addr - m->stack_at);
	for (uint32_t i = 0; i < m->npiece; i++)
		if (addr - m->piece[i].at < m->piece[i].b.n)
			return m->piece[i].b.p + (addr - m->piece[i].at);
	return NULL;
}

/* A byte as stored or as sampled; false when it is neither. */
static bool read_byte(const struct memview *m, const struct memview_cell *c, uint64_t addr,
		      struct value *out)
{
	unsigned at = addr & 7;

	if (c && c->at == (addr & ~7ull) && (c->written >> at & 1)) {
		out->v = c->v >> (8 * at) & 0xff;
		out->known = c->known >> at & 1;
		out->why = c->why;
		return true;
	}
	const uint8_t *p = sampled(m, addr);
	if (!p)
		return false;
	*out = (struct value){ *p, 1, UNKNOWN_NOTHING };
	return true;
}

static uint8_t unknown_at(const struct memview *m, uint64_t addr)
{
	return addr - (m->stack_at - RED_ZONE) < STACK_REACH ? UNKNOWN_STACK : UNKNOWN_HEAP;
}

struct value memview_read(const struct memview *m, uint64_t addr, unsigned n)
{
	struct value out = { .why = UNKNOWN_NOTHING };
	const struct memview_cell *low = cell_of(m, addr & ~7ull);
	const struct memview_cell *high =
		(addr & 7) + n > 8 ? cell_of(m, (addr & ~7ull) + 8) : low;
	vaddr in_file = addr - m->bias;

	if (!low && !high && !sampled(m, addr) && image_segment(m->file->img, in_file))
		return of_file(m, in_file, n);
	for (unsigned i = 0; i < n; i++) {
		struct value byte = { .why = unknown_at(m, addr) };

		(void)read_byte(m, ((addr + i) ^ addr) & ~7ull ? high : low, addr + i, &byte);
		out.v |= byte.v << (8 * i);
		out.known |= (uint8_t)(byte.known << i);
		if (!byte.known)
			out.why = byte.why;
	}
	return out;
}

bool memview_write(struct memview *m, uint64_t addr, unsigned n, struct value value)
{
	for (unsigned i = 0; i < n; ) {
		uint64_t at = (addr + i) & ~7ull;
		const struct memview_cell *found = cell_of(m, at);
		struct memview_cell *c = found ? &m->cell[found - m->cell] : NULL;

		if (!c && m->ncell == MEMVIEW_CELLS)
			return false;
		if (!c) {
			c = &m->cell[m->ncell++];
			*c = (struct memview_cell){ .at = at };
		}
		for (; i < n && ((addr + i) & ~7ull) == at; i++) {
			unsigned byte = (addr + i) & 7;
			uint64_t mask = (uint64_t)0xff << (8 * byte);
			bool known = value.known >> i & 1;

			c->v = (c->v & ~mask) | ((value.v >> (8 * i) & 0xff) << (8 * byte));
			c->written |= (uint8_t)(1u << byte);
			c->known =
				(uint8_t)((c->known & ~(1u << byte)) | (unsigned)known << byte);
			if (!known)
				c->why = value.why;
		}
	}
	return true;
}

void memview_forget(struct memview *m)
{
	m->ncell = 0;
	m->stack.n = 0;
	m->npiece = 0;
}

static bool is_stack(const struct memview *m, uint64_t addr)
{
	return addr - (m->stack_at - STACK_REACH) < 2 * STACK_REACH;
}

void memview_forget_heap(struct memview *m)
{
	uint32_t cells = 0, pieces = 0;

	for (uint32_t i = 0; i < m->ncell; i++)
		if (is_stack(m, m->cell[i].at))
			m->cell[cells++] = m->cell[i];
	for (uint32_t i = 0; i < m->npiece; i++)
		if (is_stack(m, m->piece[i].at))
			m->piece[pieces++] = m->piece[i];
	m->ncell = cells;
	m->npiece = pieces;
}
