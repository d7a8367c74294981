/* stalepointers.c - no code that can run gets at the old value of a redirected pointer
 *
 * redirected.c has found which pointers lead to images: those with the value X have the value Y
 * in the generation.
 *
 * ALL        Every relocation, symbol and instruction that yields X yields Y in the generation.
 *            Anything else that yields X, or may, is a refusal: other kinds of relocations, the
 *            entry point, instructions of code between FDEs, large constants that are distances
 *            from the GOT, 32-bit words of data that are distances from where they stand or
 *            from the table that they are in.
 * SEALED     An instruction of the original that forms X must not run any more.  So its
 *            function must be one whose original code is entered by the entry jumps only: no
 *            address inside it is kept or formed anywhere, no branch from another function and
 *            no image leads there, and its indirect jumps leave it or go by new tables only.
 *
 * Tested by tests/unit/verify/test_redirected.c.
 */
#include "verify/holders.h"
#include "verify/lookup.h"

enum { WORD = 4 };	/* bytes of a distance in data */

/* The new value of X; 0 when it has none. */
static new_vaddr redirected(const struct verify *v, vaddr from)
{
	const struct vredirect *r = v->pointers.redirects.v;
	uint32_t n = v->pointers.redirects.n, lo = 0, hi = n;

	if (from < r[0].from || from > r[n - 1].from)
		return 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r[mid].from < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && r[lo].from == from ? r[lo].to : 0;
}

static int still_held(struct verify *v, const char *what, uint64_t n, vaddr x)
{
	return refuse(v,
		      "%s 0x%llx leads to 0x%llx, while other pointers to that lead to 0x%llx",
		      what, ULL(n), ULL(x), ULL(redirected(v, x)));
}

static int check_symbol(struct verify *v, const struct vholder *h, new_vaddr want)
{
	struct rd r = verify_new_bytes(v, h->at + VERIFY_SYMBOL_FIELDS,
				       VERIFY_SYMBOL_FIELDS_SIZE);
	uint16_t section = rd_u16(&r);
	new_vaddr now = rd_u64(&r);
	uint64_t size = rd_u64(&r);

	if (r.bad || now != want)
		return still_held(v, "dynamic symbol", h->n, h->value);
	if (h->symbol_type != STT_FUNC || section >= v->gen.nsh ||
	    !(v->gen.sh[section].h.sh_flags & SHF_EXECINSTR) ||
	    now - v->gen.sh[section].h.sh_addr >= v->gen.sh[section].h.sh_size ||
	    !verify_is_text_of(v, vcfi_find(&v->ocfi, h->value), now, size))
		return refuse(
			v,
			"dynamic symbol %llu does not describe the image of the function at "
			"0x%llx",
			ULL(h->n), ULL(h->value));
	return 0;
}

/* Something that a program can get at has a value that may be an address. */
static bool counts(const struct vholder *h)
{
	switch (h->kind) {
	case HOLDS_LISTED:
		return false;
	case HOLDS_SYMBOL:
		return h->section != SHN_UNDEF &&
		       (h->symbol_type == STT_FUNC || h->symbol_type == STT_GNU_IFUNC ||
			h->symbol_type == STT_NOTYPE || h->symbol_type == STT_OBJECT);
	default:
		return true;
	}
}

/* It has the value of its symbol, whatever that is: not another one that is calculated from
 * that. */
static bool is_symbols_value(const struct vholder *h)
{
	return h->addend == 0 && h->symbol_type == STT_FUNC &&
	       (h->type == R_X86_64_64 || h->type == R_X86_64_GLOB_DAT ||
		h->type == R_X86_64_JUMP_SLOT);
}

