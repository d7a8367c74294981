/* personality.c - finds the names of personality routines
 *
 * A CIE leads to the routine, or to a pointer that the loader fills: with the address of a
 * symbol, whose name is the routine's, or with one of the file, which has symbols at that
 * address or none.  One without a name may be D's or Rust's where the file holds the class of
 * their exceptions.  Which forms Rust's reads is known, of others it is not.
 *
 * Tested by tests/programs/unwinding.sh (narrow.cc, chained.d).
 */
#include "postmorph/unwind/personality.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "binary/dwarf.h"
#include "binary/dynamic.h"
#include "lib/search.h"

/* Of gcc (libgcc, libstdc++, libgnat, libobjc, libgo) and libc++abi.  Not that of D: it
 * compares the addresses of tables. */
static const char *const reads_all[] = {
	"__gcc_personality_v0", "__gxx_personality_v0", "__gnat_personality_v0",
	"__gnu_objc_personality_v0", "__gccgo_personality_v0",
};

/* It takes a LPStart that is relative to its own address (1.63 at least) for one relative to
 * the byte behind it, so that control would come back 4 bytes behind landing pads.  One that is
 * relative to the function it reads right, as those of gcc do, but not libc++abi's, which ends
 * the program. */
static const char of_rust[] = "rust_eh_personality";

/* The classes of exceptions, as the runtimes have them in their code. */
enum { CLASS_GDC, CLASS_LDC_AND_DMD, CLASS_LIBCXXABI, CLASS_RUST, NCLASS };
static const uint64_t class[NCLASS] = {
	0x474e554344000000, 0x444d440044000000, 0x434c4e47432b2b00, 0x4d4f5a0052555354
};

struct routine {
	vaddr at;		/* as the CIE says */
	bool indirect;		/* that is the address of a pointer */
	vaddr addr;
	uint32_t symbol;	/* of the relocation, 0: none */
	bool named, reads_all, is_rust;
};

struct routines {		/* ascending by what they are looked for by */
	struct routine *v;
	uint32_t n;
};

static int at_cmp(const void *x, const void *y)
{
	const struct routine *a = x, *b = y;

	return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : a->indirect - b->indirect;
}

static int symbol_cmp(const void *x, const void *y)
{
	const struct routine *a = x, *b = y;

	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static int addr_cmp(const void *x, const void *y)
{
	const struct routine *a = x, *b = y;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Each once, so that many CIEs that share one cost no more than one. */
static void collect(const struct image *img, struct arena *a, const struct cfi *cfi,
		    struct routines *out)
{
	uint32_t n = 0;

	out->v = arena_array(a, cfi->ncie, sizeof(*out->v));
	for (uint32_t i = 0; i < cfi->ncie; i++)
		if (cfi->cie[i].personality)
			out->v[n++] = (struct routine){
				.at = cfi->cie[i].personality,
				.indirect = cfi->cie[i].personality_enc & DW_EH_PE_indirect };
	qsort(out->v, n, sizeof(*out->v), at_cmp);
	out->n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || at_cmp(&out->v[i], &out->v[i - 1]) != 0)
			out->v[out->n++] = out->v[i];
	for (uint32_t i = 0; i < out->n; i++) {
		struct rd r = rd_of(image_at(img, out->v[i].at, sizeof(uint64_t)));

		out->v[i].addr = out->v[i].indirect ? rd_u64(&r) : out->v[i].at;
	}
}

static void see_reloc(void *ctx, const struct reloc *r)
{
	struct routines *all = ctx;

	for (uint32_t i = search_first(k, 0, all->n, all->v[k].at < r->place);
	     i < all->n && all->v[i].at == r->place; i++) {
		if (!all->v[i].indirect)
			continue;
		all->v[i].addr = r->sym ? 0 : r->value;
		all->v[i].symbol = r->sym;
	}
}

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof(reads_all) / sizeof(reads_all[0]); i++)
		if (strcmp(name, reads_all[i]) == 0)
			return true;
	return false;
}

static void name_it(struct routine *r, const char *name)
{
	r->named |= name[0] != '\0';
	r->reads_all |= is_known(name);
	r->is_rust |= strcmp(name, of_rust) == 0;
}

/* By the number that a relocation has. */
static void see_number(void *ctx, uint32_t index, const struct symbol *s)
{
	struct routines *all = ctx;

	if (index == 0)
		return;
	for (uint32_t i = search_first(k, 0, all->n, all->v[k].symbol < index);
	     i < all->n && all->v[i].symbol == index; i++)
		name_it(&all->v[i], s->name);
}

/* By the address; in a program at a fixed address that of an entry of the linkage table. */
static void see_address(void *ctx, uint32_t index, const struct symbol *s)
{
	struct routines *all = ctx;

	(void)index;
	if (!s->value)
		return;
	for (uint32_t i = search_first(k, 0, all->n, all->v[k].addr < s->value);
	     i < all->n && all->v[i].addr == s->value; i++)
		name_it(&all->v[i], s->name);
}

static void find_classes(const struct image *img, bool found[NCLASS])
{
	for (int i = 0; i < NCLASS; i++)
		found[i] = memmem(img->file.p, img->file.n, &class[i], sizeof(class[i]));
}

/* One without a name may be that of any runtime that the file holds. */
static enum cfi_reads judge(const struct routine *r, const bool found[NCLASS])
{
	bool d = found[CLASS_GDC] || found[CLASS_LDC_AND_DMD];

	if (r->reads_all || (!r->named && !d && !found[CLASS_RUST]))
		return CFI_READS_ALL;
	if (r->named ? r->is_rust : !d && !found[CLASS_LIBCXXABI])
		return CFI_READS_FROM_START;
	return CFI_READS_ITS_OWN;
}

int personality_find(const struct image *img, struct arena *scratch, struct cfi *cfi,
		     struct err *err)
{
	struct routines all;
	bool found[NCLASS];

	collect(img, scratch, cfi, &all);
	if (all.n == 0)
		return 0;
	if (relocs_each(img, see_reloc, &all, err) < 0)
		return -1;
	qsort(all.v, all.n, sizeof(*all.v), symbol_cmp);
	symbols_each(img, SHT_DYNSYM, see_number, &all);
	qsort(all.v, all.n, sizeof(*all.v), addr_cmp);
	symbols_each(img, SHT_DYNSYM, see_address, &all);
	symbols_each(img, SHT_SYMTAB, see_address, &all);
	qsort(all.v, all.n, sizeof(*all.v), at_cmp);
	find_classes(img, found);
	for (uint32_t i = 0; i < cfi->ncie; i++) {
		struct routine key = {
			.at = cfi->cie[i].personality,
			.indirect = cfi->cie[i].personality_enc & DW_EH_PE_indirect };
		const struct routine *r = key.at ? bsearch(&key, all.v, all.n, sizeof(key),
							   at_cmp) : NULL;

		if (r)
			cfi->cie[i].reads = judge(r, found);
	}
	return 0;
}
