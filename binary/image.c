/* image.c - a bounds-checked view of one ELF file in memory
 *
 * libelf finds the header tables, extended numbering included.  Every entry is copied and every
 * range in it checked here, so that after image_parse() code may use p_offset, p_filesz,
 * sh_offset and sh_size of anything in the file without looking again.
 *
 * INVARIANTS after image_parse()
 *   I1  program header and section file ranges lie inside the file; address ranges do not wrap;
 *   I2  PT_LOADs ascend by address and are disjoint;
 *   I3  no loaded section is compressed, without a type, or aligned to no power of two;
 *   I4  there is at most one program header of each type that has one only (PT_DYNAMIC, PT_TLS
 *       and others): of several, some readers believe the first and others the last;
 *   I5  there is at most one dynamic entry of each tag, but for those of which all count: the
 *       dynamic loader takes the last, image_dynamic() the first.
 *
 * libelf does not write into the file's bytes: it would do so only for another byte order than
 * the machine's, and filekind_check() has refused that.
 */
#include "binary/image.h"

#include <libelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"

static const vaddr ADDRESS_END = (vaddr)1 << 47;	/* of user space */

static int check_header(struct bytes file, Elf64_Ehdr *eh, struct err *err)
{
	if (filekind_check(file, err) < 0)
		return -1;
	memcpy(eh, file.p, sizeof(*eh));	/* it is there: filekind_check() looked at it */
	if (eh->e_ehsize != sizeof(Elf64_Ehdr) || eh->e_phentsize != sizeof(Elf64_Phdr) ||
	    (eh->e_shoff && eh->e_shentsize != sizeof(Elf64_Shdr)))
		return err_set(err, ERR_INPUT, "header tables of an unknown form");
	return 0;
}

static int copy_program_headers(Elf *elf, struct arena *a, struct image *img, struct err *err)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0 || n == 0 || n > UINT16_MAX)
		return err_set(err, ERR_INPUT, "no readable program headers");
	img->ph = arena_array(a, n, sizeof(*img->ph));
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr *ph = &img->ph[i];

		if (!gelf_getphdr(elf, (int)i, ph))
			return err_set(err, ERR_INPUT,
				       "program header %zu lies outside the file", i);
		if (!bytes_at(img->file, ph->p_offset, ph->p_filesz).p)
			return err_set(err, ERR_INPUT,
				       "program header %zu points outside the file", i);
		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_memsz < ph->p_filesz || ph->p_vaddr > ADDRESS_END ||
		    ph->p_memsz > ADDRESS_END - ph->p_vaddr)
			return err_set(err, ERR_INPUT, "segment %zu has an impossible size", i);
	}
	img->nph = (uint32_t)n;
	return 0;
}

static int check_segment_order(struct image *img, struct err *err)
{
	vaddr end = 0;
	uint32_t nload = 0;

	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_vaddr < end)
			return err_set(err, ERR_INPUT, "segments overlap or are out of order");
		end = ph->p_vaddr + ph->p_memsz;
		nload++;
		if (!img->code && (ph->p_flags & PF_X)) {
			img->code = ph;
			img->text = bytes_at(img->file, ph->p_offset, ph->p_filesz);
			img->text_at = ph->p_vaddr;
		}
	}
	return nload ? 0 : err_set(err, ERR_INPUT, "nothing in it is loaded");
}

static bool is_loaded_from(const struct image *img, vaddr addr, file_off off, uint64_t size)
{
	const Elf64_Phdr *load = image_segment(img, addr);

	return load && addr - load->p_vaddr == off - load->p_offset &&
	       size <= load->p_filesz && addr - load->p_vaddr <= load->p_filesz - size;
}

/* What headers and sections name is where the segments load it from.  RELRO may reach
 * further. */
static int check_places(const struct image *img, struct err *err)
{
	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];
		bool named = ph->p_type == PT_INTERP || ph->p_type == PT_NOTE ||
			     ph->p_type == PT_GNU_PROPERTY || ph->p_type == PT_DYNAMIC ||
			     ph->p_type == PT_GNU_EH_FRAME || ph->p_type == PT_TLS;

		if (named && ph->p_filesz > 0 &&
		    (ph->p_paddr != ph->p_vaddr ||
		     !is_loaded_from(img, ph->p_vaddr, ph->p_offset, ph->p_filesz)))
			return err_set(err, ERR_INPUT,
				       "program header %u names what no segment "
				       "loads",
				       i);
	}
	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if ((h->sh_flags & SHF_ALLOC) && h->sh_type != SHT_NOBITS && h->sh_size > 0 &&
		    !is_loaded_from(img, h->sh_addr, h->sh_offset, h->sh_size))
			return err_set(err, ERR_INPUT, "section %u names what no segment loads",
				       i);
	}
	return 0;
}

