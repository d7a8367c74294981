/* front.c - what gave way to the program header table is elsewhere, unchanged, and found
 *
 * The generation has more program headers, and its table overwrites what stood behind the
 * original's.  Shown here:
 *
 *   F1  each overwritten byte was in a section that moved, or was zero and in none, and nobody
 *       could write to it;
 *   F2  a section that moved is of a kind that only headers and .dynamic lead to, and its
 *       content, which nobody could write to, is loaded, read-only, where its section header
 *       says now.
 *       Tables of dynamic symbols may be longer there: dynsyms.c looks at the rest;
 *   F3  program headers and dynamic entries that led to it lead to the new place, by their
 *       sizes to nothing behind it, and no dynamic entry leads to an overwritten byte;
 *   F4  no code and no pointer in data leads to an overwritten byte: entries.c and holders.c,
 *       which walk over these, ask verify_in_front().
 *
 * A file that is linked to a fixed address may have a new segment below it instead: then all
 * file offsets grow by v->file.lift, and nothing of the original is overwritten.
 */
#include "verify/parts.h"

#ifndef DT_RELR
#define DT_RELR 36
#endif
#ifndef SHT_RELR
#define SHT_RELR 19
#endif

/* Dynamic entries that are addresses, and the type of section that one may lead to wherever
 * that stands; 0: not to one that moves.  The entry `size`, if not 0, says how much is
 * there. */
static const struct {
	int64_t tag;
	uint32_t type;
	int64_t size;
} address_tag[] = {
	{ DT_GNU_HASH, SHT_GNU_HASH, 0 },
	{ DT_HASH, SHT_HASH, 0 },
	{ DT_SYMTAB, SHT_DYNSYM, 0 },
	{ DT_STRTAB, SHT_STRTAB, DT_STRSZ },
	{ DT_VERSYM, SHT_GNU_versym, 0 },
	{ DT_VERNEED, SHT_GNU_verneed, 0 },
	{ DT_VERDEF, SHT_GNU_verdef, 0 },
	{ DT_RELA, SHT_RELA, DT_RELASZ },
	{ DT_RELR, SHT_RELR, DT_RELRSZ },
	{ DT_JMPREL, SHT_RELA, DT_PLTRELSZ },
	{ DT_REL, 0, 0 },
	{ DT_PLTGOT, 0, 0 },
	{ DT_INIT, 0, 0 },
	{ DT_FINI, 0, 0 },
	{ DT_INIT_ARRAY, 0, 0 },
	{ DT_FINI_ARRAY, 0, 0 },
	{ DT_PREINIT_ARRAY, 0, 0 },
	{ DT_SYMINFO, 0, 0 },
	{ DT_GNU_CONFLICT, 0, 0 },
	{ DT_GNU_LIBLIST, 0, 0 },
	{ DT_TLSDESC_PLT, 0, 0 },
	{ DT_TLSDESC_GOT, 0, 0 },
	{ DT_MOVETAB, 0, 0 },
	{ DT_CONFIG, 0, 0 },
};
enum { NTAG = sizeof(address_tag) / sizeof(address_tag[0]) };

static bool in_file(const Elf64_Shdr *h)
{
	return (h->sh_flags & SHF_ALLOC) && h->sh_type != SHT_NOBITS && h->sh_size > 0;
}

bool verify_has_moved(const struct verify *v, uint32_t i)
{
	return i < v->gen.nsh && in_file(&v->orig.sh[i].h) &&
	       v->gen.sh[i].h.sh_addr != v->orig.sh[i].h.sh_addr;
}

static bool may_move(const struct section *s)
{
	if (s->h.sh_flags & (SHF_WRITE | SHF_EXECINSTR))
		return false;
	if (s->h.sh_type == SHT_NOTE || strcmp(s->name, ".interp") == 0)
		return true;
	for (int i = 0; i < NTAG; i++)
		if (address_tag[i].type && address_tag[i].type == s->h.sh_type)
			return true;
	return false;
}

uint64_t verify_new_off(const struct verify *v, uint64_t off)
{
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const Elf64_Shdr *o = &v->orig.sh[i].h;

		if (verify_has_moved(v, i) && off >= o->sh_offset &&
		    off - o->sh_offset < o->sh_size)
			return v->gen.sh[i].h.sh_offset + (off - o->sh_offset);
	}
	return off + v->file.lift;
}