static int check_holder(struct verify *v, const struct vholder *h, void *ctx)
{
	new_vaddr want = redirected(v, h->value);

	(void)ctx;
	if (!counts(h))
		return 0;
	if (h->kind == HOLDS_RELOCATED && h->symbol && redirected(v, h->value - h->addend))
		return is_symbols_value(h) ? 0
					   : still_held(v, h->what, h->n, h->value - h->addend);
	if (!want && verify_is_labelled(v, h->value) && h->kind != HOLDS_RELATIVE &&
	    h->kind != HOLDS_RELR)
		return refuse(v,
			      "%s %llu leads to 0x%llx, inside a function whose pointers to "
			      "labels were "
			      "changed",
			      h->what, ULL(h->n), ULL(h->value));
	if (!want) {
		verify_note_inner(v, h->value);
		return 0;
	}
	if (h->kind == HOLDS_SYMBOL && verify_is_function(v, h->value))
		return check_symbol(v, h, want);
	if (h->kind == HOLDS_RELATIVE || h->kind == HOLDS_RELR) {
		struct rd r = verify_new_bytes(v, h->at, 8);

		return rd_u64(&r) == want ? 0 : still_held(v, h->what, h->n, h->value);
	}
	return still_held(v, h->what, h->n, h->value);
}

/* Jump tables may well lead to labels. */
static bool is_redirected_function(const struct verify *v, vaddr addr)
{
	return redirected(v, addr) && verify_is_function(v, addr);
}

/* No word of data is X as a distance from itself or from the table that it is in. */
static int check_section(struct verify *v, const struct section *s, const struct vbases *bases)
{
	vaddr at = (s->h.sh_addr + WORD - 1) & ~(vaddr)(WORD - 1);
	struct rd r = rd_of(bytes_at(v->orig.file, s->h.sh_offset, s->h.sh_size));
	uint32_t next = 0;

	for ((void)rd_skip(&r, at - s->h.sh_addr); rd_left(&r) >= WORD; at += WORD) {
		vaddr distance = (vaddr)(int64_t)rd_s32(&r);

		while (next < bases->n && bases->v[next] <= at)
			next++;
		if ((s->h.sh_flags & SHF_EXECINSTR) && vcfi_find(&v->ocfi, at) != NO_FDE)
			continue;
		if (is_redirected_function(v, at + distance))
			return still_held(v, "the distance at", at, at + distance);
		if (next && is_redirected_function(v, bases->v[next - 1] + distance))
			return still_held(v, "the distance at", at,
					  bases->v[next - 1] + distance);
	}
	return 0;
}

static int check_data(struct verify *v)
{
	struct vbases bases = { 0 };

	for (uint32_t i = 0; i < v->walk.bases.n; i++)
		if (vcfi_find(&v->ocfi, v->walk.bases.v[i]) == NO_FDE)
			vec_push(v->a, &bases, v->walk.bases.v[i]);
	for (uint32_t i = 0; i < v->orig.nsh; i++) {
		const struct section *s = &v->orig.sh[i];

		if (verify_holds_words(s) && check_section(v, s, &bases) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < v->ocfi.ncie; i++)
		if (v->ocfi.cie[i].personality && redirected(v, v->ocfi.cie[i].personality))
			return still_held(v, "the personality of CIE", v->ocfi.cie[i].off,
					  v->ocfi.cie[i].personality);
	return 0;
}

/* Where original code is run, once something leads inside it. */
struct running {
	struct verify *v;
	bool *jumps;			/* [nfde] by a table, for all that is known */
	uint32_t *head, *next;		/* [nfde], [nrefs] branches by FDE: index in refs + 1 */
	uint32_t *first, *member;	/* [nfde] FDEs of a group: index + 1 */
	bool *entered;			/* [nfde] the group has a function's start */
	bool *whole;			/* [nfde] run_group() has been there */
	VEC(uint32_t) todo;
};

static void run_fde(struct running *r, uint32_t fde)
{
	if (!r->v->pointers.open[fde])
		vec_push(r->v->a, &r->todo, fde);
	r->v->pointers.open[fde] = true;
}

static void run_group(struct running *r, uint32_t fde)
{
	uint32_t g = verify_group(r->v, fde);

	for (uint32_t i = r->whole[g] ? 0 : r->first[g]; i; i = r->member[i - 1])
		run_fde(r, i - 1);
	r->whole[g] = true;
}

/* It leaves the function with the frame of its entry.  A function that never changes its frame
 * could have a jump table, too. */
static bool is_tail_jump(const struct verify *v, struct vcursor *at, const struct vref *r,
			 const bool *has_table)
{
	return !has_table[verify_group(v, r->fde)] &&
	       vstates_is_entry(v->states, vcfi_state(at, r->addr));
}

static void collect_ways(struct running *r)
{
	struct verify *v = r->v;
	uint32_t n = v->ocfi.nfde;
	bool *has_table = arena_array(v->a, n, sizeof(*has_table));
	struct vcursor at = { .cfi = &v->ocfi, .fde = NO_FDE };

	r->jumps = arena_array(v->a, n, sizeof(*r->jumps));
	r->head = arena_array(v->a, n, sizeof(*r->head));
	r->next = arena_array(v->a, v->refs.all.n, sizeof(*r->next));
	r->first = arena_array(v->a, n, sizeof(*r->first));
	r->member = arena_array(v->a, n, sizeof(*r->member));
	r->entered = arena_array(v->a, n, sizeof(*r->entered));
	r->whole = arena_array(v->a, n, sizeof(*r->whole));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = verify_group(v, i);

		has_table[g] |= v->walk.has_table[i];
		r->entered[g] |= !v->ocfi.fragment[i];
		r->member[i] = r->first[g];
		r->first[g] = i + 1;
	}
	for (uint32_t i = 0; i < v->refs.all.n; i++) {
		const struct vref *ref = &v->refs.all.v[i];

		if (ref->kind == REF_JUMP && ref->fde != NO_FDE &&
		    !is_tail_jump(v, &at, ref, has_table))
			r->jumps[ref->fde] = true;
		if (ref->kind == REF_BRANCH && ref->fde != NO_FDE) {
			r->next[i] = r->head[ref->fde];
			r->head[ref->fde] = i + 1;
		} else if (ref->kind != REF_JUMP && !redirected(v, ref->to)) {
			verify_note_inner(v, ref->to);
		}
	}
}

