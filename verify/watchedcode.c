/* watchedcode.c - code whose inner addresses others know has no image
 *
 * A signal handler may compare the address at which the program was interrupted with addresses
 * of labels.  It knows nothing of images, so the instructions at such labels must have none.
 *
 * INSIDE    an instruction of another function, or one between FDEs, forms the address by a
 *           lea, or has it as a constant in a program linked to a fixed address;
 * OWN       the same by an instruction of the function itself, which has no indirect jump that
 *           could go there: it tells a handler, or a callee.  Its own place, or that behind
 *           it, is a base from which the large model's code finds the GOT, or what a sanitizer
 *           tells of where it was called.  Behind a call of its own it may ask whether it came
 *           back from there (speculative load hardening), whatever its jumps are;
 * SYMBOL    a dynamic symbol has the address;
 * HELD      a relocation puts the address into data, and its function has no indirect jump that
 *           could go there, or these data are a section of their own, by which nothing jumps;
 *           the address of a symbol itself is taken for an entry;
 * RSEQ      a word of a section of restartable sequences holds the address;
 * LISTED    a word of a section for tools that patch code, or of a map that LLVM makes for
 *           collectors and handlers, holds the address, or the start of the function, or bytes
 *           in front of that; as it is, or as a distance from the word.
 *
 * Whether somebody asks for the order of a function's start and something else is not judged
 * (assumption A5 in verify.c).
 */
#include <string.h>

#include "verify/holders.h"
#include "verify/lookup.h"

/* Where the FDE that holds it does not begin, or begins in the middle of a function. */
static bool is_inside(const struct verify *v, vaddr addr, uint32_t *fde)
{
	*fde = vcfi_find(&v->ocfi, addr);
	return *fde != NO_FDE && verify_is_start(v, addr) &&
	       (addr != v->ocfi.fde[*fde].addr || v->ocfi.fragment[*fde]);
}

static bool has_image(const struct verify *v, vaddr addr)
{
	return blockmap_find_orig(&v->map, addr) != NULL;
}

/* Where the instruction stands, or behind itself. */
static bool is_own_place(const struct verify *v, const struct vref *r)
{
	struct insn insn;
	vaddr target;

	return insn_decode(verify_orig_code(v, r->addr), r->addr, &insn, &target) &&
	       (r->to == r->addr || r->to == r->addr + insn.len);
}

/* A call returns there, if at all. */
static bool is_behind_call(const struct verify *v, vaddr addr)
{
	enum { LONGEST = 15 };
	struct insn insn;
	vaddr target;

	for (vaddr at = addr - 1; at >= addr - LONGEST; at--)
		if (verify_is_start(v, at))
			return insn_decode(verify_orig_code(v, at), at, &insn, &target) &&
			       at + insn.len == addr &&
			       (insn.kind == INSN_CALL || insn.kind == INSN_ICALL);
	return false;
}

static int check_formed(struct verify *v, const bool *jumps)
{
	uint32_t fde;

	for (uint32_t i = 0; i < v->refs.formed.n; i++) {
		const struct vref *r = &v->refs.formed.v[i];

		if (!is_inside(v, r->to, &fde) || !has_image(v, r->to))
			continue;
		uint32_t group = verify_group(v, fde);
		if (r->fde != NO_FDE && verify_group(v, r->fde) == group &&
		    (is_own_place(v, r) || (jumps[group] && !is_behind_call(v, r->to))))
			continue;
		return refuse(
			v, "the code at 0x%llx was moved, but that at 0x%llx knows its address",
			ULL(r->to), ULL(r->addr));
	}
	return 0;
}

struct watch {
	bool *jumps;		/* [nfde] by group: it has an indirect jump */
	bool rseq, lists;	/* there are sections of restartable sequences, of lists */
};

/* The word gets this value; by a symbol, if no other file has one of that name. */
static bool has_value(const struct vholder *h)
{
	switch (h->kind) {
	case HOLDS_RELATIVE: case HOLDS_RELR: case HOLDS_WORD:
		return true;
	case HOLDS_RELOCATED:
		return !h->symbol || h->section != SHN_UNDEF;
	default:
		return false;
	}
}

static bool is_rseq(const struct verify *v, vaddr place)
{
	const struct section *s = image_section_at(&v->orig, place);

	return s && strstr(s->name, "rseq");
}

