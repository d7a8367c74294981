/* sections.c - section headers are the original's, and the new ones are what they say
 *
 * Nothing that runs reads them, but debuggers, profilers, strip and the Verifier itself do.
 *
 *   S1  A section of the original keeps index, name and header.  Exceptions: file offsets grow
 *       with the file (v->file.lift); what gave way to program headers has moved (front.c); the
 *       old unwind tables and the link to a debug file get other names; the string table of
 *       names is a new one; and .symtab with its strings (symbols.c), the tables of dynamic
 *       symbols (dynsyms.c) and the notes of probes (probenotes.c) may be new ones.
 *   S2  A new section has a name, kind and place of the list below, each at most once.
 *   S3  The string table of names holds the names one behind the other, and nothing else.
 */
#include "verify/lookup.h"

static bool is_loaded(const struct section *s)
{
	return s->h.sh_flags & SHF_ALLOC;
}

static int changed(struct verify *v, uint32_t i)
{
	return refuse(v, "section %u (%s) was changed", i, v->orig.sh[i].name);
}

/* The generation's strings of names, at the original's index unless that cannot be. */
static int check_names(struct verify *v)
{
	static const Elf64_Shdr plain = { .sh_type = SHT_STRTAB, .sh_addralign = 1 };
	uint32_t o = v->orig.eh.e_shstrndx, g = v->gen.eh.e_shstrndx;
	bool keeps = o > 0 && o < v->orig.nsh && !is_loaded(&v->orig.sh[o]);
	uint64_t at = 0;

	if (g >= v->gen.nsh || (keeps ? g != o : g < v->orig.nsh))
		return refuse(v, "section %u does not hold the names of sections", g);
	Elf64_Shdr want = plain;
	const Elf64_Shdr *h = &v->gen.sh[g].h;
	want.sh_name = h->sh_name;
	want.sh_offset = h->sh_offset;
	want.sh_size = h->sh_size;
	if (memcmp(&want, h, sizeof(want)) != 0)
		return refuse(v, "section %u is no table of names", g);
	for (uint32_t i = 0; i < v->gen.nsh; i++) {
		if (v->gen.sh[i].h.sh_name != at)
			return refuse(v, "the name of section %u is not behind the one before",
				      i);
		at += strlen(v->gen.sh[i].name) + 1;
	}
	return at == h->sh_size ? 0
				: refuse(v, "the names of sections are %llu bytes, not %llu",
					 ULL(at), ULL(h->sh_size));
}

static const char *new_name(const char *name)
{
	if (strcmp(name, ".eh_frame") == 0)
		return ".morph.old_eh_frame";
	if (strcmp(name, ".eh_frame_hdr") == 0)
		return ".morph.old_eh_frame_hdr";
	if (strcmp(name, ".gnu_debuglink") == 0)
		return ".morph.old_debuglink";
	return name;
}

/* Its content is not where the original's was. */
static bool is_new(const struct verify *v, uint32_t i)
{
	return v->gen.sh[i].h.sh_offset != v->orig.sh[i].h.sh_offset + v->file.lift;
}

/* The original's symbol table that a new one takes the place of; 0: it has the old one. */
static uint32_t find_symbols(const struct verify *v)
{
	for (uint32_t i = 1; i < v->orig.nsh && i < v->gen.nsh; i++)
		if (v->orig.sh[i].h.sh_type == SHT_SYMTAB && !is_loaded(&v->orig.sh[i]))
			return is_new(v, i) ? i : 0;
	return 0;
}

/* Likewise, notes of static probe points. */
static uint32_t find_probes(const struct verify *v)
{
	const struct section *s = image_section(&v->orig, ".note.stapsdt");
	uint32_t i = s ? (uint32_t)(s - v->orig.sh) : 0;

	return s && !is_loaded(s) && s->h.sh_type == SHT_NOTE && i < v->gen.nsh &&
	       is_new(v, i) ? i : 0;
}

/* S1 for a section that nothing loads. */
static int check_unloaded(struct verify *v, uint32_t i)
{
	Elf64_Shdr want = v->orig.sh[i].h;
	const Elf64_Shdr *h = &v->gen.sh[i].h;
	bool names = i == v->gen.eh.e_shstrndx;
	bool symbols = v->sections.symbols && i == v->sections.symbols;
	bool strings = v->sections.symbols && i == v->orig.sh[v->sections.symbols].h.sh_link;
	bool probes = v->sections.probes && i == v->sections.probes;

	if (names)		/* check_names() */
		return strings ? changed(v, i) : 0;
	want.sh_name = h->sh_name;
	if (want.sh_type != SHT_NULL)
		want.sh_offset += v->file.lift;
	if (strings || symbols || probes) {
		want.sh_offset = h->sh_offset;
		want.sh_size = h->sh_size;
	}
	if (symbols)
		want.sh_info = h->sh_info;
	return memcmp(&want, h, sizeof(want)) == 0 ? 0 : changed(v, i);
}

static int check_old(struct verify *v)
{
	if (v->gen.nsh < v->orig.nsh)
		return refuse(v, "there are %u sections, fewer than the original's %u",
			      v->gen.nsh, v->orig.nsh);
	v->sections.symbols = find_symbols(v);
	v->sections.probes = find_probes(v);
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const struct section *o = &v->orig.sh[i];
		bool loaded = is_loaded(o);

		if (strcmp(v->gen.sh[i].name, new_name(o->name)) != 0 &&
		    (loaded || i != v->gen.eh.e_shstrndx))
			return refuse(v, "section %u (%s) is called %s", i, o->name,
				      v->gen.sh[i].name);
		if ((loaded ? verify_old_section(v, i) : check_unloaded(v, i)) < 0)
			return -1;
	}
	return 0;
}

