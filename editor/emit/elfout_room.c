/* elfout_room.c - room for a longer program header table in the place where BFD, patchelf and
 * kernels expect the table
 *
 * WHY      The table must stay right behind the ELF header.  One that is elsewhere works until
 *          somebody runs strip or objcopy: BFD writes it right behind the ELF header, over
 *          whatever is there.
 *
 * LAYOUTS  F  ("front")  In a dynamically linked file .interp and notes follow the table, and
 *             then tables that only .dynamic leads to.  .interp and notes move up together,
 *             just as far as needed: the build-id has to stay in the first page of the file,
 *             because most kernels look only there.  The tables that they then overlap go to
 *             the new read-only segment.  In a program at a fixed address everything up to
 *             .dynstr and the section behind it moves up, if a table follows that can give way:
 *             patchelf takes the free bytes in front of .dynstr, and would put .dynamic where
 *             it cannot be written.  What tables left there all the same is a section.
 *          L  ("below")  In a static program nothing after the notes can give way, but there is
 *             free address space below it.  One more segment there, at the start of the file,
 *             holds a new ELF header, the table and the notes.  All file offsets grow by its
 *             alignment.
 *
 * INVARIANTS
 *   I1  what is overwritten is the table, something that moved, or zero bytes between sections;
 *   I2  only program headers, section headers and .dynamic lead to what moved: no code and no
 *       data was seen to refer to it.
 *
 * Tested by tests/unit/editor/emit/test_elfout.c; strip, objcopy, eu-strip and patchelf are run
 * on generations in tests/programs/images.sh.
 */
#include "editor/emit/elfout.h"

#include "lib/err.h"

#ifndef DT_RELR
#define DT_RELR 36
#endif
#ifndef SHT_RELR
#define SHT_RELR 19
#endif

/* LOWEST is mmap_min_addr as distributions set it.  MAX_LIFT bounds by how much the file grows
 * (2 MiB alignment is common, larger is rare): chosen, not measured. */
enum { MAX_LIFT = 16 << 20, LOWEST = 64 << 10 };

/* A section of this type is found through dynamic entry `tag`, and its size is in entry `size`
 * if that is not 0. */
static const struct {
	uint32_t type;
	int64_t tag, size;
} led_to[] = {
	{ SHT_GNU_HASH, DT_GNU_HASH, 0 },     { SHT_HASH, DT_HASH, 0 },
	{ SHT_DYNSYM, DT_SYMTAB, 0 },	      { SHT_STRTAB, DT_STRTAB, DT_STRSZ },
	{ SHT_GNU_versym, DT_VERSYM, 0 },     { SHT_GNU_verneed, DT_VERNEED, 0 },
	{ SHT_GNU_verdef, DT_VERDEF, 0 },     { SHT_RELA, DT_RELA, DT_RELASZ },
	{ SHT_RELA, DT_JMPREL, DT_PLTRELSZ }, { SHT_RELR, DT_RELR, DT_RELRSZ },
};

static uint64_t align_up(uint64_t v, uint64_t align)
{
	return align > 1 ? (v + align - 1) & ~(align - 1) : v;
}

static bool in_file(const Elf64_Shdr *h)
{
	return (h->sh_flags & SHF_ALLOC) && h->sh_type != SHT_NOBITS && h->sh_size > 0;
}

/* The section can be elsewhere as well: it is neither written nor run, and its alignment can be
 * kept. */
static bool is_movable(const Elf64_Shdr *h)
{
	uint64_t align = h->sh_addralign;

	return !(h->sh_flags & (SHF_WRITE | SHF_EXECINSTR)) && !(align & (align - 1)) &&
	       align <= ELFOUT_PAGE && h->sh_addr % (align ? align : 1) == 0;
}

static bool is_front(const struct section *s)
{
	return is_movable(&s->h) &&
	       (s->h.sh_type == SHT_NOTE || strcmp(s->name, ".interp") == 0);
}

/* The loaded section that begins first at or behind `off`; NULL if none does. */
static const struct section *next_section(const struct image *img, file_off off)
{
	const struct section *next = NULL;

	for (uint32_t i = 0; i < img->nsh; i++)
		if (in_file(&img->sh[i].h) && img->sh[i].h.sh_offset >= off &&
		    (!next || img->sh[i].h.sh_offset < next->h.sh_offset))
			next = &img->sh[i];
	return next;
}

