/* references.c - lists every place that holds or forms the address of a function's entry or of
 * a label
 *
 * Pointers to a function can be given another value only all together, because two of them must
 * stay equal.  So none may be missed.  A place is listed when it could be rewritten:
 *
 *   addend   of a relative relocation, or the word that RELR relocates
 *   symbol   of .dynsym, through which this and other modules find the function
 *   lea      of the entry by code that an FDE covers
 *
 * Everything else that holds the address, or might, has marked it MARK_STRAY (pointers.c):
 * other relocations and kinds of symbols, other instructions, code that calculates with it,
 * code without FDEs, the entry point of the program, and data that could encode it as a
 * distance.
 *
 * Labels inside of a function are what interpreters jump to through tables (labels.c).
 *
 * Programs linked to a fixed address keep addresses in plain words and constants, which nothing
 * tells from numbers: nothing is known of their pointers.
 *
 * Tested by tests/unit/editor/passes/test_redirect.c.
 */
#include <stdlib.h>
#include <string.h>

#include "postmorph/refs/addressuse.h"
#include "postmorph/refs/between.h"
#include "postmorph/refs/innerwords.h"
#include "postmorph/refs/references.h"
#include "postmorph/refs/labels.h"
#include "postmorph/refs/watched.h"
#include "binary/dynamic.h"

/* True when that is an entry. */
static bool add(struct text *t, vaddr addr, struct reference r)
{
	const struct prog *prog = t->prog;
	uint32_t fn = text_holds(t, addr) ? prog_find_fn(prog, addr) : NO_FN;

	if (fn == NO_FN)
		return false;
	r.to = addr;
	r.fn = fn;
	vec_push(t->scratch, &t->refs, r);
	return prog->fn[fn].entry == addr;
}

static void mark_stray(const struct text *t, vaddr addr)
{
	if (text_holds(t, addr))
		*text_mark(t, addr) |= MARK_STRAY;
}

/* An FDE says that bytes of the file at `off` are code: those are not rewritten. */
static bool is_in_code(const struct text *t, file_off off)
{
	const struct image *img = &t->prog->img;

	for (const Elf64_Phdr *p = img->ph; p < img->ph + img->nph; p++) {
		vaddr addr = p->p_vaddr + (off - p->p_offset);

		if (p->p_type == PT_LOAD && off - p->p_offset < p->p_filesz &&
		    text_holds(t, addr) && text_piece(t, addr) != UINT32_MAX)
			return true;
	}
	return false;
}

static void add_reloc(void *ctx, const struct reloc *r)
{
	struct text *t = ctx;

	if (is_in_code(t, r->at))
		mark_stray(t, r->value);
	if (r->type == R_X86_64_RELATIVE && r->sym == 0)
		(void)add(ctx, r->value,
			  (struct reference){ .kind = REFERENCE_ADDEND, .at = r->at });
}

static void add_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	struct text *t = ctx;

	(void)index;
	if (is_in_code(t, s->at))
		mark_stray(t, s->value);
	if (s->defined && s->type == STT_FUNC)
		(void)add(ctx, s->value,
			  (struct reference){ .kind = REFERENCE_SYMBOL, .at = s->at });
}

/* The general register that a lea fills. */
static uint8_t filled_register(const struct insn *lea, const uint8_t *code)
{
	enum { REX_R = 4 };

	return (uint8_t)((code[lea->field - 1] >> 3 & 7) |
			 (code[lea->field - 3] & REX_R ? 8 : 0));
}

static bool is_entry(const struct text *t, vaddr addr)
{
	uint32_t fn = text_holds(t, addr) ? prog_find_fn(t->prog, addr) : NO_FN;

	return fn != NO_FN && t->prog->fn[fn].entry == addr;
}

/* The instruction at `at`, which `behind` follows, has left the address of code in a register:
 * what is done with that. */
static enum address_use follow_address(struct text *t, vaddr to, vaddr at, uint8_t reg,
				       vaddr behind)
{
	vaddr call;
	enum address_use use = address_use(t, behind, reg, &call);

	between_note(t, at, to, use, call);
	return use;
}

/* The same, and what that means for the function whose address it is; code that adds a distance
 * from there to its own address looks for the GOT. */
static enum address_use note_use(struct text *t, vaddr to, vaddr at, uint8_t reg, vaddr behind)
{
	bool entry = is_entry(t, to);

