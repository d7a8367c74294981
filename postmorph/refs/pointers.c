/* pointers.c - marks every address in the code that something may hold or jump to
 *
 * A mark too many costs a block boundary or, inside the five bytes of an entry jump, one
 * function that stays where it is.  A missing mark could break a program only if the address
 * lies inside such an entry jump, because all other bytes of the original stay intact.  So in
 * doubt an address is marked.
 *
 * Tested by tests/unit/postmorph/test_analyze.c (taken_addresses_pin and others).
 */
#include <string.h>

#include "lib/err.h"
#include "postmorph/refs/between.h"
#include "postmorph/refs/pointers.h"
#include "postmorph/refs/listed.h"
#include "postmorph/refs/placed.h"
#include "postmorph/refs/references.h"
#include "postmorph/refs/watched.h"
#include "postmorph/tables/tablescan.h"
#include "binary/dynamic.h"

enum { MOVABS = 10 };			/* bytes of mov $IMM64, REGISTER */
enum { LEA = 0x8d };			/* opcode, in front of ModRM */

/* Behind the program header table stands what only headers should lead to. */
static void look_in_front(struct text *t, vaddr addr)
{
	if (addr < t->prog->seen_in_front && addr >= t->behind_headers)
		t->prog->seen_in_front = addr;
}

/* A number that may be an address and may be any number: for tables that linkers make, and
 * notes with their name in it, it is one only when it is where they begin. */
static void guess_in_front(struct text *t, uint64_t v)
{
	const struct image *img = &t->prog->img;

	if (v >= t->prog->seen_in_front || v < t->behind_headers)
		return;
	const struct section *s = image_section_at(img, v);
	if (!s || (v != s->h.sh_addr && s->h.sh_type != SHT_NOTE))
		return;
	struct bytes owner = image_at(img, s->h.sh_addr + sizeof(Elf64_Nhdr), 4);
	if (v == s->h.sh_addr || !owner.p || memcmp(owner.p, "GNU", 4) != 0)
		look_in_front(t, v);
}

static void put_mark(struct text *t, vaddr addr, uint8_t mark)
{
	if (text_holds(t, addr))
		*text_mark(t, addr) |= mark;
}

static void mark(struct text *t, vaddr addr)
{
	look_in_front(t, addr);
	put_mark(t, addr, MARK_POINTER);
}

/* The same for what could not be made to hold another address. */
static void mark_stray(struct text *t, vaddr addr)
{
	look_in_front(t, addr);
	put_mark(t, addr, MARK_POINTER | MARK_STRAY);
}

/* Pointers in data: how many of them are return addresses tells OCaml programs apart. */
static void mark_data(struct text *t, vaddr addr)
{
	if (!text_holds(t, addr))
		return;
	if (*text_mark(t, addr) & MARK_RETURN)
		t->nreturn_pointer++;
	*text_mark(t, addr) |= MARK_POINTER;
}

static void skip_rseq(struct text *t, vaddr addr)
{
	uint32_t fn = prog_find_fn(t->prog, addr);

	if (fn != NO_FN && t->prog->fn[fn].skip == SKIP_NONE)
		t->prog->fn[fn].skip = SKIP_RSEQ;
}

static bool in_rseq(const struct text *t, vaddr place)
{
	const struct section *s = t->has_rseq ? image_section_at(&t->prog->img, place) : NULL;

	return s && strstr(s->name, "rseq");
}

/* The relocated word may lead behind the headers, if not from a symbol of another file. */
static void look_at_reloc(struct text *t, const struct reloc *r)
{
	vaddr symbol = r->sym < t->symbols.n ? t->symbols.v[r->sym] : 0;

	if (r->sym && !symbol)
		return;
	switch (r->type) {
	case R_X86_64_64: case R_X86_64_GLOB_DAT: case R_X86_64_JUMP_SLOT:
	case R_X86_64_RELATIVE: case R_X86_64_IRELATIVE:
		look_in_front(t, symbol + r->value);
		break;
	default:
		break;
	}
}

/* The word has the symbol's value, whatever that is, and nothing else. */
static bool is_pointer_to(const struct reloc *r)
{
	return r->value == 0 && (r->type == R_X86_64_64 || r->type == R_X86_64_GLOB_DAT ||
				 r->type == R_X86_64_JUMP_SLOT);
}