/* The same bytes in the generation. */
struct rd verify_new_bytes(const struct verify *v, vaddr addr, uint64_t n)
{
	struct bytes o = image_at(&v->orig, addr, n);

	return rd_of(o.p ? bytes_at(v->gen.file,
				    verify_new_off(v, (uint64_t)(o.p - v->orig.file.p)), n)
			 : o);
}

/* [addr, addr + n + more) of the generation are the file bytes at `off`, not writable, and the
 * first n of those are the original's at `from`, but for pointers that lead to images and for
 * the build-id (buildid.c). */
static bool same_content(const struct verify *v, uint64_t from, vaddr addr, uint64_t off,
			 uint64_t n, uint64_t more)
{
	struct bytes o = bytes_at(v->orig.file, from, n), g = image_at(&v->gen, addr, n + more);

	if (!o.p || !g.p || (uint64_t)(g.p - v->gen.file.p) != off ||
	    image_is_writable(&v->gen, addr))
		return false;
	uint8_t *want = arena_dup(v->a, o.p, n);

	for (uint32_t i = 0; i < v->pointers.changes.n; i++) {
		uint64_t at = v->pointers.changes.v[i].off - from;

		if (at < n && v->pointers.changes.v[i].n <= n - at)
			memcpy(want + at, g.p + at, v->pointers.changes.v[i].n);
	}
	const struct vbuildid *id = &v->buildid;
	if (id->n && id->off >= from && id->off - from <= n && id->n <= n - (id->off - from) &&
	    id->now - off == id->off - from)
		memcpy(want + (id->off - from), v->gen.file.p + id->now, id->n);
	return memcmp(want, g.p, n) == 0;
}

static bool is_hash(const Elf64_Shdr *h)
{
	return h->sh_type == SHT_HASH || h->sh_type == SHT_GNU_HASH;
}

bool verify_has_grown(const struct verify *v, uint32_t i)
{
	const Elf64_Shdr *o = &v->orig.sh[i].h;

	return verify_has_moved(v, i) && v->gen.sh[i].h.sh_size > o->sh_size &&
	       (is_hash(o) || o->sh_type == SHT_DYNSYM || o->sh_type == SHT_GNU_versym);
}

int verify_old_section(struct verify *v, uint32_t i)
{
	const struct section *o = &v->orig.sh[i], *g = &v->gen.sh[i];
	Elf64_Shdr want = o->h;
	bool unwind =
		strcmp(o->name, ".eh_frame") == 0 || strcmp(o->name, ".eh_frame_hdr") == 0;

	want.sh_name = g->h.sh_name;
	want.sh_offset += v->file.lift;
	if (verify_has_moved(v, i)) {
		uint64_t more = verify_has_grown(v, i) ? g->h.sh_size - o->h.sh_size : 0;
		/* dynsyms.c looks at what is in longer hash tables */
		uint64_t same = more > 0 && is_hash(&o->h) ? 0 : o->h.sh_size;

		want.sh_addr = g->h.sh_addr;
		want.sh_offset = g->h.sh_offset;
		want.sh_size += more;
		if (!may_move(o) || image_is_writable(&v->orig, o->h.sh_addr) ||
		    (o->h.sh_addralign && g->h.sh_addr % o->h.sh_addralign) ||
		    !same_content(v, o->h.sh_offset, want.sh_addr, want.sh_offset, same,
				  want.sh_size - same))
			return refuse(
				v,
				"section %u (%s) has moved from 0x%llx to 0x%llx, and its "
				"content has not",
				i, o->name, ULL(o->h.sh_addr), ULL(g->h.sh_addr));
	}
	if (memcmp(&want, &g->h, sizeof(want)) != 0 ||
	    (strcmp(o->name, g->name) != 0 && !unwind))
		return refuse(v, "section %u (%s at 0x%llx) was changed", i, o->name,
			      ULL(o->h.sh_addr));
	return 0;
}

/* The first segment may reach further on its last page: image_parse() has shown that
 * segments are disjoint, and find_front() looks at the bytes. */