	if (!entry && !between_knows(t, at, to))
		return USE_NAME;
	enum address_use use = follow_address(t, to, at, reg, behind);
	if (!entry)
		return USE_NAME;
	if (use == USE_ORDERED)
		watched_note_order(t, to);
	else if (use != USE_NAME && to != at)
		watched_note_read(t, to);
	return use;
}

/* A constant of these is a value that is handed on or compared, or a mask; in others it is
 * added or subtracted, or memory is accessed by it. */
static bool only_names(const uint8_t *code)
{
	uint8_t reg = code[1] >> 3 & 7;

	switch (code[0]) {
	case 0x68: case 0xc7: case 0x3d: case 0x69:		/* push, mov, cmp, imul */
	case 0x25: case 0x0d: case 0x35: case 0xa9: case 0xf7:	/* and, or, xor, test */
		return true;
	case 0x81:						/* add and sub: no */
		return reg != 0 && reg != 5;
	default:
		return false;
	}
}

void references_note(struct text *t, const struct fn *user, const struct insn *lea)
{
	const struct prog *prog = t->prog;
	const uint8_t *code = prog_insn_bytes(prog, lea);
	vaddr at = prog_insn_addr(prog, lea), to = insn_target(lea, code, at);
	uint8_t reg = filled_register(lea, code);
	enum address_use use = note_use(t, to, at, reg, at + lea->len);

	if (!prog->img.pie_or_dso)
		return;
	if (!text_holds(t, to) || text_piece(t, to) == UINT32_MAX) {
		vec_push(t->scratch, &t->bases, to);
		return;
	}
	bool entry = add(t, to, (struct reference){ .kind = REFERENCE_LEA,
						    .user = (uint32_t)(user - prog->fn) });
	if (entry ? use != USE_NAME :
		    !address_is_only_kept(image_rest(&prog->img, at + lea->len), reg))
		mark_stray(t, to);
}

void references_note_found(struct text *t, const struct insn *lea, const uint8_t *code,
			   vaddr at)
{
	vaddr to = insn_target(lea, code, at);

	if (between_knows(t, at, to))
		(void)follow_address(t, to, at, filled_register(lea, code), at + lea->len);
}

bool references_asks(const struct text *t, const struct insn *lea)
{
	const uint8_t *code = prog_insn_bytes(t->prog, lea);
	vaddr behind = prog_insn_addr(t->prog, lea) + lea->len;

	return address_use(t, behind, filled_register(lea, code), NULL) != USE_NAME;
}

/* A comparison with a constant that asks for order. */
static bool is_bound(const struct text *t, const struct insn *insn, const uint8_t *code,
		     vaddr at)
{
	return (code[0] == 0x3d || (code[0] == 0x81 && (code[1] >> 3 & 7) == 7)) &&
	       address_is_ordered(t, at + insn->len);
}

void references_note_constant(struct text *t, const struct insn *insn, const uint8_t *code,
			      vaddr at, uint64_t value)
{
	enum { REX = 0x40, REX_W = 8, REX_B = 1, MOV = 0xb8, MOV_WIDE = 0xc7 };
	bool address = is_entry(t, value) || !watched_is_number(insn, code, value);
	uint8_t rex = (code[0] & 0xf0) == REX ? *code++ : 0, high = rex & REX_B ? 8 : 0;
	bool bound = is_bound(t, insn, code, at);

	if ((code[0] & 0xf8) == MOV || (code[0] == MOV_WIDE && (code[1] & 0xf8) == 0xc0)) {
		uint8_t reg = code[(code[0] & 0xf8) != MOV] & 7;

		if (address)
			(void)note_use(t, value, at, reg | high, at + insn->len);
		return;
	}
	if (address && bound)
		between_note(t, at, value, USE_ORDERED, 0);
	if (bound)
		watched_note_bound(t, prog_find_fn(t->prog, at), value, rex & REX_W);
	else if (!only_names(code))
		watched_note_read(t, value);
}

/* A call that does not come back ends a range as often as not, but of which ones that is so,
 * two may think differently: here it counts as if it came back.  The image runs on into the
 * original, too. */
void references_note_end(struct text *t, const struct fn *fn, const struct insn *last)
{
	const struct prog *prog = t->prog;
	vaddr next = prog_insn_addr(prog, last) + last->len;
	uint32_t to = insn_ends_flow(last) ? NO_FN : prog_find_fn(prog, next);

	if (to != NO_FN && &prog->fn[to] != fn && prog->fn[to].entry != next)
		vec_push(t->scratch, &t->entered, to);
}

