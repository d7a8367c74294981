/* holders.c - addresses that the original keeps as data
 *
 * One walk over all places outside of instructions where a program keeps code addresses:
 * relocations, symbols, the dynamic section, the entry point, and in programs linked to a fixed
 * address every aligned word of data.  None of them may lead inside an entry jump, or to what
 * gave way to program headers.  Places within thread-local storage are no addresses.  What is
 * relocated can be written to: code and tables, of which there are copies, are not.
 */
#include "verify/holders.h"
#include "verify/lookup.h"

static const char NOT_THERE[] = "the relocations at 0x%llx are in no segment, or not in one";

struct walk {
	struct verify *v;
	vholder_fn *f;
	void *ctx;
};

/* A number within the thread-local storage, or of a module, or of a relocation that does
 * nothing: no address at all. */
static bool is_no_address(const struct vholder *h)
{
	return h->symbol_type == STT_TLS || h->type == R_X86_64_DTPMOD64 ||
	       h->type == R_X86_64_DTPOFF64 || h->type == R_X86_64_TPOFF64 ||
	       h->type == R_X86_64_TLSDESC ||
	       (h->kind == HOLDS_RELOCATED && h->type == R_X86_64_NONE);
}

static int hold(const struct walk *w, struct vholder h)
{
	if (is_no_address(&h))
		return 0;
	return w->f(w->v, &h, w->ctx);
}

/* The loader writes to `place`. */
static int check_relocated(const struct walk *w, vaddr place, const char *what, uint64_t n)
{
	return image_is_writable(&w->v->orig, place)
		       ? 0
		       : refuse(w->v, "%s %llu changes 0x%llx, which nobody can write to", what,
				ULL(n), ULL(place));
}

static bool read_symbol(const struct verify *v, vaddr addr, struct vholder *h)
{
	struct rd r = rd_of(image_at(&v->orig, addr, sizeof(Elf64_Sym)));

	(void)rd_u32(&r);		/* name */
	h->symbol_type = ELF64_ST_TYPE(rd_u8(&r));
	(void)rd_u8(&r);		/* other */
	h->section = rd_u16(&r);
	h->value = rd_u64(&r);
	return !r.bad;
}

/* Only a program without a dynamic section is relocated by what its sections say. */
static int walk_rela(const struct walk *w, vaddr addr, uint64_t size, const char *what,
		     uint8_t relative)
{
	uint64_t symtab = 0;
	struct bytes table = image_at(&w->v->orig, addr, size);
	struct rd r = rd_of(table);
	bool symbols = image_dynamic(&w->v->orig, DT_SYMTAB, &symtab);
	uint8_t other = relative == HOLDS_LISTED ? HOLDS_LISTED : HOLDS_RELOCATED;
	bool used = other != HOLDS_LISTED || !image_phdr(&w->v->orig, PT_DYNAMIC);

	if (size > 0 && !table.p)
		return refuse(w->v, NOT_THERE, ULL(addr));
	for (uint64_t i = 0; rd_left(&r) >= sizeof(Elf64_Rela); i++) {
		struct vholder h = { .kind = other, .what = what, .n = i };

		h.place = rd_u64(&r);
		uint64_t info = rd_u64(&r);
		vaddr addend = rd_u64(&r);

		h.at = addr + i * sizeof(Elf64_Rela) + offsetof(Elf64_Rela, r_addend);
		h.addend = addend;
		h.symbol = (uint32_t)ELF64_R_SYM(info);
		h.type = (uint32_t)ELF64_R_TYPE(info);
		bool named = h.symbol && symbols;

		if (named &&
		    !read_symbol(w->v, symtab + (uint64_t)h.symbol * sizeof(Elf64_Sym), &h) &&
		    used)
			return refuse(w->v, "%s %llu is by a symbol that is not there", what,
				      ULL(i));
		if (!named && h.type == R_X86_64_RELATIVE)
			h.kind = relative;
		h.value += addend;
		if (used && h.type != R_X86_64_NONE && check_relocated(w, h.place, what, i) < 0)
			return -1;
		if (hold(w, h) < 0)
			return -1;
	}
	return 0;
}

static const char WORD[] = "the word in data at";

static int hold_word(const struct walk *w, vaddr where, uint64_t value, uint8_t kind)
{
	return hold(w, (struct vholder){ .kind = kind, .value = value, .at = where,
					 .place = where, .what = WORD, .n = where });
}

static int walk_relocated_word(const struct walk *w, vaddr where)
{
	struct rd r = rd_of(image_at(&w->v->orig, where, 8));

	return check_relocated(w, where, WORD, where) < 0 ? -1 :
		hold_word(w, where, rd_u64(&r), HOLDS_RELR);
}

static int walk_relr(const struct walk *w, vaddr addr, uint64_t size)
{
	struct bytes table = image_at(&w->v->orig, addr, size);
	struct rd r = rd_of(table);
	vaddr where = 0;

	if (size > 0 && !table.p)
		return refuse(w->v, NOT_THERE, ULL(addr));
	while (rd_left(&r) >= 8) {
		uint64_t word = rd_u64(&r);

		if (!(word & 1)) {
			if (walk_relocated_word(w, word) < 0)
				return -1;
			where = word + 8;
			continue;
		}
		for (unsigned bit = 1; bit < 64; bit++)
			if ((word >> bit & 1) &&
			    walk_relocated_word(w, where + 8 * (bit - 1)) < 0)
				return -1;
		where += 63 * 8;
	}
	return 0;
}