static int check_single_headers(const struct image *img, struct err *err)
{
	static const uint32_t single[] = {
		PT_PHDR, PT_INTERP, PT_DYNAMIC, PT_TLS, PT_GNU_EH_FRAME, PT_GNU_PROPERTY,
	};

	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		const Elf64_Phdr *first = image_phdr(img, single[i]);

		for (const Elf64_Phdr *ph = img->ph; ph < img->ph + img->nph; ph++)
			if (ph->p_type == single[i] && ph != first)
				return err_set(err, ERR_INPUT,
					       "several program headers of type %#x",
					       single[i]);
	}
	return 0;
}

/* PT_PHDR, if there is one, describes the table of program headers and where it is loaded. */
static int check_own_header(const struct image *img, struct err *err)
{
	uint64_t size = img->nph * sizeof(Elf64_Phdr);
	const Elf64_Phdr *ph = image_phdr(img, PT_PHDR);

	if (ph && (ph->p_offset != img->eh.e_phoff || ph->p_filesz != size ||
		   ph->p_memsz != size || ph->p_paddr != ph->p_vaddr ||
		   !is_loaded_from(img, ph->p_vaddr, ph->p_offset, size)))
		return err_set(err, ERR_INPUT, "PT_PHDR does not describe the program headers");
	return 0;
}

static const char *section_name(const struct image *img, const Elf64_Shdr *names, uint32_t off)
{
	struct rd r = rd_of(bytes_at(img->file, names->sh_offset, names->sh_size));

	(void)rd_skip(&r, off);		/* a bad offset shows in rd_str */
	const char *s = rd_str(&r);
	return s ? s : "";
}

static int copy_sections(Elf *elf, struct arena *a, struct image *img, struct err *err)
{
	size_t n, names = 0;

	if (img->eh.e_shoff == 0)
		return 0;
	if (elf_getshdrnum(elf, &n) < 0 || n > UINT32_MAX / sizeof(*img->sh) ||
	    !bytes_at(img->file, img->eh.e_shoff, n * sizeof(Elf64_Shdr)).p)
		return err_set(err, ERR_INPUT, "section headers lie outside the file");
	if (elf_getshdrstrndx(elf, &names) < 0 || names >= n)
		names = 0;
	img->sh = arena_array(a, n, sizeof(*img->sh));
	for (size_t i = 0; i < n; i++) {
		Elf64_Shdr *h = &img->sh[i].h;
		Elf_Scn *scn = elf_getscn(elf, i);

		if (!scn || !gelf_getshdr(scn, h))
			return err_set(err, ERR_INPUT, "section header %zu is unreadable", i);
		if (h->sh_type != SHT_NOBITS && h->sh_type != SHT_NULL &&
		    !bytes_at(img->file, h->sh_offset, h->sh_size).p)
			return err_set(err, ERR_INPUT, "section %zu lies outside the file", i);
		if (h->sh_addr > ADDRESS_END || h->sh_size > ADDRESS_END)
			return err_set(err, ERR_INPUT, "section %zu has an impossible size", i);
		if ((h->sh_flags & SHF_ALLOC) && h->sh_type == SHT_NULL)
			return err_set(err, ERR_INPUT, "section %zu is loaded and of no type",
				       i);
		if ((h->sh_flags & SHF_ALLOC) && (h->sh_addralign & (h->sh_addralign - 1)))
			return err_set(err, ERR_INPUT, "section %zu is aligned to 0x%llx", i,
				       (unsigned long long)h->sh_addralign);
		if ((h->sh_flags & SHF_ALLOC) && (h->sh_flags & SHF_COMPRESSED))
			return err_set(err, ERR_REFUSED, "section %zu is loaded compressed", i);
	}
	for (size_t i = 0; i < n; i++)
		img->sh[i].name = names == 0 || img->sh[names].h.sh_type == SHT_NOBITS ? "" :
			section_name(img, &img->sh[names].h, img->sh[i].h.sh_name);
	img->nsh = (uint32_t)n;
	return 0;
}