/* Whoever has the symbol has the address. */
static int check_symbol(struct verify *v, const struct vholder *h)
{
	uint32_t fde;

	if (h->section == SHN_UNDEF ||
	    (h->symbol_type != STT_NOTYPE && h->symbol_type != STT_OBJECT &&
	     h->symbol_type != STT_FUNC && h->symbol_type != STT_GNU_IFUNC) ||
	    !is_inside(v, h->value, &fde) || !has_image(v, h->value))
		return 0;
	return refuse(v, "the code at 0x%llx was moved, but dynamic symbol %llu is its address",
		      ULL(h->value), ULL(h->n));
}

static bool is_list(const struct section *s)
{
	return s && (strcmp(s->name, "__patchable_function_entries") == 0 ||
		     strcmp(s->name, "__mcount_loc") == 0 ||
		     strcmp(s->name, "xray_instr_map") == 0 ||
		     strcmp(s->name, "xray_fn_idx") == 0 ||
		     strcmp(s->name, ".llvm_stackmaps") == 0 ||
		     strcmp(s->name, ".llvm_faultmaps") == 0);
}

/* A function is listed by any of its bytes, or by the padding in front of it. */
static int check_listed(struct verify *v, vaddr place, vaddr to)
{
	enum { IN_FRONT = 256 };
	uint32_t fde = NO_FDE;

	if (!image_is_exec(&v->orig, to))
		return 0;
	for (vaddr at = to; fde == NO_FDE && at < to + IN_FRONT; at++)
		fde = vcfi_find(&v->ocfi, at);
	if (fde == NO_FDE || !verify_has_entry(v, v->ocfi.fde[fde].addr))
		return 0;
	return refuse(v, "the function at 0x%llx was moved, but the section at 0x%llx lists it",
		      ULL(v->ocfi.fde[fde].addr), ULL(place));
}

static int check_list(struct verify *v, const struct section *s)
{
	struct rd r = rd_of(bytes_at(v->orig.file, s->h.sh_offset, s->h.sh_size));

	for (vaddr at = s->h.sh_addr; rd_left(&r) >= 4; at += 4) {
		struct rd wide = r;
		uint64_t word = rd_left(&wide) >= 8 ? rd_u64(&wide) : 0;

		if (check_listed(v, at, at + (vaddr)(int64_t)rd_s32(&r)) < 0 ||
		    check_listed(v, at, at + word) < 0 || check_listed(v, at, word) < 0)
			return -1;
	}
	return 0;
}

static int check_held(struct verify *v, const struct vholder *h, void *ctx)
{
	const struct watch *w = ctx;
	uint32_t fde;

	if (h->kind == HOLDS_SYMBOL)
		return check_symbol(v, h);
	if (!has_value(h))
		return 0;
	if (w->lists && is_list(image_section_at(&v->orig, h->place)) &&
	    check_listed(v, h->place, h->value) < 0)
		return -1;
	if (w->rseq && is_rseq(v, h->place) && has_image(v, h->value))
		return refuse(v, "the code at 0x%llx was moved, and has a restartable sequence",
			      ULL(h->value));
	if (h->kind == HOLDS_WORD || (h->symbol && !h->addend))
		return 0;
	if (!is_inside(v, h->value, &fde) || !has_image(v, h->value))
		return 0;
	const struct section *s = image_section_at(&v->orig, h->place);
	if (w->jumps[verify_group(v, fde)] && (!s || verify_is_mixed(s)))
		return 0;
	return refuse(v,
		      "the code at 0x%llx was moved, but the word at 0x%llx holds its address",
		      ULL(h->value), ULL(h->place));
}

int verify_watchedcode(struct verify *v)
{
	struct watch w = { .jumps = arena_array(v->a, v->ocfi.nfde, sizeof(*w.jumps)) };

	for (uint32_t i = 0; i < v->refs.all.n; i++)
		if (v->refs.all.v[i].kind == REF_JUMP && v->refs.all.v[i].fde != NO_FDE)
			w.jumps[verify_group(v, v->refs.all.v[i].fde)] = true;
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const struct section *s = &v->orig.sh[i];

		w.rseq |= strstr(s->name, "rseq") != NULL;
		w.lists |= is_list(s);
		if (is_list(s) && (s->h.sh_flags & SHF_ALLOC) && s->h.sh_type != SHT_NOBITS &&
		    check_list(v, s) < 0)
			return -1;
	}
	return check_formed(v, w.jumps) < 0 ? -1 : verify_each_holder(v, check_held, &w);
}
