/* hazards.c - recognizes programs whose code must stay where it is, and refuses them
 *
 * Some language runtimes look code addresses up in tables of their own: moved code would not be
 * in them.  They are recognised by what the runtime cannot do without, not by names alone, so
 * that a C program that happens to contain a string is not refused.
 *
 * Tested by tests/unit/postmorph/test_analyze.c (hazards_are_refused_with_a_reason).
 */
#include <string.h>

#include "lib/blockmap.h"
#include "lib/err.h"
#include "postmorph/hazards.h"
#include "postmorph/payload.h"
#include "binary/dynamic.h"
#include "binary/mapsection.h"

/* Relocated pointers to return addresses in data: OCaml programs have 17,297 and more, C
 * programs at most 77 among all of a distribution.  Without relocations the entries of jump
 * tables look the same, so there the name counts as well. */
enum { OCAML_POINTERS = 1000, OCAML_POINTERS_WITH_NAME = 100 };

static const char GO_MAGIC[] = "\xff Go buildinf:";
enum { GO_SEARCH = 64 << 10, GO_ALIGN = 16 };	/* as Go's own tools look for it */

static bool contains(struct bytes b, const char *s)
{
	return b.p && memmem(b.p, b.n, s, strlen(s));
}

static bool is_go(const struct image *img)
{
	if (image_section(img, ".gopclntab") || image_section(img, ".note.go.buildid") ||
	    image_section(img, ".data.rel.ro.gopclntab") || image_section(img, ".go.buildinfo"))
		return true;
	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W))
			continue;
		uint64_t n = ph->p_filesz < GO_SEARCH ? ph->p_filesz : GO_SEARCH;
		for (uint64_t off = 0; off < n; off += GO_ALIGN) {
			struct bytes b = bytes_at(img->file, ph->p_offset + off,
						  sizeof(GO_MAGIC) - 1);

			if (b.p && memcmp(b.p, GO_MAGIC, b.n) == 0)
				return true;
		}
	}
	return false;
}

static void see_debug_hook(void *ctx, uint32_t index, const struct symbol *s)
{
	(void)index;
	if (s->defined && strcmp(s->name, "_dl_debug_state") == 0)
		*(bool *)ctx = true;
}

/* A dynamic loader has a function where debuggers stop when libraries come and go.  glibc's
 * takes where it ends itself from the symbols _end and _etext: dladdr() does not know what
 * is added behind them, nor does the unwinder with some versions.  musl's believes that all
 * between its first and its last segment is its own, but the kernel, which loads it, puts
 * other things into gaps. */
static bool is_loader(const struct image *img)
{
	bool found = false;

	if (img->is_static && img->pie_or_dso)
		symbols_each(img, SHT_DYNSYM, see_debug_hook, &found);
	return found;
}

struct call_counts {		/* [defined]: symbols of what counts calls, of what begins it */
	bool counts[2], begins[2];
};

static void see_call_counts(void *ctx, uint32_t index, const struct symbol *s)
{
	struct call_counts *c = ctx;

	(void)index;
	if (strcmp(s->name, "mcount") == 0 || strcmp(s->name, "_mcount") == 0 ||
	    strcmp(s->name, "__fentry__") == 0)
		c->counts[s->defined] = true;
	if (strcmp(s->name, "__monstartup") == 0)
		c->begins[s->defined] = true;
}

/* Compiled with -pg: calls are counted by where they come from and where they go, and what is
 * behind the original's text is not counted.  A library that is compiled so has no range of its
 * own; a program that only begins counting, as gdb can, has no calls to count. */
static bool is_counted_for_gprof(const struct image *img)
{
	struct call_counts dynamic = { 0 }, all = { 0 };

	symbols_each(img, SHT_DYNSYM, see_call_counts, &dynamic);
	symbols_each(img, SHT_SYMTAB, see_call_counts, &all);
	return (dynamic.counts[false] && dynamic.begins[false]) ||
	       (img->is_static && img->executable && all.counts[true] && all.begins[true]);
}