/* What entry i of led_to[] leads to is no larger than the section: with -z nocombreloc, DT_RELA
 * leads to several sections. */
static bool is_all(const struct image *img, uint32_t i, const Elf64_Shdr *h)
{
	uint64_t size;

	return !led_to[i].size || !image_dynamic(img, led_to[i].size, &size) ||
	       size <= h->sh_size;
}

/* Index in led_to[] of the entry that leads to the section, -1 if none does. */
static int entry_to(const struct image *img, const Elf64_Shdr *h)
{
	uint64_t at;

	for (uint32_t i = 0; i < sizeof(led_to) / sizeof(led_to[0]); i++)
		if (h->sh_type == led_to[i].type && image_dynamic(img, led_to[i].tag, &at) &&
		    at == h->sh_addr && is_movable(h) && is_all(img, i, h))
			return (int)i;
	return -1;
}

bool elfout_can_move(const struct image *img, uint32_t section)
{
	return in_file(&img->sh[section].h) && entry_to(img, &img->sh[section].h) >= 0;
}

static bool is_zero(struct bytes b)
{
	for (uint64_t i = 0; i < b.n; i++)
		if (b.p[i])
			return false;
	return true;
}

/* Notes in eo->far[] the sections of [eo->front_end, limit), which go to the new segment; false
 * if something there cannot. */
static bool clear(struct elfout *eo, file_off limit)
{
	const struct image *img = eo->img;
	file_off at = eo->front_end;

	while (at < limit) {
		const struct section *s = next_section(img, at);
		file_off next = s && s->h.sh_offset < limit ? s->h.sh_offset : limit;

		if (!is_zero(bytes_at(img->file, at, next - at)))
			return false;
		if (next == limit)
			break;
		if (eo->nfar == ELFOUT_MAX_FAR || entry_to(img, &s->h) < 0)
			return false;
		eo->far_size = align_up(eo->far_size, s->h.sh_addralign);
		eo->far[eo->nfar++] = (struct elfout_far){ .section = (uint32_t)(s - img->sh),
							   .off = eo->far_size };
		eo->far_size += s->h.sh_size;
		at = s->h.sh_offset + s->h.sh_size;
	}
	return true;
}

/* Only program headers of notes and .interp name bytes of [eo->front, to), and none of them
 * names something that is half in the front or would lose its alignment. */
static bool headers_agree(const struct elfout *eo, file_off to)
{
	for (const Elf64_Phdr *p = eo->img->ph; p < eo->img->ph + eo->img->nph; p++) {
		bool front = p->p_type == PT_INTERP || p->p_type == PT_NOTE ||
			     p->p_type == PT_GNU_PROPERTY;

		if (p->p_type == PT_LOAD || p->p_type == PT_PHDR || p->p_filesz == 0 ||
		    p->p_offset >= to || p->p_offset + p->p_filesz <= eo->front)
			continue;
		if (!front || p->p_offset < eo->front ||
		    p->p_offset + p->p_filesz > eo->front_end ||
		    (p->p_align && (p->p_vaddr + eo->shift) % p->p_align))
			return false;
	}
	return true;
}

static bool is_far(const struct elfout *eo, uint32_t section)
{
	for (uint32_t i = 0; i < eo->nfar; i++)
		if (eo->far[i].section == section)
			return true;
	return false;
}

/* The same for sections.  find_front() and clear() went from one section to the next, so they
 * have not seen sections that overlap those. */
static bool sections_agree(const struct elfout *eo, file_off to)
{
	for (uint32_t i = 0; i < eo->img->nsh; i++) {
		const struct section *s = &eo->img->sh[i];
		const Elf64_Shdr *h = &s->h;
		uint64_t align = h->sh_addralign ? h->sh_addralign : 1;

		if (!in_file(h) || h->sh_offset >= to ||
		    h->sh_offset + h->sh_size <= eo->front || is_far(eo, i))
			continue;
		if (h->sh_offset < eo->front || h->sh_offset + h->sh_size > eo->front_end ||
		    !(is_front(s) || entry_to(eo->img, h) >= 0) ||
		    (h->sh_addr + eo->shift) % align)
			return false;
	}
	return true;
}