/* By function, each function's in the order found. */
static void sort_by_function(const struct text *t)
{
	struct prog *prog = t->prog;
	uint32_t *start = arena_array(t->scratch, prog->nfn + 1, sizeof(*start));

	for (uint32_t i = 0; i < t->refs.n; i++)
		start[t->refs.v[i].fn + 1]++;
	for (uint32_t i = 0; i < prog->nfn; i++)
		start[i + 1] += start[i];
	prog->ref = arena_array(prog->arena, t->refs.n, sizeof(*prog->ref));
	prog->nref = t->refs.n;
	for (uint32_t i = 0; i < t->refs.n; i++)
		prog->ref[start[t->refs.v[i].fn]++] = t->refs.v[i];
}

/* The symbols that the loader sees are those of the section.  A file without either has
 * none. */
static bool symbols_are_known(const struct image *img)
{
	const Elf64_Shdr *h = NULL;
	uint64_t at;

	for (uint32_t i = 0; i < img->nsh && !h; i++)
		if (img->sh[i].h.sh_type == SHT_DYNSYM)
			h = &img->sh[i].h;
	if (!image_dynamic(img, DT_SYMTAB, &at))
		return !h;
	if (!h || h->sh_addr != at)
		return false;
	struct bytes mapped = image_at(img, at, h->sh_size);
	return mapped.p && mapped.p == img->file.p + h->sh_offset;
}

/* Among its jumps there are some that go by tables, so others could do so, too, that look as
 * if they left it. */
static bool has_doubtful_jump(const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		const struct insn *last = &fn->insn[b->insn + b->ninsn - 1];

		if (last->kind == INSN_IJMP && b->table == NO_TABLE && last->field == 0)
			return fn->ntable > 0;
	}
	return false;
}

/* Control comes to the original code of a sealed function only through its entry. */
static bool is_sealed(const struct text *t, const struct fn *fn)
{
	if (!fn->kept || fn->skip != SKIP_NONE || fn->unproven > 0 || fn_has_guard(fn) ||
	    has_doubtful_jump(fn))
		return false;
	for (uint32_t r = 0; r < fn->nrange; r++) {
		const uint8_t *mark = text_mark(t, fn->range[r].addr);

		for (uint32_t i = r == 0; i < fn->range[r].size; i++)
			if (mark[i] & MARK_POINTER)
				return false;
	}
	return true;
}

/* Code of it is reached by no way that is known, though none of its jumps could go there: by an
 * address that is calculated, then, from one of its own.  Padding is none. */
static bool has_unmet_code(const struct text *t, const struct fn *fn)
{
	enum { INT3 = 0xcc };

	if (!fn->kept || fn_has_open_jump(fn))
		return false;
	for (uint32_t i = 1; i < fn->nblock; i++) {
		const struct block *b = &fn->block[i];
		bool falls = fn->block[i - 1].fall == i || fn->block[i - 1].fall_out == b->addr;

		if (!falls && !b->padding && b->addr != fn->range[b->range].addr &&
		    !(*text_mark(t, b->addr) &
		      (MARK_BRANCH | MARK_POINTER | MARK_TABLE | MARK_PAD)) &&
		    *prog_insn_bytes(t->prog, &fn->insn[b->insn]) != INT3)
			return true;
	}
	return false;
}

/* Functions that share a fragment, or jump into each other: where one goes, the others may
 * be, too. */
static void unseal_kin(const struct text *t)
{
	struct prog *prog = t->prog;
	uint32_t *first = arena_array(t->scratch, t->npiece, sizeof(*first));
	bool *shared = arena_array(t->scratch, t->npiece, sizeof(*shared));

	for (uint32_t i = 0; i < t->npiece; i++) {
		uint32_t kin = text_kin(t, i), fn = prog->fn_of_fde[i];

		if (first[kin] == 0)
			first[kin] = fn + 1;
		shared[kin] |= first[kin] != fn + 1;
	}
	for (uint32_t i = 0; i < t->npiece; i++)
		if (shared[text_kin(t, i)] && prog->fn_of_fde[i] < prog->nfn)
			prog->fn[prog->fn_of_fde[i]].sealed = false;
}

