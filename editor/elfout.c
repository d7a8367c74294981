/* elfout.c - the original file, plus two segments behind it, plus headers that name them
 *
 * WHY      Every byte of the original stays at its offset and address (but for entry jumps and
 *          headers), so nothing in the program can miss anything.  New text goes into one
 *          PT_LOAD (R X) above everything, tables and unwind data into a second one (R).
 *
 * LAYOUTS  The two PT_LOADs need two program headers, and the table has no room behind it:
 *          C  PT_NOTE of .note.gnu.property and PT_GNU_PROPERTY, which say the same thing twice,
 *             give their places.  The table stays where it is, so strip and objcopy work.
 *          A  the table moves to the start of the new read-only segment.
 *          B  as A, for executables: file offset = address - load bias, because kernels before
 *             5.18 compute AT_PHDR from the file offset.  Leaves a hole in the file; when that
 *             would be over MAX_HOLE, A.
 *
 * FILE     original | pad | new text | pad | (program headers) tables .eh_frame_hdr .eh_frame
 *          | .morph.map | .shstrtab | section headers
 *
 * INVARIANTS
 *   I1  PT_LOADs ascend by address, PT_PHDR and PT_INTERP come before them, as they did before;
 *   I2  offset and address of new segments are congruent modulo the page size;
 *   I3  indices of the original's sections do not change: symbols and sh_link stay right.
 */
#include "editor/elfout.h"

#include "lib/err.h"

/* GAP keeps new text away from the data in front of it: eu-elflint takes the size of a symbol for
 * that of the relocated word, and would see relocations to large objects reach into it.  In
 * layout B the gap takes room in the file. */
enum { PAGE = 4096, GAP = 1 << 20, GAP_IN_FILE = 64 << 10, MAX_HOLE = 16 << 20, MAX_SECTIONS = 0xff00 - 16 };