/* What a dynamic entry names in [from, to) is a section that moves, and the entry with it. */
static bool dynamic_agrees(const struct elfout *eo, file_off to)
{
	static const int64_t other[] = {
		DT_REL, DT_PLTGOT, DT_INIT, DT_FINI, DT_INIT_ARRAY, DT_FINI_ARRAY,
		DT_PREINIT_ARRAY, DT_SYMINFO, DT_GNU_CONFLICT, DT_GNU_LIBLIST, DT_TLSDESC_PLT,
		DT_TLSDESC_GOT, DT_MOVETAB, DT_CONFIG,
	};
	const struct image *img = eo->img;
	const Elf64_Phdr *load = image_phdr(img, PT_LOAD);
	uint64_t at;

	for (uint32_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (image_dynamic(img, other[i], &at) && at - load->p_vaddr >= eo->front &&
		    at - load->p_vaddr < to)
			return false;
	for (uint32_t i = 0; i < sizeof(led_to) / sizeof(led_to[0]); i++) {
		bool led = false;

		if (!image_dynamic(img, led_to[i].tag, &at) || at - load->p_vaddr < eo->front ||
		    at - load->p_vaddr >= to)
			continue;
		for (uint32_t k = 0; k < img->nsh; k++)
			led |= in_file(&img->sh[k].h) && img->sh[k].h.sh_addr == at &&
			       img->sh[k].h.sh_type == led_to[i].type &&
			       is_movable(&img->sh[k].h);
		if (!led)
			return false;
	}
	return true;
}

static bool all_agree(const struct elfout *eo, file_off to)
{
	return headers_agree(eo, to) && sections_agree(eo, to) && dynamic_agrees(eo, to);
}

/* Sets eo->front and front_end; returns their alignment, 0 when other bytes stand there.
 * `packed`: up to the section behind .dynstr. */
static uint64_t find_front(struct elfout *eo, bool packed)
{
	const struct image *img = eo->img;
	const struct section *s, *last = NULL;
	uint64_t align = 8;

	eo->front = eo->front_end = img->eh.e_phoff + img->nph * sizeof(Elf64_Phdr);
	while ((s = next_section(img, eo->front_end)) &&
	       (is_front(s) || (packed && entry_to(img, &s->h) >= 0))) {
		bool behind = last && strcmp(last->name, ".dynstr") == 0;

		if (!is_zero(
			    bytes_at(img->file, eo->front_end, s->h.sh_offset - eo->front_end)))
			return 0;
		eo->front_end = s->h.sh_offset + s->h.sh_size;
		align = s->h.sh_addralign > align ? s->h.sh_addralign : align;
		packed &= !behind;
		last = s;
	}
	return align;
}

/* The first segment reaches to `limit`, or can: on its last page and in front of what comes
 * next in the file. */
static bool can_hold(const struct image *img, const Elf64_Phdr *load, file_off limit)
{
	file_off next = 0;

	if (limit <= load->p_filesz)
		return true;
	for (const Elf64_Phdr *p = img->ph; p < img->ph + img->nph; p++)
		if (p->p_type == PT_LOAD && p->p_offset > 0 &&
		    (next == 0 || p->p_offset < next))
			next = p->p_offset;
	for (uint32_t i = 0; i < img->nsh; i++)
		if (img->sh[i].h.sh_type != SHT_NULL && img->sh[i].h.sh_type != SHT_NOBITS &&
		    img->sh[i].h.sh_offset >= load->p_filesz && img->sh[i].h.sh_offset < limit)
			return false;
	return limit <= next &&
	       (img->eh.e_shoff < load->p_filesz || img->eh.e_shoff >= limit) &&
	       limit <= align_up(load->p_filesz, ELFOUT_PAGE) &&
	       load->p_filesz == load->p_memsz;
}

static bool make_room_in_front(struct elfout *eo, vaddr seen, bool packed)
{
	const struct image *img = eo->img;
	const Elf64_Phdr *load = image_phdr(img, PT_LOAD);
	uint64_t need = (eo->nph - img->nph) * sizeof(Elf64_Phdr),
		 align = find_front(eo, packed);
	file_off limit = eo->front_end + align_up(need, align);

	eo->shift = limit - eo->front_end;
	if (align == 0 || img->eh.e_phoff != sizeof(Elf64_Ehdr) || load->p_offset != 0 ||
	    image_is_writable(img, load->p_vaddr) ||
	    !can_hold(img, load, limit) || !clear(eo, limit) || !all_agree(eo, limit) ||
	    seen - load->p_vaddr < limit) {
		eo->far_size = 0;
		eo->nfar = 0;
		eo->shift = 0;
		return false;
	}
	eo->layout = 'F';
	return true;
}

/* Notes go to the new first page, if they fit. */
static bool make_room_below(struct elfout *eo)
{
	const struct image *img = eo->img;
	const Elf64_Phdr *load = image_phdr(img, PT_LOAD);
	uint64_t lift = ELFOUT_PAGE;

	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD && img->ph[i].p_align > lift)
			lift = img->ph[i].p_align;
	if (img->pie_or_dso || load->p_offset != 0 || lift > MAX_LIFT || (lift & (lift - 1)) ||
	    load->p_vaddr % lift || load->p_vaddr < lift + LOWEST)
		return false;
	eo->nph++;
	eo->lift = lift;
	eo->low_size = sizeof(Elf64_Ehdr) + eo->nph * sizeof(Elf64_Phdr);
	eo->layout = 'L';

	uint64_t align = find_front(eo, false);
	file_off to = align ? eo->front + align_up(eo->low_size - eo->front, align) : 0;
	uint64_t size = eo->front_end - eo->front;

	eo->shift = to - eo->front - lift;	/* downwards: modulo 2^64 */
	if (align == 0 || to + size > ELFOUT_PAGE || eo->front_end <= eo->front ||
	    !all_agree(eo, eo->front_end)) {
		eo->front = eo->front_end = eo->shift = 0;
		return true;
	}
	eo->low_size = to + size;
	return true;
}

