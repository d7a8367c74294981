/* elfout.c - the file of a generation: the original, two segments after it, and headers that
 * name them
 *
 * WHY      Every byte of the original stays at its address, except for entry jumps, headers and
 *          the sections that give way to headers.  So whatever address the program uses, the
 *          same bytes are there.  New text goes into one PT_LOAD (R X) above everything, tables
 *          and unwind data into a second one (R).  elfout_room.c finds room for their program
 *          headers.
 *
 * FILE     original | pad | new text | pad | sections that gave way, tables, .eh_frame_hdr,
 *          .eh_frame | .morph.map | .symtab, .strtab, .note.stapsdt | .shstrtab | section
 *          headers
 *
 * INVARIANTS
 *   I1  PT_LOADs ascend by address, PT_PHDR and PT_INTERP come before them, as they did before;
 *   I2  offset and address of new segments are congruent modulo the page size;
 *   I3  indices of the original's sections do not change: symbols and sh_link stay right.
 *
 * Tested by tests/unit/editor/emit/test_elfout.c, with elfout_room.c; programs of every kind
 * run with it in tests/programs/images.sh.
 */
#include "editor/emit/elfout.h"

#include "binary/buildid.h"
#include "binary/mapsection.h"
#include "lib/err.h"

/* GAP keeps new text away from the data in front of it: eu-elflint takes the size of a symbol
 * for that of the relocated word, so a relocation to a large object would seem to reach into
 * new text.  1 MiB was chosen, not measured. */
enum { PAGE = ELFOUT_PAGE, GAP = 1 << 20, MAX_SECTIONS = 0xff00 - 16 };

static uint64_t page_up(uint64_t v)
{
	return (v + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Readers of the generation find the new tables by the names that the old ones had. */
static bool has_unloaded_table(const struct image *img)
{
	for (uint32_t i = 0; i < img->nsh; i++)
		if (!(img->sh[i].h.sh_flags & SHF_ALLOC) &&
		    (strcmp(img->sh[i].name, ".eh_frame") == 0 ||
		     strcmp(img->sh[i].name, ".eh_frame_hdr") == 0))
			return true;
	return false;
}

int elfout_plan(const struct prog *prog, struct elfout *eo, struct err *err)
{
	return elfout_plan_counters(prog, 0, eo, err);
}

int elfout_plan_counters(const struct prog *prog, uint64_t size, struct elfout *eo,
			 struct err *err)
{
	const struct image *img = &prog->img;
	vaddr lo, hi;

	*eo = (struct elfout){ .img = img, .counters_size = page_up(size) };
	if (!image_phdr(img, PT_LOAD))
		return err_set(err, ERR_REFUSED, "no PT_LOAD program header");
	if (img->nph > 1000 || img->nsh > MAX_SECTIONS)
		return err_set(err, ERR_REFUSED, "too many program or section headers");
	if (has_unloaded_table(img))
		return err_set(err, ERR_REFUSED,
			       "a section has the name of an unwind table and is not "
			       "loaded");
	if (img->eh.e_shstrndx && img->eh.e_shstrndx < img->nsh &&
	    img->sh[img->eh.e_shstrndx].h.sh_type != SHT_STRTAB)
		return err_set(err, ERR_INPUT, "the names of sections are in no string table");
	image_span(img, &lo, &hi);
	if (hi > (uint64_t)1 << 46 || img->file.n > (uint64_t)1 << 40)
		return err_set(err, ERR_REFUSED,
			       "addresses are too high to add segments above");
	eo->add_eh_frame = !image_phdr(img, PT_GNU_EH_FRAME);
	eo->nph = img->nph + 2 + eo->add_eh_frame + (size > 0);
	if (elfout_room(eo, prog->seen_in_front, err) < 0)
		return -1;
	eo->counters_addr = prog->text_at ? prog->text_at : page_up(hi) + GAP;
	if (eo->counters_addr % PAGE || eo->counters_addr < page_up(hi) ||
	    eo->counters_addr > (uint64_t)1 << 46)
		return err_set(err, ERR_REFUSED, "new text cannot be at 0x%llx",
			       (unsigned long long)eo->counters_addr);
	eo->text_addr = eo->counters_addr + eo->counters_size;
	eo->text_off = page_up(img->file.n + eo->lift);
	return 0;
}

static uint64_t align_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

static new_vaddr ro_addr(const struct elfout *eo, uint64_t text_size)
{
	return page_up(eo->text_addr + text_size);
}

void elfout_place(const struct elfout *eo, uint64_t text_size, uint64_t tables_size,
		  uint64_t hdr_size, struct elfout_parts *parts)
{
	parts->tables_addr = align_up(ro_addr(eo, text_size) + eo->far_size, 16);
	parts->hdr_addr = align_up(parts->tables_addr + tables_size, 8);
	parts->frame_addr = align_up(parts->hdr_addr + hdr_size, 8);
}

struct write {				/* elfout_write() under way */
	const struct elfout *eo;
	const struct elfout_parts *parts;
	struct wr *out;
	Elf64_Phdr text, ro;		/* the new PT_LOADs */
	file_off map_off;
	struct err *err;
};

static void describe_segments(struct write *w)
{
	const struct elfout *eo = w->eo;
	uint64_t text_size = w->parts->text.n;
	new_vaddr ro = ro_addr(eo, text_size);
	uint64_t ro_size = w->parts->frame_addr + w->parts->frame.n - ro;

	w->text = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = eo->text_off,
		.p_vaddr = eo->text_addr, .p_paddr = eo->text_addr,
		.p_filesz = text_size, .p_memsz = text_size, .p_align = PAGE,
	};
	w->ro = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R,
		.p_offset = eo->text_off + (ro - eo->text_addr), .p_vaddr = ro, .p_paddr = ro,
		.p_filesz = ro_size, .p_memsz = ro_size,
		.p_align = PAGE,
	};
}