struct heap_calls {
	bool fixes, takes;
};

static void see_heap_call(void *ctx, uint32_t index, const struct symbol *s)
{
	struct heap_calls *c = ctx;

	(void)index;
	c->fixes |= !s->defined && strcmp(s->name, "personality") == 0;
	c->takes |= !s->defined && strcmp(s->name, "sbrk") == 0;
}

/* A program that was written out of its own memory, as GCL, Maxima and ACL2 are: at a fixed
 * address, it turns off that addresses are random, and takes all from its end to the break for
 * its heap, where the new text would stand. */
static bool owns_what_follows(const struct image *img)
{
	struct heap_calls c = { 0 };

	if (img->pie_or_dso)
		return false;
	symbols_each(img, SHT_DYNSYM, see_heap_call, &c);
	return c.fixes && c.takes;
}

int hazards_check_file(const struct image *img, struct err *err)
{
	uint64_t v;

	if (img->nsh == 0)
		return err_set(err, ERR_REFUSED, "it has no section headers");
	if (image_section(img, ".morph.counters"))
		return err_set(err, ERR_REFUSED, "it is a program that Morph instrumented");
	if (image_section(img, MAPSECTION))
		return err_set(err, ERR_REFUSED, "%s", blockmap_refusal);
	if (is_go(img))
		return err_set(err, ERR_REFUSED,
			       "a Go program: its runtime finds code by address");
	if (is_loader(img))
		return err_set(err, ERR_REFUSED,
			       "a dynamic loader: it has its own notion of where it ends");
	if (is_counted_for_gprof(img))
		return err_set(err, ERR_REFUSED,
			       "compiled for gprof: calls are counted by addresses of the "
			       "original text");
	if (owns_what_follows(img))
		return err_set(err, ERR_REFUSED,
			       "it takes what follows its data for its heap");
	if (image_dynamic(img, DT_TEXTREL, &v) ||
	    (image_dynamic(img, DT_FLAGS, &v) && (v & DF_TEXTREL)))
		return err_set(err, ERR_REFUSED, "its code is relocated when loaded");
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD && (img->ph[i].p_flags & PF_X) &&
		    (img->ph[i].p_flags & PF_W))
			return err_set(err, ERR_REFUSED, "its code is writable");
	/* llvm-bolt puts a longer table far behind */
	if (img->eh.e_phoff != sizeof(Elf64_Ehdr))
		return err_set(err, ERR_REFUSED,
			       "its program headers are not behind the ELF header, where "
			       "there may be room for more");
	return payload_check(img, err);
}

static bool has_runtime_string(const struct image *img, const char *s)
{
	for (uint32_t i = 0; i < img->nph; i++)
		if (img->ph[i].p_type == PT_LOAD && !(img->ph[i].p_flags & PF_W) &&
		    contains(bytes_at(img->file, img->ph[i].p_offset, img->ph[i].p_filesz), s))
			return true;
	return false;
}

int hazards_check_code(const struct text *t, struct err *err)
{
	const struct prog *prog = t->prog;

	if (prog->nfn == 0)
		return err_set(err, ERR_REFUSED, "no code is covered by unwind information");
	if ((prog->img.pie_or_dso && t->nreturn_pointer > OCAML_POINTERS) ||
	    (t->nreturn_pointer > OCAML_POINTERS_WITH_NAME &&
	     has_runtime_string(&prog->img, "OCAMLRUNPARAM")))
		return err_set(
			err, ERR_REFUSED,
			"%llu pointers to return addresses: an OCaml program, or one like it",
			(unsigned long long)t->nreturn_pointer);
	if (prog->fde_bytes < prog->text_size / 2 && has_runtime_string(&prog->img, "GHCRTS"))
		return err_set(err, ERR_REFUSED,
			       "a Haskell program: most of its code has no unwind information");
	return 0;
}
