/* places.c - what stands at places of a program: function, block, source line, inlined calls
 *
 * Which function a place is in, PostMorph says, as it does for layouts; where it knows none, in
 * a stub of the linkage table for one, the next symbol in front of it in the same section does.
 * Names are those of symbols, lines those that libbfd finds in the file's DWARF or in that of
 * its debug file.
 *
 * Tested by tests/e2e/export.sh and tests/fuzz/fuzz_places.c.
 */
#define PACKAGE "morph"		/* bfd.h wants to know who we are */
#define PACKAGE_VERSION "1"
#include <bfd.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "binary/buildid.h"
#include "editor/exchange/bfdfile.h"
#include "editor/exchange/places.h"
#include "editor/exchange/samplelines.h"
#include "editor/exchange/symbols.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/utf8.h"
#include "postmorph/analyze.h"

/* How far a symbol without a size reaches at most, and calls that were inlined into each other;
 * chosen. */
enum { SYMBOL_REACH = 1 << 16, FRAMES_MAX = 64 };

struct resolver {
	struct arena *arena;
	struct wr *out;
	struct image img;
	struct prog *prog;		/* NULL: the analysis refuses the file */
	struct bfd *file, *debug;
	struct bfd *lines;		/* which of them has debug information; NULL: none */
	struct bfd_symbol **line_symbols;
	struct symbols symbols;
	uint32_t *number_of_fn;		/* [prog->nfn] number + 1; 0: not told yet */
	uint32_t *number_of_symbol;	/* [symbols.n] likewise */
	uint32_t nfunction;
};

/* --- output --- */

static void put(struct resolver *r, const char *text)
{
	wr_text(r->out, text);
}

static void put_shown(struct resolver *r, const char *text)
{
	char *shown = utf8_escaped(text);

	put(r, shown);
	free(shown);
}

static void note(struct resolver *r, const char *what, const char *why)
{
	put(r, "note\t");
	put_shown(r, arena_printf(r->arena, "%s%s", what, why));
	put(r, "\n");
}

static uint32_t tell_function(struct resolver *r, uint32_t *number, vaddr entry, uint64_t size,
			      const char *name)
{
	if (!*number) {
		put(r, arena_printf(r->arena, "function\t0x%" PRIx64 "\t%" PRIu64 "\t", entry,
				    size));
		put_shown(r, name);
		put(r, "\n");
		*number = ++r->nfunction;
	}
	return *number - 1;
}

/* --- functions --- */

struct where {
	uint32_t number;	/* of the function, UINT32_MAX: in none */
	vaddr block;
	const char *name;	/* of the function; NULL: in none */
};

static struct where in_function(struct resolver *r, uint32_t f, vaddr addr)
{
	const struct fn *fn = &r->prog->fn[f];
	const char *name = symbols_at(&r->symbols, fn->entry);
	struct where w = { 0 };
	uint64_t size = 0;

	for (uint32_t i = 0; i < fn->nrange; i++)
		size += fn->range[i].size;
	w.name = name ? name : fn->name ? fn->name :
		 arena_printf(r->arena, "fn_%" PRIx64, fn->entry);
	w.number = tell_function(r, &r->number_of_fn[f], fn->entry, size, w.name);
	if (fn->kept && fn->nblock) {
		uint32_t b = fn_find_block(fn, addr);

		w.block = b == NO_BLOCK ? 0 : fn->block[b].addr;
	}
	return w;
}

static struct where behind_symbol(struct resolver *r, vaddr addr)
{
	const struct symbols_one *s = symbols_before(&r->symbols, addr);
	const struct section *here = image_section_at(&r->img, addr);

	if (!s || addr - s->addr >= SYMBOL_REACH || !image_is_exec(&r->img, addr) ||
	    here != image_section_at(&r->img, s->addr))
		return (struct where){ UINT32_MAX, 0, NULL };
	uint32_t *number = &r->number_of_symbol[s - r->symbols.at];
	return (struct where){ tell_function(r, number, s->addr, 0, s->name), 0, s->name };
}

static struct where find_function(struct resolver *r, vaddr addr)
{
	uint32_t f = r->prog ? prog_find_fn(r->prog, addr) : NO_FN;

	return f != NO_FN ? in_function(r, f, addr) : behind_symbol(r, addr);
}

/* --- lines --- */

struct frame {
	const char *name, *file;
	unsigned line;
};