static int apply_patches(struct write *w)
{
	for (uint32_t i = 0; i < w->parts->npatch; i++) {
		const struct elfout_patch *p = &w->parts->patch[i];

		if (!bytes_at(w->eo->img->file, p->off, p->size).p)
			return err_set(w->err, ERR_REFUSED, "a change at file offset 0x%llx is "
				       "outside the file", (unsigned long long)p->off);
		memcpy(w->out->p + w->eo->lift + p->off, p->byte, p->size);
	}
	return 0;
}

static void pad_to(struct wr *out, file_off off)
{
	(void)wr_reserve(out, off - out->n);
}

/* The file offset at which an address of the new read-only segment stands. */
static file_off ro_off(const struct write *w, new_vaddr addr)
{
	return w->ro.p_offset + (addr - w->ro.p_vaddr);
}

static void write_segments(struct write *w)
{
	const struct elfout_parts *parts = w->parts;

	pad_to(w->out, w->text.p_offset);
	wr_raw(w->out, parts->text.p, parts->text.n);
	pad_to(w->out, w->ro.p_offset);
	pad_to(w->out, ro_off(w, parts->tables_addr));
	wr_raw(w->out, parts->tables.p, parts->tables.n);
	pad_to(w->out, ro_off(w, parts->hdr_addr));
	wr_raw(w->out, parts->hdr.p, parts->hdr.n);
	pad_to(w->out, ro_off(w, parts->frame_addr));
	wr_raw(w->out, parts->frame.p, parts->frame.n);
	wr_align(w->out, 8);
	w->map_off = w->out->n;
	wr_raw(w->out, parts->map.p, parts->map.n);
}

static Elf64_Phdr eh_frame_phdr(const struct write *w)
{
	new_vaddr addr = w->parts->hdr_addr;

	return (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = ro_off(w, addr),
		.p_vaddr = addr, .p_paddr = addr, .p_filesz = w->parts->hdr.n,
		.p_memsz = w->parts->hdr.n, .p_align = 4,
	};
}

static new_vaddr lowest(const struct elfout *eo)
{
	return image_phdr(eo->img, PT_LOAD)->p_vaddr - eo->lift;
}

/* The table stands behind the header, and PT_PHDR says so. */
static Elf64_Phdr old_phdr(const struct write *w, Elf64_Phdr ph)
{
	if (ph.p_type == PT_GNU_EH_FRAME) {
		Elf64_Phdr now = eh_frame_phdr(w);

		now.p_flags = ph.p_flags;
		now.p_align = ph.p_align;
		return now;
	}
	if (ph.p_type == PT_PHDR) {
		ph.p_vaddr = ph.p_paddr = ph.p_vaddr - w->eo->lift;
		ph.p_filesz = ph.p_memsz = w->eo->nph * sizeof(Elf64_Phdr);
		return ph;
	}
	return elfout_old_phdr(w->eo, ph);
}

