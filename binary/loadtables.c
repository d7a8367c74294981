/* loadtables.c - checks that sections hold all that the loader reads through dynamic entries
 *
 * Section headers are for tools; the loader never looks at them.  It goes by dynamic entries,
 * and learns from the hash tables and relocations how many symbols, versions and hash chains
 * there are.  Morph moves such tables by their sections, and takes the symbols of .dynsym for
 * all there are.  So it is checked here that a section begins where each of these entries
 * leads, and that it holds everything that the loader can reach there.
 *
 * Tested by tests/unit/binary/test_loadtables.c.
 */
#include "binary/loadtables.h"

#include "lib/err.h"
#include "binary/image.h"

struct tables {
	const struct image *img;
	struct err *err;
	uint64_t nsym;		/* symbols that the loader can come to */
	uint64_t names;		/* the highest offset of a string, and 1 */
};

static int too_short(const struct tables *t, const char *what)
{
	return err_set(t->err, ERR_INPUT,
		       "the section with the %s does not hold all that the loader reads "
		       "there",
		       what);
}

/* Of the shortest section that begins where the entry leads, what the loader maps; 0 bytes
 * when there is no such entry. */
static int content(const struct tables *t, int64_t tag, const char *what, struct bytes *out)
{
	const struct section *found = NULL;
	uint64_t at;

	*out = (struct bytes){ (const uint8_t *)"", 0 };
	if (!image_dynamic(t->img, tag, &at))
		return 0;
	for (const struct section *s = t->img->sh; s < t->img->sh + t->img->nsh; s++)
		if ((s->h.sh_flags & SHF_ALLOC) && s->h.sh_type != SHT_NOBITS &&
		    s->h.sh_addr == at && s->h.sh_size > 0 &&
		    (!found || s->h.sh_size < found->h.sh_size))
			found = s;
	if (!found)
		return err_set(t->err, ERR_INPUT,
			       "no section begins where the loader reads the %s", what);
	*out = image_at(t->img, at, found->h.sh_size);
	return out->p ? 0 : too_short(t, what);
}

static void name(struct tables *t, uint64_t offset)
{
	if (offset >= t->names)
		t->names = offset + 1;
}

static void symbols_up_to(struct tables *t, uint64_t n)
{
	if (n > t->nsym)
		t->nsym = n;
}

static int look_at_hash(struct tables *t)
{
	static const char what[] = "hash table";
	struct bytes b;

	if (content(t, DT_HASH, what, &b) < 0)
		return -1;
	if (b.n == 0)
		return 0;
	struct rd r = rd_of(b);
	uint32_t nbucket = rd_u32(&r), nchain = rd_u32(&r);
	uint64_t n = (uint64_t)nbucket + nchain;

	if (r.bad || n * sizeof(uint32_t) > rd_left(&r))
		return too_short(t, what);
	for (uint64_t i = 0; i < n; i++)
		if (rd_u32(&r) >= nchain)
			return too_short(t, what);
	symbols_up_to(t, nchain);
	return 0;
}

/* Chains stand one behind the other; the last is that of the bucket with the highest symbol,
 * and ends with an odd word. */
static int look_at_gnu_hash(struct tables *t)
{
	static const char what[] = "GNU hash table";
	struct bytes b;

	if (content(t, DT_GNU_HASH, what, &b) < 0)
		return -1;
	if (b.n == 0)
		return 0;
	struct rd r = rd_of(b);
	uint32_t nbucket = rd_u32(&r), first = rd_u32(&r), nword = rd_u32(&r), last = 0;
	(void)rd_u32(&r);
	(void)rd_skip(&r, (uint64_t)nword * sizeof(uint64_t));
	if ((uint64_t)nbucket * sizeof(uint32_t) > rd_left(&r))
		return too_short(t, what);
	for (uint32_t i = 0; i < nbucket; i++) {
		uint32_t symbol = rd_u32(&r);

		if (symbol && symbol < first)
			return too_short(t, what);
		last = symbol > last ? symbol : last;
	}
	if (!last)
		return r.bad ? too_short(t, what) : 0;
	(void)rd_skip(&r, (uint64_t)(last - first) * sizeof(uint32_t));
	for (; !(rd_u32(&r) & 1) && !r.bad; last++)
		;
	if (r.bad)
		return too_short(t, what);
	symbols_up_to(t, (uint64_t)last + 1);
	return 0;
}

static int look_at_relocations(struct tables *t)
{
	static const int64_t tags[][2] = { { DT_RELA, DT_RELASZ }, { DT_JMPREL, DT_PLTRELSZ } };

	for (unsigned i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		uint64_t at, size;

		if (!image_dynamic(t->img, tags[i][0], &at) ||
		    !image_dynamic(t->img, tags[i][1], &size) || size == 0)
			continue;
		struct rd r = rd_of(image_at(t->img, at, size));
		if (r.bad)
			return err_set(t->err, ERR_INPUT, "relocations lie outside the file");
		while (rd_left(&r) >= sizeof(Elf64_Rela)) {
			(void)rd_u64(&r);
			uint64_t symbol = ELF64_R_SYM(rd_u64(&r));
			(void)rd_u64(&r);
			if (symbol)
				symbols_up_to(t, symbol + 1);
		}
	}
	return 0;
}

