/* dynamic.c - relocations and symbols of an image, one by one
 *
 * Relocations are read as the dynamic loader reads them: by DT_RELA, DT_JMPREL and DT_RELR, or,
 * in a file without a dynamic section, from its allocated sections.  A table that is not in the
 * file, and a relocation of a place that is not writable, are errors: nobody could run such a
 * file.  PostMorph and the Editor read them here; the Verifier does so by itself
 * (verify/holders.c).
 *
 * Tested by tests/unit/binary/test_dynamic.c.
 */
#include "binary/dynamic.h"

#include "lib/err.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif
#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

/* The loader writes to `place`. */
static int check_place(const struct image *img, vaddr place, struct err *err)
{
	return image_is_writable(img, place) ? 0 :
		err_set(err, ERR_INPUT, "a relocation changes what nobody can write to");
}

static int each_rela(const struct image *img, struct bytes b, bool plt, reloc_fn *f, void *ctx,
		     struct err *err)
{
	struct rd rd = rd_of(b);

	while (rd_left(&rd) >= sizeof(Elf64_Rela)) {
		struct reloc r = { .place = rd_u64(&rd), .plt = plt };
		uint64_t info = rd_u64(&rd);

		r.type = (uint32_t)ELF64_R_TYPE(info);
		r.sym = (uint32_t)ELF64_R_SYM(info);
		r.at = (file_off)(rd.p - img->file.p);
		r.value = rd_u64(&rd);
		if (r.type != R_X86_64_NONE && check_place(img, r.place, err) < 0)
			return -1;
		f(ctx, &r);
	}
	return 0;
}

static int relr_word(const struct image *img, vaddr place, reloc_fn *f, void *ctx,
		     struct err *err)
{
	struct bytes word = image_at(img, place, 8);
	struct rd rd = rd_of(word);
	struct reloc r = { .place = place, .type = R_X86_64_RELATIVE, .value = rd_u64(&rd) };

	if (check_place(img, place, err) < 0)
		return -1;
	if (rd.bad)
		return 0;
	r.at = (file_off)(word.p - img->file.p);
	f(ctx, &r);
	return 0;
}

/* An even entry is a place; an odd one says which of the next 63 words are places too. */
static int each_relr(const struct image *img, struct bytes b, reloc_fn *f, void *ctx,
		     struct err *err)
{
	struct rd rd = rd_of(b);
	vaddr next = 0;

	while (rd_left(&rd) >= 8) {
		uint64_t entry = rd_u64(&rd);

		if (!(entry & 1)) {
			if (relr_word(img, entry, f, ctx, err) < 0)
				return -1;
			next = entry + 8;
			continue;
		}
		for (uint64_t i = 0, bits = entry >> 1; bits; i++, bits >>= 1)
			if ((bits & 1) && relr_word(img, next + 8 * i, f, ctx, err) < 0)
				return -1;
		next += (vaddr)63 * 8;
	}
	return 0;
}

/* Content of the table that two dynamic entries describe; .n == 0 when there is none. */
static int dynamic_table(const struct image *img, int64_t at_tag, int64_t size_tag,
			 struct bytes *out, struct err *err)
{
	uint64_t at, size;

	*out = (struct bytes){ (const uint8_t *)"", 0 };
	if (!image_dynamic(img, at_tag, &at) || !image_dynamic(img, size_tag, &size) ||
	    size == 0)
		return 0;
	struct bytes b = image_at(img, at, size);
	if (!b.p)
		return err_set(err, ERR_INPUT, "relocations lie outside the file");
	*out = b;
	return 0;
}

int relocs_each(const struct image *img, reloc_fn *f, void *ctx, struct err *err)
{
	struct bytes rela, plt, relr;

	if (!image_phdr(img, PT_DYNAMIC)) {
		for (uint32_t i = 0; i < img->nsh; i++) {
			const Elf64_Shdr *h = &img->sh[i].h;

			if (h->sh_type == SHT_RELA && (h->sh_flags & SHF_ALLOC) &&
			    each_rela(img, bytes_at(img->file, h->sh_offset, h->sh_size), false,
				      f, ctx, err) < 0)
				return -1;
		}
		return 0;
	}
	if (dynamic_table(img, DT_RELA, DT_RELASZ, &rela, err) < 0 ||
	    dynamic_table(img, DT_JMPREL, DT_PLTRELSZ, &plt, err) < 0 ||
	    dynamic_table(img, DT_RELR, DT_RELRSZ, &relr, err) < 0)
		return -1;
	return each_rela(img, rela, false, f, ctx, err) < 0 ||
			       each_rela(img, plt, true, f, ctx, err) < 0 ||
			       each_relr(img, relr, f, ctx, err) < 0
		       ? -1
		       : 0;
}

static void read_symbol(struct rd *rd, struct bytes names, struct symbol *s)
{
	struct rd at = rd_of(names);

	(void)rd_skip(&at, rd_u32(rd));		/* a bad offset shows in rd_str */
	s->name = rd_str(&at);
	if (!s->name)
		s->name = "";
	s->type = ELF64_ST_TYPE(rd_u8(rd));
	(void)rd_u8(rd);			/* visibility */
	s->section = rd_u16(rd);
	s->defined = s->section != SHN_UNDEF;
	s->value = rd_u64(rd);
	s->size = rd_u64(rd);
}

void symbols_each(const struct image *img, uint32_t section_type, symbol_fn *f, void *ctx)
{
	const Elf64_Shdr *h = NULL;

	for (uint32_t i = 0; i < img->nsh && !h; i++)
		if (img->sh[i].h.sh_type == section_type)
			h = &img->sh[i].h;
	if (!h || h->sh_link >= img->nsh || img->sh[h->sh_link].h.sh_type != SHT_STRTAB)
		return;
	const Elf64_Shdr *str = &img->sh[h->sh_link].h;
	struct bytes names = bytes_at(img->file, str->sh_offset, str->sh_size);
	struct rd rd = rd_of(bytes_at(img->file, h->sh_offset, h->sh_size));
	for (uint32_t i = 0; rd_left(&rd) >= sizeof(Elf64_Sym); i++) {
		struct symbol s = { .at = (file_off)(rd.p - img->file.p) };

		read_symbol(&rd, names, &s);
		f(ctx, i, &s);
	}
}