static uint8_t *put_phdr(uint8_t *at, Elf64_Phdr ph)
{
	memcpy(at, &ph, sizeof(ph));
	return at + sizeof(ph);
}

/* Layout L: the segment below all others, with headers and notes. */
static Elf64_Phdr lowest_phdr(const struct write *w)
{
	uint64_t size = w->eo->low_size;
	new_vaddr addr = lowest(w->eo);

	return (Elf64_Phdr){ .p_type = PT_LOAD,
			     .p_flags = PF_R, .p_vaddr = addr, .p_paddr = addr,
			     .p_filesz = size, .p_memsz = size,
			     .p_align = w->eo->lift };
}

/* It has nothing in the file: the offset is any that goes with its address. */
static Elf64_Phdr counters_phdr(const struct write *w)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W,
			     .p_offset = w->text.p_offset, .p_vaddr = w->eo->counters_addr,
			     .p_paddr = w->eo->counters_addr, .p_memsz = w->eo->counters_size,
			     .p_align = PAGE };
}

/* The old ones in their order, the new ones where their addresses belong. */
static void write_phdrs(struct write *w)
{
	const struct image *img = w->eo->img;
	const Elf64_Phdr *first = image_phdr(img, PT_LOAD);
	uint8_t *at = w->out->p + sizeof(Elf64_Ehdr);
	uint32_t last = 0;

	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD)
			last = i;
	for (uint32_t i = 0; i < img->nph; i++) {
		if (&img->ph[i] == first && w->eo->lift)
			at = put_phdr(at, lowest_phdr(w));
		at = put_phdr(at, old_phdr(w, img->ph[i]));
		if (i == last) {
			if (w->eo->counters_size)
				at = put_phdr(at, counters_phdr(w));
			at = put_phdr(at, w->text);
			at = put_phdr(at, w->ro);
		}
	}
	if (w->eo->add_eh_frame)
		(void)put_phdr(at, eh_frame_phdr(w));
}

struct headers {			/* section headers being collected */
	struct wr table, names;
};

static void add_header(struct headers *h, const char *name, Elf64_Shdr sh)
{
	sh.sh_name = (uint32_t)h->names.n;
	wr_str(&h->names, name);
	wr_raw(&h->table, &sh, sizeof(sh));
}

static void add_new(const struct write *w, struct headers *h, const char *name, new_vaddr addr,
		    uint64_t size, uint64_t flags, uint64_t align)
{
	Elf64_Shdr sh = {
		.sh_type = SHT_PROGBITS, .sh_flags = flags, .sh_addr = addr, .sh_size = size,
		.sh_addralign = align,
	};

	if (size == 0)
		return;
	sh.sh_offset = flags & SHF_EXECINSTR ? w->text.p_offset + (addr - w->text.p_vaddr) :
					       ro_off(w, addr);
	add_header(h, name, sh);
}

static const char *old_name(const char *name)
{
	if (strcmp(name, ".eh_frame") == 0)
		return ".morph.old_eh_frame";
	if (strcmp(name, ".eh_frame_hdr") == 0)
		return ".morph.old_eh_frame_hdr";
	if (strcmp(name, ".gnu_debuglink") == 0)	/* that file is the original's */
		return ".morph.old_debuglink";
	return name;
}

/* In the order that elfout_text_section() counts on. */
static void add_new_sections(const struct write *w, struct headers *h)
{
	const struct elfout_parts *p = w->parts;
	new_vaddr text = w->text.p_vaddr;
	Elf64_Shdr map = {
		.sh_type = SHT_PROGBITS, .sh_offset = w->map_off, .sh_size = p->map.n,
		.sh_addralign = 8,
	}, old = elfout_free_front(w->eo);

	add_new(w, h, ".morph.text", text, p->hot_size, SHF_ALLOC | SHF_EXECINSTR, 16);
	add_new(w, h, ".morph.fluff", text + p->hot_size, p->text.n - p->hot_size,
		SHF_ALLOC | SHF_EXECINSTR, 1);
	add_new(w, h, ".morph.rodata", p->tables_addr, p->tables.n, SHF_ALLOC, 8);
	/* perf looks for .eh_frame_hdr first and rereads the table when it comes second. */
	add_new(w, h, ".eh_frame_hdr", p->hdr_addr, p->hdr.n, SHF_ALLOC, 4);
	add_new(w, h, ".eh_frame", p->frame_addr, p->frame.n, SHF_ALLOC, 8);
	add_header(h, MAPSECTION, map);
	if (w->eo->counters_size)
		add_header(h, ".morph.counters", (Elf64_Shdr){
			.sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE,
			.sh_addr = w->eo->counters_addr, .sh_offset = w->text.p_offset,
			.sh_size = w->eo->counters_size, .sh_addralign = PAGE });
	if (old.sh_size)
		add_header(h, ".morph.old_tables", old);
}

