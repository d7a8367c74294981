/* keptbytes.c - every other byte of the original's file is what and where it was
 *
 * BYTES      The original's whole file is compared, whether loaded or not, but for the holes
 *            that other parts answer for: header fields, the program header table and what it
 *            has grown over, dynamic entries, entry jumps, pointers that lead to images, and
 *            the build-id.
 * ONCE       A hole is in one segment at most: nobody meets it at an address by which it was
 *            not looked at.
 * STALE      Where a section has moved, its old bytes may still be.  They are as they were, or
 *            as they are now at the new place.
 *
 * Tested by tests/unit/verify/test_keptbytes.c, test_headers.c and test_front.c.
 */
#include <stdlib.h>

#include "verify/lookup.h"

enum { JUMP = 5 };

struct hole {			/* file bytes that may differ */
	uint64_t off, n;
};

static int hole_cmp(const void *x, const void *y)
{
	const struct hole *a = x, *b = y;

	return (a->off > b->off) - (a->off < b->off);
}

static uint32_t add_header_holes(const struct verify *v, struct hole *hole)
{
	static const struct hole field[] = {
		{ offsetof(Elf64_Ehdr, e_shoff), 8 },
		{ offsetof(Elf64_Ehdr, e_phnum), 2 },
		{ offsetof(Elf64_Ehdr, e_shentsize), 6 },	/* and e_shnum, e_shstrndx */
	};
	uint32_t n = 0;

	if (v->file.lift == 0) {
		n = sizeof(field) / sizeof(field[0]);
		memcpy(hole, field, sizeof(field));
		hole[n++] =
			(struct hole){ v->orig.eh.e_phoff, v->front.hi - v->orig.eh.e_phoff };
	}
	if (v->counting.segment &&
	    (v->file.lift == 0 || v->counting.leads_at >= sizeof(Elf64_Ehdr)))
		hole[n++] = (struct hole){ v->counting.leads_at, 8 };
	for (uint32_t i = 0; i < v->front.ndynamic; i++)
		hole[n++] = (struct hole){ v->front.dynamic[i], 8 };
	return n;
}

static int add_entry_holes(struct verify *v, struct hole *hole, uint32_t *n)
{
	for (uint32_t i = 0; i < v->map.nentry; i++) {
		vaddr addr = v->map.orig_base + v->map.entry[i];
		struct bytes b = verify_orig_code(v, addr);

		if (!bytes_at(b, 0, JUMP).p)
			return refuse(v, "entry 0x%llx is not in the original's code",
				      ULL(addr));
		hole[(*n)++] = (struct hole){ (uint64_t)(b.p - v->orig.file.p), JUMP };
	}
	return 0;
}

static int check_hole(struct verify *v, const struct hole *h)
{
	uint32_t nload = 0;

	for (const Elf64_Phdr *p = v->orig.ph; p < v->orig.ph + v->orig.nph; p++)
		nload += p->p_type == PT_LOAD && h->off + h->n > p->p_offset &&
			 h->off < p->p_offset + p->p_filesz;
	return nload < 2 ? 0
			 : refuse(v, "what may differ at file offset 0x%llx is loaded %u times",
				  ULL(h->off), nload);
}

static int compare_range(struct verify *v, uint64_t from, uint64_t to)
{
	const uint8_t *o = v->orig.file.p, *g = v->gen.file.p + v->file.lift;

	if (to <= from || memcmp(o + from, g + from, to - from) == 0)
		return 0;
	while (o[from] == g[from])
		from++;
	for (const Elf64_Phdr *p = v->orig.ph; p < v->orig.ph + v->orig.nph; p++)
		if (p->p_type == PT_LOAD && from - p->p_offset < p->p_filesz)
			return refuse(
				v,
				"the original's byte at 0x%llx was changed from %02x to %02x",
				ULL(p->p_vaddr + (from - p->p_offset)), o[from], g[from]);
	return refuse(v,
		      "the original's byte at file offset 0x%llx was changed from %02x to %02x",
		      ULL(from), o[from], g[from]);
}

/* Where a section was that has moved, bytes of it may still be: those behind the front, for
 * which front.c answers.  They are as they were, or as they are now at the new place. */
static int compare_stale(struct verify *v, const struct vchange *c)
{
	bool front = c->off >= v->front.lo && c->off < v->front.hi;
	uint64_t now = verify_new_off(v, c->off), skip = front ? v->front.hi - c->off : 0;

	if (now == c->off + v->file.lift || skip >= c->n)
		return 0;
	uint64_t off = c->off + skip, n = c->n - skip;
	struct bytes g = bytes_at(v->gen.file, off + v->file.lift, n);
	if (verify_same_bytes(g, bytes_at(v->orig.file, off, n)) ||
	    verify_same_bytes(g, bytes_at(v->gen.file, now + skip, n)))
		return 0;
	return refuse(v, "the original's byte at 0x%llx was changed, and it has moved",
		      ULL(c->addr + skip));
}

int verify_keptbytes(struct verify *v)
{
	enum { NHEADERS = 5, NBUILDID = 1 };
	uint64_t at = 0, end = v->orig.file.n;

	if (!bytes_at(v->gen.file, v->file.lift, end).p)
		return refuse(v, "the original's file is cut off");
	if (verify_find_redirects(v) < 0)
		return -1;
	const struct vchange *change = v->pointers.changes.v;
	uint32_t nchange = v->pointers.changes.n;
	struct hole *hole = arena_array(v->a, (size_t)v->map.nentry + nchange + NHEADERS +
					      NBUILDID + VERIFY_MAX_DYNAMIC, sizeof(*hole));
	uint32_t n = add_header_holes(v, hole);

	if (add_entry_holes(v, hole, &n) < 0)
		return -1;
	if (v->buildid.n && v->buildid.now == v->buildid.off + v->file.lift)
		hole[n++] = (struct hole){ v->buildid.off, v->buildid.n };
	for (uint32_t i = 0; i < nchange; i++) {
		if (compare_stale(v, &change[i]) < 0)
			return -1;
		hole[n++] = (struct hole){ change[i].off, change[i].n };
	}
	qsort(hole, n, sizeof(*hole), hole_cmp);
	for (uint32_t i = 0; i < n; i++) {
		if (check_hole(v, &hole[i]) < 0)
			return -1;
		if (hole[i].off + hole[i].n <= at)
			continue;
		if (compare_range(v, at, hole[i].off) < 0)
			return -1;
		at = hole[i].off + hole[i].n;
	}
	return compare_range(v, at, end);
}
