/* account.c - there is no byte in a generation's file that no part has answered for
 *
 * The file is cut into what other parts have shown:
 *
 *   the original's file         keptbytes.c
 *   new headers below it        headers.c, where file offsets grow
 *   sections that gave way      front.c
 *   new text                    code.c: images, and padding that runs nothing
 *   jump tables                 casetables.c
 *   exception tables            callsites.c
 *   .eh_frame_hdr, .eh_frame    unwindrows.c, frames.c
 *   block map                   lib/blockmap.c
 *   symbols and their names     symbols.c
 *   more dynamic symbols        dynsyms.c
 *   notes of probes             probenotes.c
 *   section headers, names      sections.c
 *
 * These pieces do not overlap, nothing follows the last one, and every byte between two of them
 * is zero.  Only the readers of an exception table know where it ends: it may contain lists
 * that serve no call site of this piece.  So it goes on to the next table or section.
 *
 * Tested by tests/unit/verify/test_sections.c.
 */
#include <stdlib.h>

#include "verify/parts.h"

struct span {
	file_off off;
	uint64_t n;
	const char *what;
	bool table;		/* of jumps or exceptions: in .morph.rodata */
	bool open;		/* goes on to the next one, inside .morph.rodata */
};

struct account {
	struct verify *v;
	VEC(struct span) all;
};

static void add(struct account *acc, struct span s)
{
	const struct verify *v = acc->v;

	/* What took the place of bytes of the original is part of that. */
	if (s.n > 0 && (s.off < v->file.lift || s.off - v->file.lift >= v->orig.file.n))
		vec_push(v->a, &acc->all, s);
}

static void add_at(struct account *acc, vaddr addr, uint64_t n, struct span s)
{
	struct bytes b = image_at(&acc->v->gen, addr, n);

	s.off = (uint64_t)(b.p - acc->v->gen.file.p);
	s.n = n;
	if (b.p)
		add(acc, s);
}

static void add_section(struct account *acc, uint32_t i)
{
	const struct section *s = &acc->v->gen.sh[i];

	add(acc, (struct span){ s->h.sh_offset, s->h.sh_size, s->name, false, false });
}

static void add_sections(struct account *acc)
{
	const struct verify *v = acc->v;

	for (uint32_t i = 0; i < v->orig.nsh; i++)
		if (verify_has_moved(v, i))
			add_section(acc, i);
	for (uint32_t i = v->orig.nsh; i < v->gen.nsh; i++)
		if (!(v->gen.sh[i].h.sh_flags & SHF_ALLOC))
			add_section(acc, i);
	if (v->gen.eh.e_shstrndx < v->orig.nsh)
		add_section(acc, v->gen.eh.e_shstrndx);
	if (v->sections.probes)
		add_section(acc, v->sections.probes);
	if (v->sections.symbols) {
		add_section(acc, v->sections.symbols);
		add_section(acc, v->orig.sh[v->sections.symbols].h.sh_link);
	}
}

static void add_loaded(struct account *acc)
{
	const struct verify *v = acc->v;
	const struct blockmap *m = &v->map;

	for (uint32_t i = 0; i < v->file.nfresh; i++) {
		const Elf64_Phdr *p = v->file.fresh[i];

		if (p->p_flags & PF_X)
			add(acc, (struct span){ p->p_offset, p->p_filesz, "new text", false,
						false });
	}
	for (uint32_t i = 0; i < m->ntable; i++)
		add_at(acc, m->table[i].new_addr,
		       (uint64_t)m->table[i].nentry * blockmap_entry_size(m->table[i].kind),
		       (struct span){ .what = "a jump table", .table = true });
	for (uint32_t i = 0; i < v->gcfi.nlsda; i++)
		add_at(acc, v->gcfi.lsda[i].addr, 1,
		       (struct span){
			       .what = "an exception table", .table = true, .open = true });
	add_at(acc, v->gcfi.hdr, image_phdr(&v->gen, PT_GNU_EH_FRAME)->p_filesz,
	       (struct span){ .what = ".eh_frame_hdr" });
	add_at(acc, v->gcfi.frame, v->gcfi.frame_size, (struct span){ .what = ".eh_frame" });
}

static int span_cmp(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

/* .morph.rodata; all zero when there is none. */
static Elf64_Shdr tables_section(const struct verify *v)
{
	Elf64_Shdr none = { 0 };

	for (uint32_t i = v->orig.nsh; i < v->gen.nsh; i++)
		if (strcmp(v->gen.sh[i].name, ".morph.rodata") == 0)
			return v->gen.sh[i].h;
	return none;
}

/* It begins with the first table and ends with the last; one of exceptions, whose end is not
 * known here, ends before what follows. */
static int check_tables_section(const struct account *acc)
{
	const Elf64_Shdr h = tables_section(acc->v);
	const struct span *first = NULL, *last = NULL;
	file_off end = h.sh_offset + h.sh_size;

	for (const struct span *s = acc->all.v; s < acc->all.v + acc->all.n; s++) {
		if (!s->table)
			continue;
		first = first ? first : s;
		last = s;
	}
	const struct span *next = last ? last + 1 : NULL, *all_end = acc->all.v + acc->all.n;

	if (first ? h.sh_offset != first->off || end < last->off + last->n ||
		    (!last->open && end != last->off + last->n) ||
		    (next < all_end && end > next->off) : h.sh_size != 0)
		return refuse(acc->v, "section .morph.rodata is not where the new tables are");
	return 0;
}

static int check_gap(struct verify *v, file_off from, file_off to)
{
	for (file_off at = from; at < to; at++)
		if (v->gen.file.p[at])
			return refuse(v, "the byte at file offset 0x%llx belongs to nothing",
				      ULL(at));
	return 0;
}

static int walk(struct account *acc)
{
	struct verify *v = acc->v;
	const Elf64_Shdr h = tables_section(v);
	file_off at = 0, tables = h.sh_offset + h.sh_size;
	const struct span *s = acc->all.v, *end = s + acc->all.n;

	for (; s < end; s++) {
		if (s->open && s + 1 < end && s[1].open && s[1].off == s->off)
			continue;	/* two pieces share it */
		if (s->off < at)
			return refuse(v,
				      "%s at file offset 0x%llx is in what is something else",
				      s->what, ULL(s->off));
		if (check_gap(v, at, s->off) < 0)
			return -1;
		at = s->off + s->n;
		if (s->open && at < tables)
			at = s + 1 < end && s[1].off < tables ? s[1].off : tables;
	}
	return at == v->gen.file.n ? 0
				   : refuse(v, "the file goes on behind its section headers");
}

int verify_account(struct verify *v)
{
	struct account acc = { .v = v };
	const Elf64_Ehdr *eh = &v->gen.eh;

	vec_push(v->a, &acc.all,
		 ((struct span){ v->file.lift, v->orig.file.n, "the original", false, false }));
	add(&acc, (struct span){ 0, sizeof(*eh), "the ELF header", false, false });
	add(&acc, (struct span){ eh->e_phoff, v->gen.nph * sizeof(Elf64_Phdr),
				 "program headers", false, false });
	add(&acc, (struct span){ eh->e_shoff, v->gen.nsh * sizeof(Elf64_Shdr),
				 "section headers", false, false });
	add_loaded(&acc);
	add_sections(&acc);
	qsort(acc.all.v, acc.all.n, sizeof(*acc.all.v), span_cmp);
	if (check_tables_section(&acc) < 0)
		return -1;
	return walk(&acc);
}