static int tag_cmp(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static int check_dynamic_tags(const struct image *img, struct arena *a, struct err *err)
{
	const Elf64_Phdr *ph = image_phdr(img, PT_DYNAMIC);
	struct rd r = rd_of(ph ? bytes_at(img->file, ph->p_offset, ph->p_filesz) :
				 (struct bytes){ NULL, 0 });
	int64_t *tags = arena_array(a, rd_left(&r) / sizeof(Elf64_Dyn), sizeof(*tags)), tag;
	uint64_t n = 0;

	while (rd_left(&r) >= sizeof(Elf64_Dyn) && (tag = rd_s64(&r)) != DT_NULL) {
		(void)rd_u64(&r);
		if (tag != DT_NEEDED && tag != DT_AUXILIARY && tag != DT_FILTER)
			tags[n++] = tag;
	}
	if (n)
		qsort(tags, n, sizeof(*tags), tag_cmp);
	for (uint64_t i = 1; i < n; i++)
		if (tags[i] == tags[i - 1])
			return err_set(err, ERR_REFUSED, "two dynamic entries of tag 0x%llx",
				       (unsigned long long)tags[i]);
	return 0;
}

int image_parse(struct bytes file, struct arena *a, struct image *img, struct err *err)
{
	struct image out = { .file = file };
	uint64_t flags = 0, needed;
	int rc = -1;

	if (check_header(file, &out.eh, err) < 0)
		return -1;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return err_set(err, ERR_SYS, "libelf is of an unknown version");
	Elf *elf = elf_memory((char *)(uintptr_t)file.p, (size_t)file.n);
	if (!elf)
		return err_set(err, ERR_INPUT, "libelf: %s", elf_errmsg(-1));
	if (copy_program_headers(elf, a, &out, err) < 0 || check_segment_order(&out, err) < 0 ||
	    check_single_headers(&out, err) < 0 || check_own_header(&out, err) < 0 ||
	    copy_sections(elf, a, &out, err) < 0 || check_places(&out, err) < 0 ||
	    check_dynamic_tags(&out, a, err) < 0)
		goto out;
	bool interp = image_phdr(&out, PT_INTERP) != NULL;
	(void)image_dynamic(&out, DT_FLAGS_1, &flags);		/* absent: no flags */
	out.pie_or_dso = out.eh.e_type == ET_DYN;
	out.executable = !out.pie_or_dso || interp || (flags & DF_1_PIE);
	out.is_static = !interp && !image_dynamic(&out, DT_NEEDED, &needed);
	*img = out;
	rc = 0;
out:
	(void)elf_end(elf);		/* nothing was written */
	return rc;
}

const Elf64_Phdr *image_segment(const struct image *img, vaddr addr)
{
	if (img->code && addr - img->code->p_vaddr < img->code->p_memsz)
		return img->code;
	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type == PT_LOAD && addr >= ph->p_vaddr &&
		    addr - ph->p_vaddr < ph->p_memsz)
			return ph;
	}
	return NULL;
}

struct bytes image_rest_anywhere(const struct image *img, vaddr addr)
{
	const Elf64_Phdr *ph = image_segment(img, addr);

	if (!ph || addr - ph->p_vaddr >= ph->p_filesz)
		return (struct bytes){ NULL, 0 };
	uint64_t skip = addr - ph->p_vaddr;
	return bytes_at(img->file, ph->p_offset + skip, ph->p_filesz - skip);
}

struct bytes image_at(const struct image *img, vaddr addr, uint64_t n)
{
	return bytes_at(image_rest(img, addr), 0, n);
}

bool image_is_exec(const struct image *img, vaddr addr)
{
	const Elf64_Phdr *ph = image_segment(img, addr);

	return ph && (ph->p_flags & PF_X);
}

bool image_is_writable(const struct image *img, vaddr addr)
{
	const Elf64_Phdr *ph = image_segment(img, addr);

	return ph && (ph->p_flags & PF_W);
}

const struct section *image_section(const struct image *img, const char *name)
{
	for (uint32_t i = 0; i < img->nsh; i++)
		if (strcmp(img->sh[i].name, name) == 0)
			return &img->sh[i];
	return NULL;
}

const struct section *image_section_at(const struct image *img, vaddr addr)
{
	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if ((h->sh_flags & SHF_ALLOC) &&
		    !(h->sh_flags & SHF_TLS && h->sh_type == SHT_NOBITS) &&
		    addr >= h->sh_addr && addr - h->sh_addr < h->sh_size)
			return &img->sh[i];
	}
	return NULL;
}

const Elf64_Phdr *image_phdr(const struct image *img, uint32_t type)
{
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == type)
			return &img->ph[i];
	return NULL;
}

void image_span(const struct image *img, vaddr *lo, vaddr *hi)
{
	*lo = ADDRESS_END;
	*hi = 0;
	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_vaddr < *lo)
			*lo = ph->p_vaddr;
		if (ph->p_vaddr + ph->p_memsz > *hi)
			*hi = ph->p_vaddr + ph->p_memsz;
	}
}

bool image_dynamic(const struct image *img, int64_t tag, uint64_t *value)
{
	const Elf64_Phdr *ph = image_phdr(img, PT_DYNAMIC);

	if (!ph)
		return false;
	struct rd r = rd_of(bytes_at(img->file, ph->p_offset, ph->p_filesz));
	while (rd_left(&r) >= sizeof(Elf64_Dyn)) {
		int64_t t = rd_s64(&r);
		uint64_t v = rd_u64(&r);

		if (t == tag) {
			*value = v;
			return true;
		}
		if (t == DT_NULL)
			break;
	}
	return false;
}