/* Of a symbol of this file, or so far from one; the symbol itself is marked as such. */
static void mark_symbolic(struct text *t, const struct reloc *r, vaddr symbol)
{
	vaddr to = symbol + r->value;

	placed_note(t, to);
	if (!is_pointer_to(r))
		mark_stray(t, symbol);
	if (in_rseq(t, r->place))
		skip_rseq(t, to);
	if (r->value != 0) {
		mark_stray(t, to);
		watched_note_word(t, r->place, to);
	}
	listed_note(t, r->place, to);
}

static void mark_reloc(void *ctx, const struct reloc *r)
{
	struct text *t = ctx;

	look_at_reloc(t, r);
	placed_note(t, r->value);
	if (r->sym > t->last_symbol)
		t->last_symbol = r->sym;
	switch (r->type) {
	case R_X86_64_RELATIVE:
		if (r->plt || r->sym)
			mark_stray(t, r->value);
		break;
	case R_X86_64_IRELATIVE: case R_X86_64_RELATIVE64:
		mark_stray(t, r->value);
		break;
	case R_X86_64_NONE: case R_X86_64_DTPMOD64: case R_X86_64_DTPOFF64:
	case R_X86_64_TPOFF64: case R_X86_64_TLSDESC:
		return;
	default:
		if (r->sym != 0 && r->sym < t->symbols.n) {
			if (t->symbols.v[r->sym])
				mark_symbolic(t, r, t->symbols.v[r->sym]);
			return;
		}
		mark_stray(t, r->value);
		break;
	}
	mark_data(t, r->value);
	if (in_rseq(t, r->place))
		skip_rseq(t, r->value);
	watched_note_word(t, r->place, r->value);
	listed_note(t, r->place, r->value);
}

static bool names_address(const struct symbol *s)
{
	return s->defined && (s->type == STT_FUNC || s->type == STT_GNU_IFUNC ||
			      s->type == STT_NOTYPE || s->type == STT_OBJECT);
}

static void mark_dynamic_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	struct text *t = ctx;

	(void)index;			/* consecutive */
	vec_push(t->scratch, &t->symbols, s->defined ? s->value : 0);
	if (s->type != STT_TLS)		/* of which the value is no address */
		look_in_front(t, s->value);
	if (!names_address(s))
		return;
	(s->type == STT_FUNC && s->section < SHN_LORESERVE ? mark : mark_stray)(t, s->value);
	watched_note_inside(t, s->value);
}

static void mark_symbol(void *ctx, uint32_t index, const struct symbol *s)
{
	struct text *t = ctx;

	(void)index;
	if (names_address(s) && text_holds(t, s->value))
		*text_mark(t, s->value) |= MARK_SYMBOL;
}

/* Aligned words of data: where addresses stand in files that are not relocated, and in
 * initialisation arrays of any file. */
static void mark_words(struct text *t, const struct section *s)
{
	uint64_t skip = -s->h.sh_addr & 7;
	struct rd rd = rd_of(bytes_at(t->prog->img.file, s->h.sh_offset, s->h.sh_size));
	bool rseq = strstr(s->name, "rseq");

	for ((void)rd_skip(&rd, skip); rd_left(&rd) >= 8; ) {
		vaddr v = rd_u64(&rd);

		mark_data(t, v);
		if (rseq)
			skip_rseq(t, v);
	}
}

/* Words of all that is loaded and no code, whatever sections call it, may lead behind the
 * headers in a file that is not relocated; those of the headers and dynamic entries are
 * known. */
static void look_at_words(struct text *t)
{
	const struct image *img = &t->prog->img;
	const Elf64_Phdr *dynamic = image_phdr(img, PT_DYNAMIC);

	for (const Elf64_Phdr *p = img->ph; p < img->ph + img->nph; p++) {
		struct rd rd = rd_of(bytes_at(img->file, p->p_offset, p->p_filesz));
		vaddr at = p->p_vaddr + (-p->p_vaddr & 7);

		if (p->p_type != PT_LOAD || (p->p_flags & PF_X) || img->pie_or_dso)
			continue;
		for ((void)rd_skip(&rd, -p->p_vaddr & 7); rd_left(&rd) >= 8; at += 8) {
			uint64_t v = rd_u64(&rd);

			put_mark(t, v, MARK_POINTER);
			if (at >= t->behind_headers &&
			    !(dynamic && at - dynamic->p_vaddr < dynamic->p_memsz))
				guess_in_front(t, v);
		}
	}
}