/* Entered by something else than an entry jump, or left by an image to original code. */
static void begin(struct running *r)
{
	struct verify *v = r->v;

	for (uint32_t i = 0; i < v->ocfi.nfde; i++) {
		uint32_t g = verify_group(v, i);
		bool open = v->pointers.open[i] || !r->entered[g] ||
			    (!v->ocfi.fragment[i] && !verify_has_entry(v, v->ocfi.fde[i].addr));

		v->pointers.open[i] = false;
		if (open)
			run_fde(r, i);
		if (r->jumps[i] && !v->flow.followed[g])
			run_group(r, i);
	}
	for (uint32_t i = 0; i < v->flow.stays.n; i++)
		run_group(r, v->flow.stays.v[i]);
}

/* From now on open[] says of every FDE whether its original code may run. */
static void spread(struct verify *v)
{
	struct running r = { .v = v };

	collect_ways(&r);
	begin(&r);
	while (r.todo.n) {
		uint32_t fde = r.todo.v[--r.todo.n];

		for (uint32_t i = r.head[fde]; i; i = r.next[i - 1])
			run_fde(&r, vcfi_find(&v->ocfi, v->refs.all.v[i - 1].to));
		if (r.jumps[fde])
			run_group(&r, fde);
	}
}

static int check_code(struct verify *v)
{
	verify_sort_addrs(v->pointers.leas.v, v->pointers.leas.n);
	spread(v);
	for (uint32_t i = 0; i < v->refs.all.n; i++) {
		const struct vref *r = &v->refs.all.v[i];

		if (r->kind == REF_BRANCH || r->kind == REF_JUMP || !redirected(v, r->to))
			continue;
		if (r->kind != REF_LEA || r->fde == NO_FDE ||
		    !verify_has_addr(v->pointers.leas.v, v->pointers.leas.n, r->addr))
			return still_held(v, "the instruction at", r->addr, r->to);
		if (v->pointers.open[r->fde])
			return refuse(v,
				      "the original instruction at 0x%llx may still run: it "
				      "forms 0x%llx, "
				      "while pointers to that lead to 0x%llx",
				      ULL(r->addr), ULL(r->to), ULL(redirected(v, r->to)));
	}
	return 0;
}

int verify_stalepointers(struct verify *v)
{
	if (v->pointers.redirects.n == 0)
		return 0;
	if (verify_each_holder(v, check_holder, NULL) < 0 || check_code(v) < 0)
		return -1;
	return check_data(v);
}
