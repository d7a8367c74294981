/* redirected.c - pointers to functions that lead to images
 *
 * A generation may give a function's address another value, that of its image, where the
 * program keeps it: the addend of a relative relocation, a word that RELR relocates, a dynamic
 * symbol, the operand of a `lea` in new text.  Going there is going to the function.  But
 * programs compare pointers, so all places must agree: no running code may get at the old value
 * any more.
 *
 * FOUND      Whatever of the above has another value than in the original is a redirection of
 *            the old value X to the new one Y. headers.c leaves exactly those bytes out.
 * PLACE      X is the start of a function with an entry jump, Y the image of its first block;
 *            different X have different Y.  (Labels: labelwords.c.)
 * ALL        Every relocation, symbol and instruction that yields X yields Y in the generation.
 *            Anything else that yields X, or may, is a refusal: other kinds of relocations, the
 *            entry point, instructions of code between FDEs, large constants that are distances
 *            from the GOT, 32-bit words of data that are distances from where they stand or
 *            from the table that they are in.
 * SEALED     An instruction of the original that forms X must not run any more. So its function
 *            must be one whose original code is entered by the entry jumps only: no address
 *            inside it is kept or formed anywhere, no branch from another function and no image
 *            leads there, and its indirect jumps leave it or go by new tables only.
 * ORDER      of pointers, and distances between them, may change; no program of meaning depends
 *            on them. Only programs that are loaded at any address are judged: at fixed ones
 *            numbers and addresses cannot be told apart.
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