int elfout_room(struct elfout *eo, vaddr seen, struct err *err)
{
	if ((!eo->img->pie_or_dso && make_room_in_front(eo, seen, true)) ||
	    make_room_in_front(eo, seen, false) || make_room_below(eo))
		return 0;
	return err_set(err, ERR_REFUSED, "no room for program headers: what stands behind them "
		       "cannot move");
}

Elf64_Shdr elfout_old_section(const struct elfout *eo, const Elf64_Phdr *ro, uint32_t index)
{
	Elf64_Shdr h = eo->img->sh[index].h;
	bool near = in_file(&h) && h.sh_offset >= eo->front && h.sh_offset < eo->front_end;

	if (h.sh_type != SHT_NULL)
		h.sh_offset += eo->lift;
	if (near) {
		h.sh_offset += eo->shift;
		h.sh_addr += eo->shift;
	}
	for (uint32_t i = 0; i < eo->nfar; i++)
		if (eo->far[i].section == index) {
			h.sh_offset = ro->p_offset + eo->far[i].off;
			h.sh_addr = ro->p_vaddr + eo->far[i].off;
			h.sh_size += eo->far[i].more;
		}
	return h;
}

/* What is not taken of the place that a section in eo->far[] had; UINT64_MAX: nothing. */
static file_off left_free(const struct elfout *eo, uint32_t section)
{
	const Elf64_Shdr *h = &eo->img->sh[section].h;
	file_off from = h->sh_offset, end = from + h->sh_size;
	file_off front_end = eo->front_end + eo->shift;

	if (from >= eo->front && from < eo->front_end)
		return from + eo->shift;
	if (from < eo->front_end || front_end <= from)
		return from;
	return front_end < end ? front_end : UINT64_MAX;
}

