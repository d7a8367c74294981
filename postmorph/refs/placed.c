/* placed.c - functions whose place programs ask for
 *
 * Control that goes to an entry arrives, wherever the image is.  But programs also ask where a
 * function is.  These stay where they are:
 *
 *   section  functions of a section whose name is a C identifier: for those linkers define
 *            __start_NAME and __stop_NAME, and programs ask whether a pointer or a return
 *            address is between them;
 *   page     functions that begin a page in a section that asks for pages, behind more padding
 *            than others have: programs change the protection of such a page.
 *
 * Of these the pointers keep their values, which stay those of the original (MARK_STRAY):
 *
 *   align    functions that are aligned to more than ALIGN_MAX.  Images of others are aligned
 *            as their originals are, as far as their section is (fn.align): no function of a
 *            section is aligned to more by its declaration;
 *   front    functions with something else than padding in front of the entry: data that
 *            callers read there (prefix data, hashes of types);
 *   stub     short functions that one of the same length follows that nothing leads to: whoever
 *            runs that one calculates its address; the same of code inside of a function
 *            (references.c);
 *   range    all functions of a file with code that compares something with the end of the
 *            code, of its segment, or of everything (etext, which some linkers take for the
 *            one and some for the other, _end), or with data that holds such an address:
 *            images are behind all of them.
 *
 * Tested by tests/unit/editor/passes/test_redirect.c and tests/programs/knows_address.sh.
 */
#include <ctype.h>

#include "postmorph/refs/placed.h"

enum { PAGE = 4096, ALIGN_USUAL = 16, ALIGN_MAX = 256, STUB_GAP = 64,
       STUB_MAX = 64 };

static bool is_identifier(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return *name == '\0';
}

static void stay(struct fn *fn, enum skip reason)
{
	if (fn->skip == SKIP_NONE)
		fn->skip = reason;
}

static void keep_pointers(const struct text *t, vaddr entry)
{
	if (text_holds(t, entry))
		*text_mark(t, entry) |= MARK_STRAY;
}

/* All bytes are NOPs or int3. */
static bool is_padding(struct bytes code, vaddr addr)
{
	enum { INT3 = 0xcc };
	struct insn insn;
	vaddr target;

	for (uint64_t off = 0; off < code.n; off += insn.len) {
		if (!insn_decode(bytes_at(code, off, code.n - off), addr + off, &insn,
				 &target) ||
		    (insn.kind != INSN_NOP && code.p[off] != INT3))
			return false;
	}
	return true;
}

/* The end of the FDE, or the start of the section, in front of the entry. */
static vaddr end_in_front(const struct text *t, const struct fn *fn, const struct section *s)
{
	uint32_t p = fn->range[0].fde;
	vaddr from = s->h.sh_addr;

	if (p > 0 && t->piece[p - 1].addr + t->piece[p - 1].size > from)
		from = t->piece[p - 1].addr + t->piece[p - 1].size;
	return from < fn->entry ? from : fn->entry;
}

/* Nothing leads to its entry, for all that is known: outside of the text nothing is. */
static bool is_unmet(const struct text *t, const struct fn *fn)
{
	enum { LEADS = MARK_POINTER | MARK_BRANCH | MARK_TABLE | MARK_PAD };

	return !(text_holds(t, fn->entry) && (*text_mark(t, fn->entry) & LEADS)) &&
	       !t->called[fn - t->prog->fn];
}

/* `next` is one of a row of stubs that `fn` belongs to. */
static bool repeats(const struct text *t, const struct fn *fn, const struct fn *next)
{
	const struct fn_range *a = &fn->range[0], *b = &next->range[0];
	struct bytes x = image_at(&t->prog->img, a->addr, a->size);
	struct bytes y = image_at(&t->prog->img, b->addr, b->size);

	return a->size == b->size && a->size <= STUB_MAX &&
	       b->addr - a->addr - a->size < STUB_GAP && x.p && y.p && x.p[0] == y.p[0];
}

static uint16_t alignment(vaddr entry, uint64_t section)
{
	uint64_t align = section < PAGE ? section : PAGE;

	while (align > 1 && entry % align != 0)
		align /= 2;
	return align ? (uint16_t)align : 1;
}

static void judge(const struct text *t, struct fn *fn)
{
	const struct section *s = image_section_at(&t->prog->img, fn->entry);

	if (!s || !text_holds(t, fn->entry))
		return;
	fn->align = alignment(fn->entry, s->h.sh_addralign);
	if (is_identifier(s->name))
		stay(fn, SKIP_SECTION);
	vaddr from = end_in_front(t, fn, s);
	if (fn->align >= PAGE && (fn->entry - from >= ALIGN_USUAL || from == s->h.sh_addr))
		stay(fn, SKIP_PAGE);
	if (fn->align > ALIGN_MAX ||
	    !is_padding(image_at(&t->prog->img, from, fn->entry - from), from))
		keep_pointers(t, fn->entry);
}

void placed_look_at_file(struct text *t)
{
	const struct image *img = &t->prog->img;
	vaddr lo;

	image_span(img, &lo, &t->end);
	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;

		if ((h->sh_flags & SHF_ALLOC) && (h->sh_flags & SHF_EXECINSTR) &&
		    h->sh_addr + h->sh_size > t->end_of_code)
			t->end_of_code = h->sh_addr + h->sh_size;
	}
	for (const Elf64_Phdr *p = img->ph; p < img->ph + img->nph; p++)
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X))
			t->end_of_exec = p->p_vaddr + p->p_memsz;
}

void placed_judge(struct text *t)
{
	struct prog *prog = t->prog;

	for (uint32_t i = 0; i < prog->nfn; i++)
		judge(t, &prog->fn[i]);
	for (uint32_t i = prog->nfn; i-- > 1; )
		if (is_unmet(t, &prog->fn[i]) && repeats(t, &prog->fn[i - 1], &prog->fn[i]))
			keep_pointers(t, prog->fn[i - 1].entry);
	if (t->asks_end)
		for (uint32_t i = 0; i < prog->nfn; i++)
			keep_pointers(t, prog->fn[i].entry);
}