/* Longer notes of static probe points: nothing loads them. */
static void add_probes(const struct write *w, Elf64_Shdr *header)
{
	Elf64_Shdr *h = &header[w->parts->probes_section];

	if (w->parts->probes_section == 0)
		return;
	wr_align(w->out, 4);
	h->sh_offset = w->out->n;
	h->sh_size = w->parts->probes.n;
	wr_raw(w->out, w->parts->probes.p, w->parts->probes.n);
}

/* Old sections keep their index; a string table for names replaces the old one in its place, or
 * is added when there is none or it is loaded. */
static void write_sections(struct write *w, Elf64_Ehdr *eh)
{
	const struct image *img = w->eo->img;
	struct headers h = { { 0 }, { 0 } };
	uint32_t strndx = img->eh.e_shstrndx;
	bool in_place = strndx > 0 && strndx < img->nsh &&
			!(img->sh[strndx].h.sh_flags & SHF_ALLOC);
	Elf64_Shdr none = { 0 };

	for (uint32_t i = 0; i < img->nsh; i++)
		add_header(&h, old_name(img->sh[i].name), elfout_old_section(w->eo, &w->ro, i));
	elfout_add_symbols(w->eo, w->parts, &w->ro, (Elf64_Shdr *)(void *)h.table.p, w->out);
	add_probes(w, (Elf64_Shdr *)(void *)h.table.p);
	add_new_sections(w, &h);
	if (!in_place) {
		strndx = (uint32_t)(h.table.n / sizeof(Elf64_Shdr));
		add_header(&h, ".shstrtab", none);
	}

	Elf64_Shdr strings = {
		.sh_type = SHT_STRTAB, .sh_offset = w->out->n, .sh_size = h.names.n,
		.sh_addralign = 1,
	};

	memcpy(&strings.sh_name, h.table.p + strndx * sizeof(Elf64_Shdr),
	       sizeof(strings.sh_name));
	memcpy(h.table.p + strndx * sizeof(Elf64_Shdr), &strings, sizeof(strings));
	wr_raw(w->out, h.names.p, h.names.n);
	wr_align(w->out, 8);
	eh->e_shoff = w->out->n;
	eh->e_shnum = (uint16_t)(h.table.n / sizeof(Elf64_Shdr));
	eh->e_shstrndx = (uint16_t)strndx;
	eh->e_shentsize = sizeof(Elf64_Shdr);
	wr_raw(w->out, h.table.p, h.table.n);
	wr_free(&h.table);
	wr_free(&h.names);
}

/* In the note where program headers lead. */
static void renew_build_id(struct write *w)
{
	const struct image *img = w->eo->img;
	struct buildid b = buildid_find(img);

	if (b.id.n == 0)
		return;
	file_off at = elfout_old_phdr(w->eo, *b.ph).p_offset +
		      (uint64_t)(b.id.p - (img->file.p + b.ph->p_offset));
	buildid_derive(b.id, w->parts->map, w->out->p + at);
}

int elfout_write(const struct elfout *eo, const struct elfout_parts *parts, struct wr *out,
		 struct err *err)
{
	struct write w = { .eo = eo, .parts = parts, .out = out, .err = err };
	Elf64_Ehdr eh = eo->img->eh;

	(void)wr_reserve(out, eo->lift);
	wr_raw(out, eo->img->file.p, eo->img->file.n);
	if (apply_patches(&w) < 0)
		return -1;
	describe_segments(&w);
	write_segments(&w);
	elfout_move_front(eo, &w.ro, out);
	elfout_add_dynsyms(eo, parts, &w.ro, out);
	write_phdrs(&w);
	write_sections(&w, &eh);
	renew_build_id(&w);
	eh.e_phoff = sizeof(eh);
	if (parts->entry)
		eh.e_entry = parts->entry;
	eh.e_phnum = (uint16_t)eo->nph;
	memcpy(out->p, &eh, sizeof(eh));
	return 0;
}
