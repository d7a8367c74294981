/* coverage.c - new text is images, padding that runs nothing, and what counts
 *
 * The map says where it is.  Nothing leads to padding, so it only must be dead: NOPs and int3.
 * Images do not overlap (lib/blockmap.c); each is shown by itself (code.c).
 *
 * Tested by tests/unit/verify/test_code.c, test_counting.c and tests/verify/mutate.c.
 */
#include "verify/lookup.h"

/* Bytes of new text that no image covers: nothing leads there, so they only must be dead. */
static int check_padding(struct verify *v, new_vaddr from, new_vaddr to)
{
	struct bytes code = image_at(&v->gen, from, to - from);
	struct insn insn;
	vaddr target;

	for (uint64_t off = 0; off < code.n; off += insn.len) {
		if (code.p[off] == 0xcc)
			insn.len = 1;
		else if (!insn_decode(bytes_at(code, off, code.n - off), from + off, &insn,
				      &target) || insn.kind != INSN_NOP)
			return refuse(v, "new text at 0x%llx is neither an image nor padding",
				      ULL(from + off));
	}
	return 0;
}

static int check_coverage(struct verify *v, const Elf64_Phdr *p)
{
	new_vaddr at = p->p_vaddr, end = p->p_vaddr + p->p_filesz;
	bool starts = v->counting.start_end > at && v->counting.start_end <= end;

	if (!(p->p_flags & PF_X))
		return 0;
	for (uint32_t i = 0; i < v->map.nblock; i++) {
		new_vaddr b = v->map.gen_base + v->map.block[i].gen;

		if (b < p->p_vaddr || b >= end)
			continue;
		if (check_padding(v, at, b) < 0)
			return -1;
		at = b + v->map.block[i].gen_size;
	}
	if (starts) {			/* counting.c: behind all images */
		if (v->counting.start < at)
			return refuse(v, "what runs first, at 0x%llx, is in an image",
				      ULL(v->counting.start));
		if (check_padding(v, at, v->counting.start) < 0)
			return -1;
		at = v->counting.start_end;
	}
	return check_padding(v, at, end);
}

/* What the map says about where text is: samples are taken back to the original by it. */
static int check_map_header(struct verify *v)
{
	uint32_t n = 0;
	bool text = false;

	for (const Elf64_Phdr *p = v->gen.ph; p < v->gen.ph + v->gen.nph; p++) {
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (n == v->map.nseg || v->map.seg[n].vaddr != p->p_vaddr ||
		    v->map.seg[n].offset != p->p_offset || v->map.seg[n].size != p->p_filesz)
			return refuse(v,
				      "the map does not list the executable segment at 0x%llx",
				      ULL(p->p_vaddr));
		n++;
		if (verify_is_fresh(v, p->p_vaddr) && v->map.gen_base >= p->p_vaddr &&
		    v->map.gen_base - p->p_vaddr + v->map.hot_size + v->map.fluff_size <=
			    p->p_filesz)
			text = true;
	}
	if (n != v->map.nseg || !text)
		return refuse(v,
			      "the map's new text is not in an executable segment of its list");
	return 0;
}

int verify_coverage(struct verify *v)
{
	if (check_map_header(v) < 0)
		return -1;
	for (uint32_t i = 0; i < v->file.nfresh; i++)
		if (check_coverage(v, v->file.fresh[i]) < 0)
			return -1;
	return 0;
}