Elf64_Shdr elfout_free_front(const struct elfout *eo)
{
	const Elf64_Phdr *load = image_phdr(eo->img, PT_LOAD);
	file_off from = UINT64_MAX, to = elfout_old_phdr(eo, *load).p_filesz;

	for (uint32_t i = 0; i < eo->nfar; i++) {
		file_off at = left_free(eo, eo->far[i].section);

		from = at < from ? at : from;
	}
	for (uint32_t i = 0; i < eo->img->nsh; i++) {
		if (!in_file(&eo->img->sh[i].h) || is_far(eo, i))
			continue;
		file_off at = elfout_old_section(eo, NULL, i).sh_offset;
		to = at >= from && at < to ? at : to;
	}
	if (eo->layout != 'F' || eo->img->pie_or_dso || from >= to)
		return (Elf64_Shdr){ 0 };
	return (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			     .sh_addr = load->p_vaddr + from, .sh_offset = from,
			     .sh_size = to - from, .sh_addralign = 1 };
}

Elf64_Phdr elfout_old_phdr(const struct elfout *eo, Elf64_Phdr ph)
{
	bool near = ph.p_type != PT_LOAD && ph.p_filesz > 0 && ph.p_offset >= eo->front &&
		    ph.p_offset < eo->front_end;

	if (ph.p_filesz > 0)
		ph.p_offset += eo->lift;
	if (ph.p_type == PT_LOAD && ph.p_offset == 0 && eo->layout == 'F' &&
	    ph.p_filesz < eo->front_end + eo->shift)
		ph.p_filesz = ph.p_memsz = eo->front_end + eo->shift;
	if (near) {
		ph.p_offset += eo->shift;
		ph.p_vaddr += eo->shift;
		ph.p_paddr += eo->shift;
	}
	return ph;
}

/* .dynamic in the file says where a section went. */
static void tell_dynamic(const struct elfout *eo, uint32_t section, new_vaddr addr,
			 struct wr *out)
{
	const Elf64_Phdr *ph = image_phdr(eo->img, PT_DYNAMIC);
	int entry = entry_to(eo->img, &eo->img->sh[section].h);

	if (entry < 0 || addr == eo->img->sh[section].h.sh_addr)
		return;
	for (uint64_t off = 0; off + sizeof(Elf64_Dyn) <= ph->p_filesz;
	     off += sizeof(Elf64_Dyn)) {
		uint8_t *at = out->p + ph->p_offset + off;
		Elf64_Dyn d;

		memcpy(&d, at, sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == led_to[entry].tag &&
		    d.d_un.d_ptr == eo->img->sh[section].h.sh_addr) {
			d.d_un.d_ptr = addr;
			memcpy(at, &d, sizeof(d));
		}
	}
}

/* What moved up with the front and is in the new segment as well (elfout_dynsyms.c) is gone
 * again: behind the last section that is up there are the original's bytes. */
static void unmove_far(const struct elfout *eo, struct wr *out)
{
	file_off end = eo->front;

	for (uint32_t i = 0; i < eo->img->nsh; i++) {
		const Elf64_Shdr *h = &eo->img->sh[i].h;

		if (in_file(h) && h->sh_offset >= eo->front && h->sh_offset < eo->front_end &&
		    !is_far(eo, i) && h->sh_offset + h->sh_size > end)
			end = h->sh_offset + h->sh_size;
	}
	for (uint32_t i = 0; i < eo->nfar; i++) {
		const Elf64_Shdr *h = &eo->img->sh[eo->far[i].section].h;

		if (h->sh_offset >= eo->front && h->sh_offset < eo->front_end)
			memset(out->p + h->sh_offset + eo->shift, 0, h->sh_size);
	}
	memcpy(out->p + end + eo->shift, eo->img->file.p + end + eo->shift,
	       eo->front_end - end);
}

void elfout_move_front(const struct elfout *eo, const Elf64_Phdr *ro, struct wr *out)
{
	uint8_t *front = out->p + eo->lift + eo->front;

	for (uint32_t i = 0; i < eo->nfar; i++) {
		const Elf64_Shdr *from = &eo->img->sh[eo->far[i].section].h;

		memcpy(out->p + ro->p_offset + eo->far[i].off, out->p + from->sh_offset,
		       from->sh_size);
	}
	memmove(front + eo->shift, front, eo->front_end - eo->front);
	if (eo->layout != 'F')
		return;
	unmove_far(eo, out);
	memset(front, 0, eo->shift);
	for (uint32_t i = 0; i < eo->img->nsh; i++)
		tell_dynamic(eo, i, elfout_old_section(eo, ro, i).sh_addr, out);
}