static void mark_sections(struct text *t)
{
	const struct image *img = &t->prog->img;

	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;
		bool array = h->sh_type == SHT_INIT_ARRAY || h->sh_type == SHT_FINI_ARRAY ||
			     h->sh_type == SHT_PREINIT_ARRAY;

		if (!(h->sh_flags & SHF_ALLOC) || h->sh_type == SHT_NOBITS ||
		    (h->sh_flags & SHF_EXECINSTR))
			continue;
		if (array || (!img->pie_or_dso && h->sh_type == SHT_PROGBITS))
			mark_words(t, &img->sh[i]);
	}
}

/* mov $IMM64, REGISTER: in code of the large model perhaps a distance from the GOT. */
static void mark_from_got(struct text *t, vaddr to)
{
	mark_stray(t, to);
	placed_note(t, to);
}

static void mark_got_distance(struct text *t, const uint8_t code[MOVABS])
{
	static const char *const got[] = { ".got.plt", ".got" };
	uint64_t distance, table;

	if ((code[0] & 0xf8) != 0x48 || (code[1] & 0xf8) != 0xb8)
		return;
	memcpy(&distance, code + 2, sizeof(distance));
	if (image_dynamic(&t->prog->img, DT_PLTGOT, &table))
		mark_from_got(t, table + distance);
	for (int i = 0; i < 2; i++) {
		const struct section *s = image_section(&t->prog->img, got[i]);

		if (s)
			mark_from_got(t, s->h.sh_addr + distance);
	}
}

static void look_at_constants(struct text *t, const struct insn *insn, const uint8_t *code)
{
	uint64_t c[INSN_MAX_CONSTANTS];

	if (!insn->constants || t->prog->img.pie_or_dso)
		return;
	uint32_t n = insn_constants((struct bytes){ code, insn->len }, c);
	for (uint32_t i = 0; i < n; i++) {
		guess_in_front(t, c[i]);
		watched_note_constant(t, insn, code, c[i], false);
	}
}

/* What one instruction of a function points to. */
static void mark_operands(struct text *t, const struct fn *fn, const struct insn *insn)
{
	const uint8_t *code = prog_insn_bytes(t->prog, insn);

	if (insn->field) {
		vaddr target = insn_target(insn, code, prog_insn_addr(t->prog, insn));

		look_in_front(t, target);
		if (placed_is_end(t, target) && !insn_is_branch(insn) &&
		    (!insn_is_lea(insn, code) || references_asks(t, insn)))
			placed_note(t, target);
		if (insn_is_lea(insn, code)) {
			mark(t, target);
			if (!fn_holds(fn, target))
				watched_note_formed(t, target);
			else if (target - prog_insn_addr(t->prog, insn) > insn->len)
				watched_note_own(t, target);
			references_note(t, fn, insn);
			tablescan_note(t, fn, target);
		} else if (!insn_is_branch(insn)) {
			mark_stray(t, target);
			if (text_holds(t, target) && code[insn->field - 2] != LEA)
				watched_note_read(t, target);
		} else if (text_holds(t, target) && !fn_holds(fn, target)) {
			uint32_t to = prog_find_fn(t->prog, target);

			if (to != NO_FN && t->prog->fn[to].entry == target)
				t->called[to] |= insn->kind == INSN_CALL;
			else if (to != NO_FN)
				mark(t, target);
		}
	}
	if (insn->constants && !t->prog->img.pie_or_dso) {
		uint64_t c[INSN_MAX_CONSTANTS];
		uint32_t n = insn_constants((struct bytes){ code, insn->len }, c);

		for (uint32_t i = 0; i < n; i++) {
			guess_in_front(t, c[i]);
			put_mark(t, c[i], MARK_POINTER);
			if (text_holds(t, c[i]) ||
			    between_knows(t, prog_insn_addr(t->prog, insn), c[i]))
				references_note_constant(t, insn, code,
							 prog_insn_addr(t->prog, insn), c[i]);
			watched_note_constant(t, insn, code, c[i], fn_holds(fn, c[i]));
		}
	}
}