static int look_at_symbols(struct tables *t)
{
	struct bytes symbols, versions;

	if (content(t, DT_SYMTAB, "symbols", &symbols) < 0 ||
	    content(t, DT_VERSYM, "versions of symbols", &versions) < 0)
		return -1;
	if (symbols.n / sizeof(Elf64_Sym) < t->nsym)
		return too_short(t, "symbols");
	if (versions.n > 0 && versions.n / sizeof(uint16_t) < t->nsym)
		return too_short(t, "versions of symbols");
	struct rd r = rd_of(symbols);
	for (uint64_t i = 0; i < t->nsym; i++) {
		name(t, rd_u32(&r));
		(void)rd_skip(&r, sizeof(Elf64_Sym) - sizeof(uint32_t));
	}
	return 0;
}

/* Records that lead to one another, each to `below` records of a second kind; offsets in
 * them. */
struct chain {
	int64_t tag;
	const char *what;
	/* of a record; of the offset of the first below it, of the next */
	uint32_t size, below, next;
	uint32_t below_size, below_next;
	uint32_t name, below_name;	/* of offsets of strings; NO_NAME */
};
enum { NO_NAME = UINT32_MAX };

static uint32_t field(struct bytes record, uint32_t at)
{
	struct rd r = rd_of(bytes_at(record, at, sizeof(uint32_t)));

	return rd_u32(&r);
}

static int follow(struct tables *t, const struct chain *c)
{
	struct bytes b;

	if (content(t, c->tag, c->what, &b) < 0)
		return -1;
	/* More steps than bytes: records lie in one another. */
	uint64_t steps = 0;
	for (uint64_t at = 0, next = b.n; next; at += next) {
		struct bytes record = bytes_at(b, at, c->size);

		if (!record.p)
			return too_short(t, c->what);
		next = field(record, c->next);
		if (c->name != NO_NAME)
			name(t, field(record, c->name));
		uint64_t below = at, step = field(record, c->below);
		for (; step; step = field(record, c->below_next)) {
			below += step;
			record = bytes_at(b, below, c->below_size);
			if (!record.p || ++steps > b.n)
				return too_short(t, c->what);
			name(t, field(record, c->below_name));
		}
	}
	return 0;
}

static int look_at_versions(struct tables *t)
{
	static const struct chain chains[] = {
		{ DT_VERNEED, "needed versions", sizeof(Elf64_Verneed),
		  offsetof(Elf64_Verneed, vn_aux), offsetof(Elf64_Verneed, vn_next),
		  sizeof(Elf64_Vernaux), offsetof(Elf64_Vernaux, vna_next),
		  offsetof(Elf64_Verneed, vn_file), offsetof(Elf64_Vernaux, vna_name) },
		{ DT_VERDEF, "defined versions", sizeof(Elf64_Verdef),
		  offsetof(Elf64_Verdef, vd_aux), offsetof(Elf64_Verdef, vd_next),
		  sizeof(Elf64_Verdaux), offsetof(Elf64_Verdaux, vda_next), NO_NAME,
		  offsetof(Elf64_Verdaux, vda_name) },
	};

	for (unsigned i = 0; i < sizeof(chains) / sizeof(chains[0]); i++)
		if (follow(t, &chains[i]) < 0)
			return -1;
	return 0;
}

static bool is_name(int64_t tag)
{
	return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH ||
	       tag == DT_AUXILIARY || tag == DT_FILTER || tag == DT_AUDIT || tag == DT_DEPAUDIT;
}

/* All strings end within the table. */
static int look_at_strings(struct tables *t)
{
	static const char what[] = "strings";
	const Elf64_Phdr *p = image_phdr(t->img, PT_DYNAMIC);
	struct rd r = rd_of(bytes_at(t->img->file, p->p_offset, p->p_filesz));
	struct bytes b;
	uint64_t size = 0;
	int64_t tag;

	if (content(t, DT_STRTAB, what, &b) < 0)
		return -1;
	for (tag = rd_s64(&r); tag != DT_NULL && !r.bad; tag = rd_s64(&r)) {
		uint64_t value = rd_u64(&r);

		if (is_name(tag))
			name(t, value);
	}
	(void)image_dynamic(t->img, DT_STRSZ, &size);
	if (t->names > size || size > b.n || (size && b.p[size - 1]))
		return too_short(t, what);
	return 0;
}

int loadtables_check(const struct image *img, struct err *err)
{
	struct tables t = { .img = img, .err = err };

	/* nothing is said, nothing believed */
	if (!image_phdr(img, PT_DYNAMIC) || img->nsh == 0)
		return 0;
	return look_at_relocations(&t) < 0 || look_at_hash(&t) < 0 ||
			       look_at_gnu_hash(&t) < 0 || look_at_symbols(&t) < 0 ||
			       look_at_versions(&t) < 0 || look_at_strings(&t) < 0
		       ? -1
		       : 0;
}
