/* redirected.c - a redirected pointer leads to the image of what it led to
 *
 * A generation may give a function's address another value, that of its image, where the
 * program keeps it: the addend of a relative relocation, a word that RELR relocates, a dynamic
 * symbol, the operand of a `lea` in new text.  Going there is going to the function.  But
 * programs compare pointers, so all places must agree; stalepointers.c shows that.
 *
 * FOUND      Whatever of the above has another value than in the original is a redirection of
 *            the old value X to the new one Y.  keptbytes.c leaves exactly those bytes out.
 * PLACE      X is the start of a function with an entry jump, and Y the image of its first
 *            block; different X have different Y.  (Labels: labelwords.c.)  If the byte in
 *            front of X is in no function, so is that in front of Y: an entry may stand where
 *            a return address belongs (makecontext()), and unwinders look up the byte in front
 *            of that.
 * ORDER      of pointers, and distances between them, may change (assumption A5 in verify.c).
 *            Only programs that are loaded at any address have redirected pointers: at fixed
 *            addresses numbers and addresses cannot be told apart.
 *
 * Tested by tests/unit/verify/test_redirected.c.
 */
#include <stdlib.h>

#include "verify/holders.h"
#include "verify/lookup.h"

static int redirect_cmp(const void *x, const void *y)
{
	const struct vredirect *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static void add_redirect(struct verify *v, vaddr from, new_vaddr to)
{
	vec_push(v->a, &v->pointers.redirects, ((struct vredirect){ from, to }));
}

/* Bytes of the original at `addr` that differ in the generation, and may. */
static void add_change(struct verify *v, vaddr addr, uint64_t n)
{
	const uint8_t *p = image_at(&v->orig, addr, n).p;

	vec_push(v->a, &v->pointers.changes,
		 ((struct vchange){ (uint64_t)(p - v->orig.file.p), addr, n }));
}

static int find(struct verify *v, const struct vholder *h, void *ctx)
{
	(void)ctx;
	if (h->kind == HOLDS_RELATIVE || h->kind == HOLDS_RELR) {
		struct rd r = verify_new_bytes(v, h->at, 8);
		new_vaddr now = rd_u64(&r);

		if (!r.bad && now != h->value) {
			add_redirect(v, h->value, now);
			add_change(v, h->at, 8);
		}
	} else if (h->kind == HOLDS_SYMBOL && h->symbol_type == STT_FUNC &&
		   h->section != SHN_UNDEF &&
		   h->at == v->pointers.dynamic_symbols + h->n * sizeof(Elf64_Sym)) {
		struct rd r = verify_new_bytes(v, h->at + offsetof(Elf64_Sym, st_value), 8);
		new_vaddr now = rd_u64(&r);

		if (!r.bad && now != h->value) {
			add_redirect(v, h->value, now);
			add_change(v, h->at + VERIFY_SYMBOL_FIELDS, VERIFY_SYMBOL_FIELDS_SIZE);
		}
	}
	return 0;
}

int verify_find_redirects(struct verify *v)
{
	if (v->orig.eh.e_type != ET_DYN)
		return 0;
	if (!image_dynamic(&v->orig, DT_SYMTAB, &v->pointers.dynamic_symbols))
		v->pointers.dynamic_symbols = UINT64_MAX / 2;
	return verify_each_holder(v, find, NULL);
}

bool verify_redirect_lea(struct verify *v, vaddr addr, vaddr from, new_vaddr to)
{
	if (v->orig.eh.e_type != ET_DYN || !verify_is_function(v, from) ||
	    !verify_is_fresh(v, to) || !verify_leads(v, from, to))
		return false;
	add_redirect(v, from, to);
	vec_push(v->a, &v->pointers.leas, addr);
	return true;
}

static int check_place(struct verify *v, const struct vredirect *r)
{
	if (!verify_is_function(v, r->from))
		return verify_label_place(v, r->from, r->to);
	if (!verify_has_entry(v, r->from))
		return refuse(v,
			      "pointers to 0x%llx lead to 0x%llx, but the function there has "
			      "no entry "
			      "jump",
			      ULL(r->from), ULL(r->to));
	if (!verify_is_fresh(v, r->to) || !verify_leads(v, r->from, r->to))
		return refuse(v, "pointers to 0x%llx lead to 0x%llx, which is no image of it",
			      ULL(r->from), ULL(r->to));
	if (vcfi_find(&v->ocfi, r->from - 1) == NO_FDE &&
	    vcfi_find(&v->gcfi, r->to - 1) != NO_FDE)
		return refuse(v, "pointers to 0x%llx lead to 0x%llx, which is right behind "
			      "another function", ULL(r->from), ULL(r->to));
	return 0;
}

static int check_places(struct verify *v)
{
	struct vredirect *r = v->pointers.redirects.v;
	uint32_t n = 0;

	qsort(r, v->pointers.redirects.n, sizeof(*r), redirect_cmp);
	for (uint32_t i = 0; i < v->pointers.redirects.n; i++) {
		if (n && r[n - 1].from == r[i].from && r[n - 1].to == r[i].to)
			continue;
		if (n && r[n - 1].from == r[i].from)
			return refuse(v, "pointers to 0x%llx lead to 0x%llx and to 0x%llx",
				      ULL(r[i].from), ULL(r[n - 1].to), ULL(r[i].to));
		r[n++] = r[i];
	}
	v->pointers.redirects.n = n;
	vaddr *to = arena_array(v->a, n, sizeof(*to));
	for (uint32_t i = 0; i < n; i++) {
		if (check_place(v, &r[i]) < 0)
			return -1;
		to[i] = r[i].to;
	}
	verify_sort_addrs(to, n);
	for (uint32_t i = 1; i < n; i++)
		if (to[i] == to[i - 1])
			return refuse(v, "pointers to different places lead to 0x%llx",
				      ULL(to[i]));
	for (uint32_t i = 0; i < v->pointers.changes.n; i++)
		if (vcfi_find(&v->ocfi, v->pointers.changes.v[i].addr) != NO_FDE)
			return refuse(v, "the pointer at 0x%llx is in code",
				      ULL(v->pointers.changes.v[i].addr));
	return 0;
}

int verify_redirected(struct verify *v)
{
	if (v->pointers.redirects.n == 0)
		return 0;
	v->pointers.labelled = arena_array(v->a, v->ocfi.nfde, sizeof(*v->pointers.labelled));
	return check_places(v);
}