static uint64_t page_up(uint64_t v)
{
	return (v + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* The PT_NOTE that covers exactly what PT_GNU_PROPERTY covers, behind the last PT_LOAD or at
 * least not to be missed by I1; false when there is none. */
static bool find_property_note(const struct image *img, struct elfout *eo)
{
	uint32_t note = UINT32_MAX, property = UINT32_MAX;

	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_GNU_PROPERTY)
			property = i;
	if (property == UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_NOTE &&
		    img->ph[i].p_offset == img->ph[property].p_offset &&
		    img->ph[i].p_filesz == img->ph[property].p_filesz)
			note = i;
	eo->drop_note = note;
	eo->drop_property = property;
	return note != UINT32_MAX;
}

int elfout_plan(const struct image *img, struct elfout *eo, struct err *err)
{
	const Elf64_Phdr *load = image_phdr(img, PT_LOAD);
	vaddr lo, hi;

	*eo = (struct elfout){ .img = img, .drop_note = UINT32_MAX, .drop_property = UINT32_MAX };
	if (!load)
		return err_set(err, ERR_REFUSED, "no PT_LOAD program header");
	if (!image_phdr(img, PT_GNU_EH_FRAME))
		return err_set(err, ERR_REFUSED, "no PT_GNU_EH_FRAME: unwinders would not find "
			       "the moved code");
	if (img->eh.e_phentsize != sizeof(Elf64_Phdr))
		return err_set(err, ERR_REFUSED, "program headers of unknown size");
	if (img->nph > 1000 || img->nsh > MAX_SECTIONS)
		return err_set(err, ERR_REFUSED, "too many program or section headers");
	image_span(img, &lo, &hi);
	if (hi > (uint64_t)1 << 46 || img->file.n > (uint64_t)1 << 40)
		return err_set(err, ERR_REFUSED, "addresses are too high to add segments above");
	eo->text_addr = page_up(hi) + GAP;
	eo->text_off = page_up(img->file.n);
	eo->nph = img->nph + 2;
	if (find_property_note(img, eo)) {
		eo->layout = 'C';
		eo->nph = img->nph;
		return 0;
	}
	eo->layout = 'A';
	if (!img->executable || load->p_vaddr < load->p_offset)
		return 0;

	uint64_t bias = load->p_vaddr - load->p_offset;
	new_vaddr in_step = page_up(hi) + GAP_IN_FILE;

	if (in_step < eo->text_off + bias)	/* much behind the last segment: debug data */
		in_step = page_up(eo->text_off + bias);
	if (bias % PAGE == 0 && in_step - bias - eo->text_off <= MAX_HOLE) {
		eo->layout = 'B';
		eo->text_addr = in_step;
		eo->text_off = in_step - bias;
	}
	return 0;
}

static uint64_t phdr_space(const struct elfout *eo)
{
	return eo->layout == 'C' ? 0 : (uint64_t)eo->nph * sizeof(Elf64_Phdr);
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
	parts->tables_addr = align_up(ro_addr(eo, text_size) + phdr_space(eo), 16);
	parts->hdr_addr = align_up(parts->tables_addr + tables_size, 8);
	parts->frame_addr = align_up(parts->hdr_addr + hdr_size, 8);
}

struct write {				/* elfout_write() under way */
	const struct elfout *eo;
	const struct elfout_parts *parts;
	struct wr *out;
	Elf64_Phdr text, ro;		/* the new PT_LOADs */
	file_off phdr_off;
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
		.p_type = PT_LOAD, .p_flags = PF_R, .p_offset = eo->text_off + (ro - eo->text_addr),
		.p_vaddr = ro, .p_paddr = ro, .p_filesz = ro_size, .p_memsz = ro_size,
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
		memcpy(w->out->p + p->off, p->byte, p->size);
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
	w->phdr_off = w->eo->layout == 'C' ? w->eo->img->eh.e_phoff : w->out->n;
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

static Elf64_Phdr moved_phdr(const struct write *w, Elf64_Phdr ph)
{
	if (ph.p_type == PT_GNU_EH_FRAME) {
		ph.p_vaddr = ph.p_paddr = w->parts->hdr_addr;
		ph.p_offset = ro_off(w, w->parts->hdr_addr);
		ph.p_filesz = ph.p_memsz = w->parts->hdr.n;
		ph.p_align = 4;
	} else if (ph.p_type == PT_PHDR && w->eo->layout != 'C') {
		ph.p_vaddr = ph.p_paddr = w->ro.p_vaddr;
		ph.p_offset = w->phdr_off;
		ph.p_filesz = ph.p_memsz = phdr_space(w->eo);
	}
	return ph;
}

/* The old ones in their order, without what layout C drops; the new ones right behind the last
 * PT_LOAD. */
static void write_phdrs(struct write *w)
{
	const struct image *img = w->eo->img;
	uint8_t *at = w->out->p + w->phdr_off;
	uint32_t last = 0;

	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD)
			last = i;
	for (uint32_t i = 0; i < img->nph; i++) {
		if (i != w->eo->drop_note && i != w->eo->drop_property) {
			Elf64_Phdr ph = moved_phdr(w, img->ph[i]);

			memcpy(at, &ph, sizeof(ph));
			at += sizeof(ph);
		}
		if (i == last) {
			memcpy(at, &w->text, sizeof(w->text));
			memcpy(at + sizeof(w->text), &w->ro, sizeof(w->ro));
			at += sizeof(w->text) + sizeof(w->ro);
		}
	}
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
	return name;
}

/* add_new_sections() leaves empty ones out. */
uint16_t elfout_text_section(const struct elfout *eo, uint64_t hot_size, bool hot)
{
	return (uint16_t)(eo->img->nsh + (!hot && hot_size > 0));
}

static void add_new_sections(const struct write *w, struct headers *h)
{
	const struct elfout_parts *p = w->parts;
	new_vaddr text = w->text.p_vaddr;
	Elf64_Shdr map = {
		.sh_type = SHT_PROGBITS, .sh_offset = w->map_off, .sh_size = p->map.n,
		.sh_addralign = 8,
	};

	add_new(w, h, ".morph.text", text, p->hot_size, SHF_ALLOC | SHF_EXECINSTR, 16);
	add_new(w, h, ".morph.fluff", text + p->hot_size, p->text.n - p->hot_size,
		SHF_ALLOC | SHF_EXECINSTR, 1);
	add_new(w, h, ".morph.rodata", p->tables_addr, p->tables.n, SHF_ALLOC, 8);
	/* perf looks for .eh_frame_hdr first and rereads the table when it comes second. */
	add_new(w, h, ".eh_frame_hdr", p->hdr_addr, p->hdr.n, SHF_ALLOC, 4);
	add_new(w, h, ".eh_frame", p->frame_addr, p->frame.n, SHF_ALLOC, 8);
	add_header(h, ".morph.map", map);
}

/* Old sections keep their index; a string table for names replaces the old one in its place, or
 * is added when the file had none. */
static void write_sections(struct write *w, Elf64_Ehdr *eh)
{
	const struct image *img = w->eo->img;
	struct headers h = { { 0 }, { 0 } };
	uint32_t strndx = img->eh.e_shstrndx;
	bool in_place = strndx > 0 && strndx < img->nsh &&
			!(img->sh[strndx].h.sh_flags & SHF_ALLOC);
	Elf64_Shdr none = { 0 };

	if (img->nsh == 0)
		add_header(&h, "", none);
	for (uint32_t i = 0; i < img->nsh; i++)
		add_header(&h, old_name(img->sh[i].name), img->sh[i].h);
	add_new_sections(w, &h);
	if (!in_place) {
		strndx = (uint32_t)(h.table.n / sizeof(Elf64_Shdr));
		add_header(&h, ".shstrtab", none);
	}

	Elf64_Shdr strings = {
		.sh_type = SHT_STRTAB, .sh_offset = w->out->n, .sh_size = h.names.n,
		.sh_addralign = 1,
	};

	memcpy(&strings.sh_name, h.table.p + strndx * sizeof(Elf64_Shdr), sizeof(strings.sh_name));
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

int elfout_write(const struct elfout *eo, const struct elfout_parts *parts, struct wr *out,
		 struct err *err)
{
	struct write w = { .eo = eo, .parts = parts, .out = out, .err = err };
	Elf64_Ehdr eh = eo->img->eh;

	wr_raw(out, eo->img->file.p, eo->img->file.n);
	if (apply_patches(&w) < 0)
		return -1;
	describe_segments(&w);
	write_segments(&w);
	write_phdrs(&w);
	write_sections(&w, &eh);
	eh.e_phoff = w.phdr_off;
	eh.e_phnum = (uint16_t)eo->nph;
	memcpy(out->p, &eh, sizeof(eh));
	return 0;
}
