/* personality.c - personality routines that are known to take any exception table
 *
 * Where a CIE's routine has a name, by a relocation of the pointer to it or by a symbol at its
 * address, and it is not the name of one that reads all forms of exception tables and asks for
 * nothing else, the table of an image must have the form of its original's, and be the
 * original's where it has landing pads (callsites.c): LDC's for D ends the program at another
 * form, Crystal's does, too, and GDC's takes the address of a table for the name of a function.
 * Other names than those below count as such a routine.  One without a name is taken for a
 * static copy of those (assumption A11 in verify.c), but not in a file that holds a runtime
 * of D.
 *
 * Rust's (1.63) takes a start of landing pads that is relative to its own place for one 4 bytes
 * further on.  One that is relative to the function it reads as it is meant, as gcc's do; only
 * libc++abi's ends the program then.  So without a name, in a file that holds Rust's runtime
 * and not that one, it is read so, whosever it is.
 *
 * Tested by tests/unit/verify/test_callsites.c and tests/programs/unwinding.sh (chained.d).
 */
#include "verify/lookup.h"
#include "verify/holders.h"

enum { SLOT = 8 };

/* The runtimes of gcc and clang. */
static bool reads_all_forms(const char *name)
{
	static const char *const names[] = {
		"__gxx_personality_v0", "__gcc_personality_v0", "__gnat_personality_v0",
		"__gccgo_personality_v0", "__gnu_objc_personality_v0",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The words by which runtimes tell that an exception is their own stand in their code. */
static enum verify_reads reads_without_name(struct bytes file)
{
	static const char gdc[8] = "\0\0\0DCUNG", ldc_and_dmd[8] = "\0\0\0D\0DMD";
	static const char rust[8] = "TSUR\0ZOM", libcxxabi[8] = "\0++CGNLC";

	if (memmem(file.p, file.n, gdc, sizeof(gdc)) ||
	    memmem(file.p, file.n, ldc_and_dmd, sizeof(ldc_and_dmd)))
		return READS_ITS_OWN;
	if (!memmem(file.p, file.n, rust, sizeof(rust)))
		return READS_ALL;
	return memmem(file.p, file.n, libcxxabi, sizeof(libcxxabi)) ? READS_ITS_OWN
								    : READS_FROM_START;
}

/* A routine, of CIE `cie`. */
struct asked {
	struct vcie *cie;
	vaddr addr;		/* 0: not one of the file, or not known */
	bool named, wide, rust;
};

struct asking {
	struct asked *v;
	uint32_t n;
	uint64_t names;		/* of .dynsym */
};

static void take_name(struct asked *a, struct rd name)
{
	const char *s = rd_str(&name);

	if (!s || !*s)
		return;
	a->named = true;
	a->wide |= reads_all_forms(s);
	a->rust |= strcmp(s, "rust_eh_personality") == 0;
}

/* What the loader puts into the pointer. */
static int look_at_pointer(struct verify *v, const struct vholder *h, void *ctx)
{
	struct asking *all = ctx;

	if (h->kind != HOLDS_RELATIVE && h->kind != HOLDS_RELR && h->kind != HOLDS_RELOCATED)
		return 0;
	for (uint32_t i = 0; i < all->n; i++) {
		struct asked *a = &all->v[i];
		uint64_t symbols;

		if (!a->cie->indirect || a->cie->personality != h->place)
			continue;
		a->addr = h->value;
		if (h->kind != HOLDS_RELOCATED || !h->symbol ||
		    !image_dynamic(&v->orig, DT_SYMTAB, &symbols))
			continue;
		a->addr = 0;
		struct rd s = rd_of(image_at(&v->orig, symbols + h->symbol * sizeof(Elf64_Sym),
					     sizeof(Elf64_Sym)));
		uint64_t name = rd_u32(&s);

		if (!s.bad)
			take_name(a, rd_of(image_rest(&v->orig, all->names + name)));
	}
	return 0;
}

static struct bytes content(const struct image *img, uint32_t i)
{
	return bytes_at(img->file, img->sh[i].h.sh_offset, img->sh[i].h.sh_size);
}

static void look_at_symbols(struct verify *v, const Elf64_Shdr *h, struct bytes symbols,
			    struct asking *all)
{
	struct bytes names = h->sh_link < v->orig.nsh ? content(&v->orig, h->sh_link) :
							(struct bytes){ NULL, 0 };
	struct rd r = rd_of(symbols);

	while (rd_left(&r) >= sizeof(Elf64_Sym)) {
		uint64_t name = rd_u32(&r);

		(void)rd_u32(&r);	/* type, section */
		vaddr value = rd_u64(&r);

		(void)rd_u64(&r);	/* size */
		for (uint32_t i = 0; value && i < all->n; i++)
			if (all->v[i].addr == value && name <= names.n)
				take_name(&all->v[i], rd_of(bytes_at(names, name,
								     names.n - name)));
	}
}

/* Each once; more than this many no language has, and they are all judged the worst. */
static bool collect(struct verify *v, struct asking *all)
{
	enum { MANY = 64 };

	all->v = arena_array(v->a, MANY, sizeof(*all->v));
	for (uint32_t i = 0; i < v->ocfi.ncie; i++) {
		struct vcie *c = &v->ocfi.cie[i];
		uint32_t k = 0;

		while (k < all->n && (all->v[k].cie->personality != c->personality ||
				      all->v[k].cie->indirect != c->indirect))
			k++;
		if (!c->personality || k < all->n)
			continue;
		if (all->n == MANY)
			return false;
		struct rd r = rd_of(image_at(&v->orig, c->personality, SLOT));
		all->v[all->n++] = (struct asked){
			.cie = c, .addr = c->indirect ? rd_u64(&r) : c->personality };
	}
	return true;
}

static enum verify_reads reads_of(const struct asked *a, enum verify_reads nameless)
{
	if (a->wide)
		return READS_ALL;
	if (a->named)
		return a->rust ? READS_FROM_START : READS_ITS_OWN;
	return nameless;
}

int verify_personality(struct verify *v)
{
	struct asking all = { 0 };
	enum verify_reads nameless = reads_without_name(v->orig.file);
	bool few = collect(v, &all);

	(void)image_dynamic(&v->orig, DT_STRTAB, &all.names);
	if (all.n && verify_each_holder(v, look_at_pointer, &all) < 0)
		return -1;
	for (uint32_t i = 0; all.n && i < v->orig.nsh; i++) {
		const Elf64_Shdr *h = &v->orig.sh[i].h;

		if (h->sh_type == SHT_DYNSYM || h->sh_type == SHT_SYMTAB)
			look_at_symbols(v, h, content(&v->orig, i), &all);
	}
	for (uint32_t i = 0; i < v->ocfi.ncie; i++) {
		struct vcie *c = &v->ocfi.cie[i];

		c->reads = !few && c->personality ? READS_ITS_OWN : READS_ALL;
		for (uint32_t k = 0; k < all.n; k++)
			if (all.v[k].cie->personality == c->personality &&
			    all.v[k].cie->indirect == c->indirect)
				c->reads = reads_of(&all.v[k], nameless);
	}
	return 0;
}