/* What an instruction outside of all functions, or hidden in one, points to. */
static void mark_found(struct text *t, const struct insn *insn, const uint8_t *code,
		       vaddr addr, vaddr target)
{
	if (insn->field)
		(insn_is_branch(insn) ? mark : mark_stray)(t, target);
	if (insn->field && !insn_is_branch(insn)) {
		placed_note(t, target);
		if (text_holds(t, target) && code[insn->field - 2] != LEA)
			watched_note_read(t, target);
	}
	if (insn->field && insn_is_lea(insn, code)) {
		watched_note_inside(t, target);
		references_note_found(t, insn, code, addr);
	}
	if (!insn->field && insn->len == MOVABS)
		mark_got_distance(t, code);
	look_at_constants(t, insn, code);
	if (text_holds(t, addr))
		t->swept[(addr - t->prog->base) / 8] |=
			(uint8_t)(1 << (addr - t->prog->base) % 8);
}

static bool is_decoded(const struct text *t, vaddr addr)
{
	uint64_t off = addr - t->prog->base;

	return (t->mark[off] & MARK_INSN) || (t->swept[off / 8] >> off % 8 & 1);
}

/* Bytes that are jumped over may swallow instructions behind them when code is decoded one
 * after the other.  So it is decoded from where branches lead, too. */
static void mark_hidden(struct text *t, vaddr addr)
{
	VEC(vaddr) todo = { 0 };

	vec_push(t->pass, &todo, addr);
	while (todo.n) {
		struct insn insn;
		vaddr target;

		for (addr = todo.v[--todo.n]; text_holds(t, addr) && !is_decoded(t, addr);
		     addr += insn.len) {
			struct bytes code = image_rest(&t->prog->img, addr);

			if (!code.p || !insn_decode(code, addr, &insn, &target))
				break;
			mark_found(t, &insn, code.p, addr, target);
			if (insn_is_branch(&insn))
				vec_push(t->pass, &todo, target);
			if (insn_ends_flow(&insn) && insn.kind != INSN_TRAP)
				break;
		}
	}
	arena_reset(t->pass);
}

/* All branches have been noted, and all gaps looked at. */
static void mark_all_hidden(struct text *t)
{
	uint64_t marks, branches = MARK_BRANCH * (UINT64_MAX / UINT8_MAX);

	for (uint64_t off = 0; off < t->span; off++) {
		while (t->span - off >= sizeof(marks) &&
		       (memcpy(&marks, t->mark + off, sizeof(marks)), !(marks & branches)))
			off += sizeof(marks);
		if (off < t->span && (t->mark[off] & MARK_BRANCH) &&
		    !is_decoded(t, t->prog->base + off))
			mark_hidden(t, t->prog->base + off);
	}
	for (uint32_t i = 0; i < t->gap_branches.n; i++)
		mark_hidden(t, t->gap_branches.v[i]);
}

/* Code that no FDE covers, [addr, end): decoded one after the other; after something that is no
 * instruction, again at the next byte. */
static void mark_gap(struct text *t, vaddr addr, vaddr end)
{
	struct bytes code = image_at(&t->prog->img, addr, end - addr);

	for (uint64_t off = 0; code.p && off < code.n; ) {
		struct insn insn;
		vaddr target;

		if (!insn_decode(bytes_at(code, off, code.n - off), addr + off, &insn,
				 &target)) {
			off++;
			continue;
		}
		mark_found(t, &insn, code.p + off, addr + off, target);
		if (insn_is_branch(&insn) && text_holds(t, target))
			vec_push(t->scratch, &t->gap_branches, target);
		off += insn.len;
	}
}

/* The same of [addr, end) in an executable segment.  What is in none of the executable
 * sections there is data: read as code, a large library's would seem to jump to thousands of
 * places. */
static void mark_segment_gap(struct text *t, vaddr addr, vaddr end)
{
	const struct image *img = &t->prog->img;

	for (uint32_t i = 0; i < img->nsh; i++) {
		const Elf64_Shdr *h = &img->sh[i].h;
		vaddr lo = h->sh_addr > addr ? h->sh_addr : addr;
		vaddr hi = h->sh_addr + h->sh_size < end ? h->sh_addr + h->sh_size : end;

		if ((h->sh_flags & SHF_ALLOC) && (h->sh_flags & SHF_EXECINSTR) && lo < hi)
			mark_gap(t, lo, hi);
	}
}