int references_find(struct text *t, struct err *err)
{
	struct prog *prog = t->prog;
	bool known = prog->img.pie_or_dso && symbols_are_known(&prog->img);

	if (known) {
		if (relocs_each(&prog->img, add_reloc, t, err) < 0)
			return -1;
		symbols_each(&prog->img, SHT_DYNSYM, add_symbol, t);
		sort_by_function(t);
	}
	for (uint32_t i = 0; i < prog->nfn; i++) {
		struct fn *fn = &prog->fn[i];
		uint8_t mark = text_holds(t, fn->entry) ? *text_mark(t, fn->entry) : MARK_STRAY;

		fn->sealed = is_sealed(t, fn);
		if ((mark & MARK_STRAY) || has_unmet_code(t, fn) ||
		    (!known && (mark & MARK_POINTER)))
			fn->pointers = POINTERS_UNKNOWN;
	}
	unseal_kin(t);
	for (uint32_t i = 0; i < t->entered.n; i++)
		prog->fn[t->entered.v[i]].sealed = false;
	for (uint32_t i = 0; i < prog->nref; i++) {
		const struct reference *r = &prog->ref[i];
		struct fn *fn = &prog->fn[r->fn];

		if (r->to == fn->entry && fn->pointers == POINTERS_NONE)
			fn->pointers = POINTERS_KNOWN;
	}
	labels_judge(t);
	return 0;
}

static int compare_addr(const void *x, const void *y)
{
	const vaddr *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Bit per SLOT bytes from prog->base: a function begins there.  Of millions of words hardly
 * any lead to an entry; most are told so by little memory. */
enum { SLOT = 16 };

static uint64_t *slots_of_entries(const struct text *t)
{
	uint64_t *slot = arena_array(t->pass, t->span / SLOT / 64 + 1, sizeof(*slot));

	for (uint32_t i = 0; i < t->prog->nfn; i++) {
		uint64_t at = (t->prog->fn[i].entry - t->prog->base) / SLOT;

		if (text_holds(t, t->prog->fn[i].entry))
			slot[at / 64] |= (uint64_t)1 << at % 64;
	}
	return slot;
}

static void mark_entry(const struct text *t, const uint64_t *slot, vaddr addr)
{
	uint64_t at = (addr - t->prog->base) / SLOT;

	if (!text_holds(t, addr) || !(slot[at / 64] >> at % 64 & 1))
		return;
	uint32_t fn = prog_find_fn(t->prog, addr);
	if (fn != NO_FN && t->prog->fn[fn].entry == addr)
		mark_stray(t, addr);
}

/* Those in jump tables lead inside of functions, and code needs the address of a label to have
 * a distance from it: only entries count here.
 *
 * Distances from the word itself, and from the nearest base at or below it: a table's start. */
static void mark_section_words(const struct text *t, const uint64_t *slot,
			       const struct section *s)
{
	vaddr at = (s->h.sh_addr + 3) & ~(vaddr)3;
	struct rd rd = rd_of(bytes_at(t->prog->img.file, s->h.sh_offset, s->h.sh_size));
	uint32_t next = 0;

	for ((void)rd_skip(&rd, at - s->h.sh_addr); rd_left(&rd) >= 4; at += 4) {
		vaddr distance = (vaddr)(int64_t)rd_s32(&rd);

		while (next < t->bases.n && t->bases.v[next] <= at)
			next++;
		if ((s->h.sh_flags & SHF_EXECINSTR) && innerwords_is_code(t, at))
			continue;
		mark_entry(t, slot, at + distance);
		if (next > 0)
			mark_entry(t, slot, t->bases.v[next - 1] + distance);
	}
}

void references_mark_words(struct text *t)
{
	const struct prog *prog = t->prog;

	if (!prog->img.pie_or_dso)
		return;
	const uint64_t *slot = slots_of_entries(t);
	if (t->bases.n)
		qsort(t->bases.v, t->bases.n, sizeof(*t->bases.v), compare_addr);
	for (uint32_t i = 0; i < prog->img.nsh; i++)
		/* unwind data is full of distances that no program compares with pointers */
		if (innerwords_may_hold(&prog->img.sh[i]))
			mark_section_words(t, slot, &prog->img.sh[i]);
	arena_reset(t->pass);
	for (uint32_t i = 0; i < prog->cfi.ncie; i++)
		if (prog->cfi.cie[i].personality)
			mark_stray(t, prog->cfi.cie[i].personality);
}