static Elf64_Phdr grown(Elf64_Phdr want, const Elf64_Phdr *g)
{
	enum { PAGE = 4096 };
	uint64_t last = (want.p_vaddr + want.p_filesz + PAGE - 1) / PAGE;

	if (want.p_filesz == want.p_memsz && !(want.p_flags & PF_W) &&
	    g->p_filesz > want.p_filesz && g->p_filesz == g->p_memsz &&
	    (want.p_vaddr + g->p_filesz + PAGE - 1) / PAGE == last)
		want.p_filesz = want.p_memsz = g->p_filesz;
	return want;
}

Elf64_Phdr verify_moved_phdr(const struct verify *v, Elf64_Phdr want, const Elf64_Phdr *g)
{
	if (want.p_type == PT_LOAD && want.p_offset == 0 && v->file.lift == 0)
		return grown(want, g);
	if (want.p_type != PT_INTERP && want.p_type != PT_NOTE &&
	    want.p_type != PT_GNU_PROPERTY)
		return want;
	if (want.p_filesz == 0)		/* there is nothing that could have moved */
		return want;
	if (image_is_writable(&v->orig, want.p_vaddr) ||
	    !same_content(v, want.p_offset - v->file.lift, g->p_vaddr, g->p_offset,
			  want.p_filesz, 0) ||
	    (want.p_align && g->p_vaddr % want.p_align))
		return want;
	want.p_vaddr = want.p_paddr = g->p_vaddr;
	want.p_offset = g->p_offset;
	return want;
}

/* The end of the section that moved and has the byte at `off`; off itself if none has. */
static uint64_t moved_end(const struct verify *v, const struct section *sh, uint64_t off)
{
	for (uint32_t i = 0; i < v->orig.nsh; i++)
		if (verify_has_moved(v, i) && off >= sh[i].h.sh_offset &&
		    off - sh[i].h.sh_offset < sh[i].h.sh_size)
			return sh[i].h.sh_offset + sh[i].h.sh_size;
	return off;
}

/* What has stayed is not in [at, end): not even zeros of it. */
static int check_stayed(struct verify *v, uint64_t at, uint64_t end)
{
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const Elf64_Shdr *h = &v->orig.sh[i].h;

		if (h->sh_type != SHT_NULL && h->sh_type != SHT_NOBITS && h->sh_size > 0 &&
		    h->sh_offset < end && h->sh_offset + h->sh_size > at &&
		    !verify_has_moved(v, i))
			return refuse(
				v,
				"section %u (%s) is where program headers are now, and has not "
				"moved",
				i, v->orig.sh[i].name);
	}
	return 0;
}

/* The first byte of [at, end) that is not zero and in no section that moved; end if there is
 * none. */
static uint64_t first_outside(const struct verify *v, const struct image *img, uint64_t at,
			      uint64_t end)
{
	while (at < end) {
		uint64_t next = img->file.p[at] ? moved_end(v, img->sh, at) : at + 1;

		if (next == at)
			return at;
		at = next;
	}
	return end;
}

/* F1: the front ends where the last thing in it ends, be it the table or a section that moved
 * there. */
static int find_front(struct verify *v)
{
	const Elf64_Phdr *load = image_phdr(&v->orig, PT_LOAD),
			 *g = image_phdr(&v->gen, PT_LOAD);
	uint64_t first_end = g->p_offset + g->p_filesz;
	uint64_t table = v->orig.eh.e_phoff + v->orig.nph * sizeof(Elf64_Phdr);
	uint64_t lo = v->gen.eh.e_phoff + v->gen.nph * sizeof(Elf64_Phdr);
	uint64_t hi = lo > table ? lo : table;

	v->front.off = load->p_vaddr - load->p_offset;
	v->front.lo = v->front.hi = table;
	if (v->file.lift)
		return 0;
	if (image_is_writable(&v->orig, load->p_vaddr))
		return refuse(
			v, "the first segment, where program headers grow, can be written to");
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const Elf64_Shdr *h = &v->gen.sh[i].h;

		if (verify_has_moved(v, i) && h->sh_offset < first_end &&
		    h->sh_offset + h->sh_size > hi)
			hi = h->sh_offset + h->sh_size;
	}
	if (hi > first_end || !bytes_at(v->orig.file, 0, hi).p)
		return refuse(v, "the program headers or what they push reach out of the first "
			      "segment");
	v->front.hi = hi;
	uint64_t lost = first_outside(v, &v->orig, table, hi),
		 strange = first_outside(v, &v->gen, lo, hi);
	if (lost < hi)
		return refuse(v, "the original's byte at file offset 0x%llx was overwritten",
			      ULL(lost));
	if (strange < hi)
		return refuse(v, "the byte at file offset 0x%llx is in nothing that moved",
			      ULL(strange));
	return check_stayed(v, table, hi);
}