/* Bytes of the original's first segment that no section has any more, and nobody writes to:
 * [addr, addr + n). */
static bool is_left_free(const struct verify *v, vaddr addr, uint64_t n)
{
	const Elf64_Phdr *first = image_phdr(&v->gen, PT_LOAD);

	if (n == 0 || addr < first->p_vaddr || addr - first->p_vaddr > first->p_filesz ||
	    n > first->p_filesz - (addr - first->p_vaddr) || verify_is_fresh(v, addr) ||
	    image_is_writable(&v->gen, addr))
		return false;
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const Elf64_Shdr *h = &v->gen.sh[i].h;

		if (is_loaded(&v->gen.sh[i]) && h->sh_size > 0 && h->sh_addr < addr + n &&
		    h->sh_addr + h->sh_size > addr)
			return false;
	}
	return true;
}

/* S2: a header that is right but for sh_name and sh_addralign; sh_type SHT_NULL: no such
 * section. */
static Elf64_Shdr wanted(const struct verify *v, const struct section *s)
{
	const struct blockmap *m = &v->map;
	Elf64_Shdr want = { .sh_type = SHT_PROGBITS,
			    .sh_flags = SHF_ALLOC, .sh_addr = s->h.sh_addr,
			    .sh_size = s->h.sh_size,
			    .sh_offset = s->h.sh_offset };
	Elf64_Shdr none = { 0 };

	if (strcmp(s->name, ".morph.map") == 0) {
		want.sh_flags = want.sh_addr = 0;
		return want;
	}
	if (strcmp(s->name, ".morph.counters") == 0) {
		const Elf64_Phdr *p = v->counting.segment;

		if (!p)
			return none;
		want.sh_type = SHT_NOBITS;
		want.sh_flags |= SHF_WRITE;
		want.sh_addr = p->p_vaddr;
		want.sh_size = p->p_memsz;
		want.sh_offset = p->p_offset;
		return want;
	}
	if (strcmp(s->name, ".morph.old_tables") == 0) {
		struct bytes free = image_at(&v->gen, want.sh_addr, want.sh_size);

		if (!free.p || !is_left_free(v, want.sh_addr, want.sh_size))
			return none;
		want.sh_offset = (uint64_t)(free.p - v->gen.file.p);
		return want;
	}
	if (strcmp(s->name, ".morph.text") == 0 || strcmp(s->name, ".morph.fluff") == 0) {
		bool hot = s->name[sizeof(".morph.") - 1] == 't';

		want.sh_flags |= SHF_EXECINSTR;
		want.sh_addr = m->gen_base + (hot ? 0 : m->hot_size);
		want.sh_size = hot ? m->hot_size : m->fluff_size;
		if (!hot && v->counting.segment)	/* behind all images */
			want.sh_size = v->counting.start_end - want.sh_addr;
	} else if (strcmp(s->name, ".eh_frame_hdr") == 0) {
		want.sh_addr = v->gcfi.hdr;
		want.sh_size = image_phdr(&v->gen, PT_GNU_EH_FRAME)->p_filesz;
	} else if (strcmp(s->name, ".eh_frame") == 0) {
		want.sh_addr = v->gcfi.frame;
		want.sh_size = v->gcfi.frame_size;
	} else if (strcmp(s->name, ".morph.rodata") != 0) {
		return none;
	}
	struct bytes b = image_at(&v->gen, want.sh_addr, want.sh_size);
	bool code = want.sh_flags & SHF_EXECINSTR;
	if (!b.p || want.sh_size == 0 || !verify_is_fresh(v, want.sh_addr) ||
	    image_is_exec(&v->gen, want.sh_addr) != code)
		return none;
	want.sh_offset = (uint64_t)(b.p - v->gen.file.p);
	return want;
}

static int check_new(struct verify *v)
{
	for (uint32_t i = v->orig.nsh; i < v->gen.nsh; i++) {
		const struct section *s = &v->gen.sh[i];
		uint64_t align = s->h.sh_addralign;

		if (i == v->gen.eh.e_shstrndx) {
			if (strcmp(s->name, ".shstrtab") != 0)
				return refuse(v, "the names of sections are in %s", s->name);
			continue;
		}
		Elf64_Shdr want = wanted(v, s);
		want.sh_name = s->h.sh_name;
		want.sh_addralign = align;
		if (want.sh_type == SHT_NULL || memcmp(&want, &s->h, sizeof(want)) != 0 ||
		    align == 0 || (align & (align - 1)) || align > 4096 ||
		    (s->h.sh_addr & (align - 1)))
			return refuse(v,
				      "new section %u (%s at 0x%llx) is not what its name says",
				      i, s->name, ULL(s->h.sh_addr));
		for (uint32_t k = v->orig.nsh; k < i; k++)
			if (strcmp(v->gen.sh[k].name, s->name) == 0)
				return refuse(v, "there are two new sections %s", s->name);
	}
	return 0;
}

int verify_sections(struct verify *v)
{
	if (check_names(v) < 0 || check_old(v) < 0)
		return -1;
	return check_new(v);
}