static uint32_t find_frames(struct resolver *r, vaddr addr, struct frame *frame)
{
	struct frame f = { 0 };
	uint32_t n = 0;

	if (!r->lines)
		return 0;
	asection *s = r->lines->sections;
	while (s && (!(bfd_section_flags(s) & SEC_CODE) || addr < bfd_section_vma(s) ||
		     addr - bfd_section_vma(s) >= bfd_section_size(s)))
		s = s->next;
	if (!s || !bfd_find_nearest_line(r->lines, s, r->line_symbols,
					 addr - bfd_section_vma(s), &f.file, &f.name, &f.line))
		return 0;
	do {
		/* what BFD points to may be gone with its next answer */
		frame[n++] = (struct frame){
			f.name ? arena_printf(r->arena, "%s", f.name) : NULL,
			f.file ? arena_printf(r->arena, "%s", f.file) : "", f.line,
		};
		f = (struct frame){ 0 };
	} while (n < FRAMES_MAX &&
		 bfd_find_inliner_info(r->lines, &f.file, &f.name, &f.line));
	return n;
}

static void tell_place(struct resolver *r, vaddr addr)
{
	struct where w = find_function(r, addr);
	struct frame frame[FRAMES_MAX];
	uint32_t n = find_frames(r, addr, frame);

	if (!n && w.name)
		frame[n++] = (struct frame){ w.name, "", 0 };
	if (n && w.name)
		frame[n - 1].name = w.name;	/* the symbol's, as everywhere */
	for (uint32_t i = 0; i < n; i++) {
		put(r, arena_printf(r->arena, "frame\t%u\t", frame[i].line));
		put_shown(r, frame[i].file);
		put(r, "\t");
		put_shown(r, frame[i].name ? frame[i].name : "?");
		put(r, "\n");
	}
	put(r, arena_printf(r->arena, "place\t0x%" PRIx64 "\t0x%" PRIx64 "\t", addr, w.block));
	put(r, w.number == UINT32_MAX ? "-\n" : arena_printf(r->arena, "%u\n", w.number));
}

/* --- all --- */

static void open_debug(struct resolver *r, struct bytes *debug)
{
	struct err why;

	if (!debug->p)
		return;
	r->debug = bfdfile_open(debug, "debug file", &why);
	if (!r->debug) {
		note(r, "its debug file is not read: ", why.text);
		return;
	}
	const struct bfd_build_id *a = r->file->build_id, *b = r->debug->build_id;
	if (a && b && a->size == b->size && memcmp(a->data, b->data, a->size) == 0)
		return;
	note(r, "its debug file is of another build: not used", "");
	bfdfile_close(r->debug);
	r->debug = NULL;
}

static void tell_build_id(struct resolver *r)
{
	struct bytes id = buildid_find(&r->img).id;

	if (!id.n)
		return;
	put(r, "build-id\t");
	for (uint64_t i = 0; i < id.n; i++)
		put(r, arena_printf(r->arena, "%02x", id.p[i]));
	put(r, "\n");
}

static void analyze(struct resolver *r, struct bytes file, const struct samplelines *places)
{
	struct prog *prog = arena_alloc(r->arena, sizeof(*prog));
	vaddr *wanted = arena_array(r->arena, places->n, sizeof(*wanted));
	struct err why;

	for (uint32_t i = 0; i < places->n; i++)
		wanted[i] = places->at[i].addr;
	if (prog_analyze_at(file, wanted, places->n, r->arena, prog, &why) == 0) {
		r->prog = prog;
		r->number_of_fn = arena_array(r->arena, prog->nfn + (size_t)1,
					      sizeof(*r->number_of_fn));
	} else {
		note(r, "functions are those of its symbols: ", why.text);
	}
}

int places_resolve(const struct places_input *in, struct arena *a, struct wr *out,
		   struct err *err)
{
	struct resolver r = { .arena = a, .out = out };
	struct bytes file = in->file, debug = in->debug;
	struct samplelines places = { 0 };
	long nsymbol;

	if (image_parse(file, a, &r.img, err) < 0 ||
	    samplelines_read(in->places, &r.img, a, &places, err) < 0)
		return -1;
	r.file = bfdfile_open(&file, "program", err);
	if (!r.file)
		return -1;
	tell_build_id(&r);
	open_debug(&r, &debug);
	symbols_read(r.file, r.debug, a, &r.symbols);
	r.number_of_symbol = arena_array(a, r.symbols.n + (size_t)1,
					 sizeof(*r.number_of_symbol));
	if (r.debug && bfdfile_has_lines(r.debug))
		r.lines = r.debug;
	else if (bfdfile_has_lines(r.file))
		r.lines = r.file;
	if (r.lines)
		r.line_symbols = bfdfile_symbols(r.lines, false, &nsymbol);
	analyze(&r, file, &places);
	for (uint32_t i = 0; i < places.n; i++)
		tell_place(&r, places.at[i].addr);
	free(r.line_symbols);
	bfdfile_close(r.debug);
	bfdfile_close(r.file);
	return 0;
}