bool verify_in_front(const struct vfront *front, vaddr addr)
{
	return addr - front->off >= front->lo && addr - front->off < front->hi;
}

bool verify_may_be_in_front(const struct verify *v, uint64_t number)
{
	if (!verify_in_front(&v->front, number))
		return false;
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const Elf64_Shdr *h = &v->orig.sh[i].h;
		struct bytes b = bytes_at(v->orig.file, h->sh_offset, h->sh_size);

		if (!in_file(h) || number - h->sh_addr >= h->sh_size)
			continue;
		return number == h->sh_addr || (h->sh_type == SHT_NOTE &&
						(b.n < 16 || memcmp(b.p + 12, "GNU", 4) != 0));
	}
	return false;
}

/* The value that the generation must have for the original's dynamic entry. */
static int want_dynamic(struct verify *v, const Elf64_Dyn *d, uint64_t *want)
{
	uint64_t size = 0;
	int t = 0;

	*want = d->d_un.d_val;
	while (t < NTAG && address_tag[t].tag != d->d_tag)
		t++;
	if (t == NTAG)
		return 0;
	if (address_tag[t].size)
		(void)image_dynamic(&v->orig, address_tag[t].size, &size);
	for (uint32_t i = 0; i < v->orig.nsh; i++)
		if (verify_has_moved(v, i) && v->orig.sh[i].h.sh_addr == d->d_un.d_ptr &&
		    v->orig.sh[i].h.sh_type == address_tag[t].type) {
			*want = v->gen.sh[i].h.sh_addr;
			if (size <= v->orig.sh[i].h.sh_size)
				return 0;
			return refuse(v,
				      "dynamic entry %#llx leads to more than section %u (%s), "
				      "which has "
				      "moved",
				      ULL(d->d_tag), i, v->orig.sh[i].name);
		}
	if (verify_in_front(&v->front, d->d_un.d_ptr))
		return refuse(v, "dynamic entry %#llx leads to 0x%llx, which was overwritten",
			      ULL(d->d_tag), ULL(d->d_un.d_ptr));
	return 0;
}

/* F3; v->front.dynamic[] gets the file offsets of the values that differ. */
static int check_dynamic(struct verify *v)
{
	const Elf64_Phdr *p = image_phdr(&v->orig, PT_DYNAMIC);
	Elf64_Dyn o, g;
	bool end = false;

	if (!p)
		return 0;
	for (uint64_t off = p->p_offset; off + sizeof(o) <= p->p_offset + p->p_filesz;
	     off += sizeof(o)) {
		struct bytes b = bytes_at(v->gen.file, off + v->file.lift, sizeof(g));
		uint64_t want;

		if (!b.p)
			return refuse(v, "the dynamic section is cut off");
		memcpy(&g, b.p, sizeof(g));
		memcpy(&o, v->orig.file.p + off, sizeof(o));
		if (v->counting.segment &&
		    off + offsetof(Elf64_Dyn, d_un) == v->counting.leads_at)
			g.d_un = o.d_un;		/* counting.c */
		end |= o.d_tag == DT_NULL;
		want = o.d_un.d_val;
		if (!end && want_dynamic(v, &o, &want) < 0)
			return -1;
		if (g.d_tag != o.d_tag || g.d_un.d_val != want)
			return refuse(v, "dynamic entry %#llx is 0x%llx, not 0x%llx",
				      ULL(o.d_tag), ULL(g.d_un.d_val), ULL(want));
		if (want == o.d_un.d_val)
			continue;
		if (v->front.ndynamic == VERIFY_MAX_DYNAMIC)
			return refuse(v, "too many dynamic entries differ");
		v->front.dynamic[v->front.ndynamic++] = off + offsetof(Elf64_Dyn, d_un);
	}
	return 0;
}

int verify_front(struct verify *v)
{
	if (find_front(v) < 0)
		return -1;
	return check_dynamic(v);
}