static void mark_gaps(struct text *t)
{
	const struct image *img = &t->prog->img;
	uint32_t p = 0;

	for (uint32_t i = 0; i < img->nph; i++) {
		const Elf64_Phdr *ph = &img->ph[i];
		vaddr at = ph->p_vaddr, end = at + ph->p_filesz;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		while (p < t->npiece && t->piece[p].addr < at)
			p++;
		for (; p < t->npiece && t->piece[p].addr < end; p++) {
			mark_segment_gap(t, at, t->piece[p].addr);
			at = t->piece[p].addr + t->piece[p].size;
		}
		if (at < end)
			mark_segment_gap(t, at, end);
	}
}

/* Functions of which some range is not all instructions. */
static void mark_undecoded(struct text *t, const struct fn *fn)
{
	for (uint32_t i = 0; i < fn->nrange; i++)
		mark_gap(t, fn->range[i].addr, fn->range[i].addr + fn->range[i].size);
}

/* What the rest needs to know about the file as a whole. */
static void look_at_file(struct text *t)
{
	struct prog *prog = t->prog;
	const Elf64_Phdr *first = image_phdr(&prog->img, PT_LOAD);

	prog->seen_in_front = UINT64_MAX;
	t->behind_headers = first->p_vaddr - first->p_offset + prog->img.eh.e_phoff +
			    prog->img.nph * sizeof(Elf64_Phdr);
	for (uint32_t i = 0; i < prog->img.nsh; i++)
		t->has_rseq |= strstr(prog->img.sh[i].name, "rseq") != NULL;
}

/* Nothing is code that the header table, or what gives way to it, is written over. */
static int look_at_pieces(struct text *t, struct err *err)
{
	const Elf64_Phdr *first = image_phdr(&t->prog->img, PT_LOAD);

	for (uint32_t i = 0; i < t->npiece; i++) {
		const struct piece *p = &t->piece[i];

		if (p->size > 0 && p->addr < t->behind_headers &&
		    p->addr + p->size > first->p_vaddr)
			return err_set(err, ERR_INPUT,
				       ".eh_frame: the headers of the file are said "
				       "to be code");
		if (p->size > 0)
			look_in_front(t, p->addr);
	}
	return 0;
}

/* Those that relocations name are where both sections and the loader look for them. */
static bool has_symbols(const struct text *t)
{
	const struct image *img = &t->prog->img;
	uint64_t n = (uint64_t)t->last_symbol + 1, at;

	if (n == 1)
		return true;
	return (t->symbols.n == 0 || n <= t->symbols.n) &&
	       (!image_dynamic(img, DT_SYMTAB, &at) ||
		image_at(img, at, n * sizeof(Elf64_Sym)).p);
}

int pointers_mark(struct text *t, struct err *err)
{
	static const int64_t tags[] = { DT_INIT, DT_FINI };
	struct prog *prog = t->prog;
	uint64_t v;

	t->swept = arena_alloc(t->scratch, t->span / 8 + 1);
	look_at_file(t);
	placed_look_at_file(t);
	if (look_at_pieces(t, err) < 0)
		return -1;
	symbols_each(&prog->img, SHT_DYNSYM, mark_dynamic_symbol, t);
	if (relocs_each(&prog->img, mark_reloc, t, err) < 0)
		return -1;
	if (!has_symbols(t))
		return err_set(err, ERR_INPUT, "a relocation names a symbol that is not there");
	symbols_each(&prog->img, SHT_SYMTAB, mark_symbol, t);
	mark_sections(t);
	listed_note_words(t);
	look_at_words(t);
	mark_gaps(t);
	mark_stray(t, prog->img.eh.e_entry);
	for (uint32_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (image_dynamic(&prog->img, tags[i], &v))
			mark_stray(t, v);
	for (uint32_t i = 0; i < prog->nfn; i++) {
		const struct fn *fn = &prog->fn[i];
		struct fn_scan scan = fn_scan(t, fn);
		struct insn insn;

		if (scan.range == fn->nrange)
			mark_undecoded(t, fn);
		while (fn_scan_next_value(&scan, &insn)) {
			if (insn.field || (insn.constants && !prog->img.pie_or_dso))
				mark_operands(t, fn, &insn);
			else if (insn.len == MOVABS)
				mark_got_distance(t, prog_insn_bytes(prog, &insn));
			if (scan.left == 0)
				references_note_end(t, fn, &insn);
		}
	}
	mark_all_hidden(t);
	references_mark_words(t);
	placed_judge(t);
	tablescan_sort(t);
	return 0;
}