static int walk_dynamic(const struct walk *w)
{
	static const struct {
		int64_t addr, size;
		const char *what;
	} table[] = {
		{ DT_RELA, DT_RELASZ, "relocation" },
		{ DT_JMPREL, DT_PLTRELSZ, "PLT relocation" },
	};
	static const int64_t code[] = { DT_INIT, DT_FINI };
	const struct image *img = &w->v->orig;
	uint64_t addr, size;

	for (int i = 0; i < 2; i++) {
		if (image_dynamic(img, code[i], &addr) &&
		    hold(w, (struct vholder){ .kind = HOLDS_FIXED,
					      .value = addr, .what = "the dynamic entry",
					      .n = (uint64_t)code[i] }) < 0)
			return -1;
		if (image_dynamic(img, table[i].addr, &addr) &&
		    image_dynamic(img, table[i].size, &size) &&
		    walk_rela(w, addr, size, table[i].what,
			      table[i].addr == DT_RELA ? HOLDS_RELATIVE : HOLDS_RELOCATED) < 0)
			return -1;
	}
	if (image_dynamic(img, DT_RELR, &addr) && image_dynamic(img, DT_RELRSZ, &size))
		return walk_relr(w, addr, size);
	return 0;
}

static int walk_symbols(const struct walk *w, const Elf64_Shdr *h)
{
	struct rd r = rd_of(bytes_at(w->v->orig.file, h->sh_offset, h->sh_size));
	uint8_t kind = h->sh_type == SHT_DYNSYM ? HOLDS_SYMBOL : HOLDS_LISTED;

	for (uint64_t n = 0; rd_left(&r) >= sizeof(Elf64_Sym); n++) {
		struct vholder s = { .kind = kind, .what = "symbol", .n = n };

		(void)rd_u32(&r);	/* name */
		s.symbol_type = ELF64_ST_TYPE(rd_u8(&r));
		(void)rd_u8(&r);	/* other */
		s.section = rd_u16(&r);
		s.value = rd_u64(&r);
		(void)rd_u64(&r);	/* size */
		s.at = h->sh_addr + n * sizeof(Elf64_Sym);
		if (hold(w, s) < 0)
			return -1;
	}
	return 0;
}

static int walk_sections(const struct walk *w)
{
	const struct image *img = &w->v->orig;

	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if (h->sh_type == SHT_RELA && (h->sh_flags & SHF_ALLOC) &&
		    walk_rela(w, h->sh_addr, h->sh_size, "relocation", HOLDS_LISTED) < 0)
			return -1;
		if ((h->sh_type == SHT_SYMTAB || h->sh_type == SHT_DYNSYM) &&
		    walk_symbols(w, h) < 0)
			return -1;
	}
	return 0;
}

/* Only programs linked to a fixed address have code addresses without relocations.  Most
 * words are no addresses in the program's memory at all. */
static int walk_words(const struct walk *w)
{
	const struct image *img = &w->v->orig;
	vaddr lo, hi;

	if (img->eh.e_type != ET_EXEC)
		return 0;
	image_span(img, &lo, &hi);
	for (const Elf64_Phdr *p = img->ph; p < img->ph + img->nph; p++) {
		if (p->p_type != PT_LOAD || (p->p_flags & PF_X))
			continue;
		vaddr at = (p->p_vaddr + 7) & ~(vaddr)7;
		struct rd r = rd_of(image_rest(img, at));

		for (; rd_left(&r) >= 8; at += 8) {
			uint64_t word = rd_u64(&r);

			if (word - lo < hi - lo && hold_word(w, at, word, HOLDS_WORD) < 0)
				return -1;
		}
	}
	return 0;
}

int verify_each_holder(struct verify *v, vholder_fn *f, void *ctx)
{
	const struct walk w = { v, f, ctx };

	if (hold(&w, (struct vholder){ .kind = HOLDS_FIXED, .value = v->orig.eh.e_entry,
				       .what = "the program's entry point" }) < 0)
		return -1;
	return walk_dynamic(&w) < 0 || walk_sections(&w) < 0 ? -1 : walk_words(&w);
}

/* It leads to what gave way to program headers.  Headers and dynamic entries are no words of
 * data: headers.c and front.c look at these. */
static bool leads_in_front(const struct verify *v, const struct vholder *h)
{
	const Elf64_Phdr *p = image_phdr(&v->orig, PT_DYNAMIC);

	switch (h->kind) {
	case HOLDS_LISTED:
		return false;
	case HOLDS_WORD:
		return h->at - v->front.off >= v->front.lo &&
		       !(p && h->at - p->p_vaddr < p->p_memsz) &&
		       verify_may_be_in_front(v, h->value);
	case HOLDS_RELOCATED:
		return (h->type == R_X86_64_64 || h->type == R_X86_64_GLOB_DAT ||
			h->type == R_X86_64_JUMP_SLOT || h->type == R_X86_64_RELATIVE ||
			h->type == R_X86_64_IRELATIVE) &&
		       !(h->symbol && h->section == SHN_UNDEF) &&
		       verify_in_front(&v->front, h->value);
	default:
		return verify_in_front(&v->front, h->value);
	}
}

static int check(struct verify *v, const struct vholder *h, void *ctx)
{
	(void)ctx;
	if (leads_in_front(v, h))
		return refuse(v, "%s %llu leads to 0x%llx, which gave way to program headers",
			      h->what, ULL(h->n), ULL(h->value));
	if (!verify_is_cut(v, h->value))
		return 0;
	return refuse(v, "%s %llu leads to 0x%llx, inside an entry jump", h->what, ULL(h->n),
		      ULL(h->value));
}

int verify_holders(struct verify *v)
{
	return verify_each_holder(v, check, NULL);
}
