/* probenotes.c - each static probe point of a moved function has a note for its image
 *
 * Tracers find static probe points (SystemTap's) by notes.  The generation has all notes of the
 * original, byte for byte.  Behind them, in the same order, stands one more for each probe
 * whose function has moved.  It differs in the address only, which is that of an image.  The
 * image is of the block that the probe's NOP begins, and it begins with that NOP.  No probe is
 * where an entry jump is: a tracer would write into that.
 *
 * Tested by tests/unit/verify/test_probenotes.c.
 */
#include "verify/lookup.h"

enum { NOTE_PROBE = 3, DESC_MIN = 24 };

struct note {
	struct bytes all;
	uint64_t desc;		/* offset of the address in it */
	vaddr pc, base;		/* as written */
};

/* The next probe's note, false at the end or where they are broken. */
static bool next_note(struct rd *rd, struct note *n)
{
	while (rd_left(rd) >= sizeof(Elf64_Nhdr)) {
		const uint8_t *start = rd->p;
		uint64_t name = rd_u32(rd), desc = rd_u32(rd), type = rd_u32(rd);

		(void)rd_skip(rd, (name + 3) / 4 * 4);
		n->desc = (uint64_t)(rd->p - start);
		struct rd d = *rd;
		(void)rd_skip(rd, (desc + 3) / 4 * 4);
		if (rd->bad)
			return false;
		n->all = (struct bytes){ start, (uint64_t)(rd->p - start) };
		n->pc = rd_u64(&d);
		n->base = rd_u64(&d);
		if (type == NOTE_PROBE && desc >= DESC_MIN)
			return true;
	}
	return false;
}

/* [ocfi.nfde]: something of it is in the map. */
static bool *find_moved(struct verify *v)
{
	bool *moved = arena_array(v->a, v->ocfi.nfde, sizeof(*moved));

	for (uint32_t i = 0; i < v->map.nblock; i++) {
		uint32_t fde = vcfi_find(&v->ocfi, v->map.orig_base + v->map.block[i].orig);

		if (fde != NO_FDE)
			moved[fde] = true;
	}
	return moved;
}

/* The image of the NOP at pc; 0 after a refusal. */
static new_vaddr image_of_nop(struct verify *v, vaddr pc)
{
	const struct blockmap_block *b = verify_image_of(v, pc);
	struct bytes code = verify_orig_code(v, pc);
	struct insn insn;
	vaddr target;

	if (!b || verify_is_cut(v, pc) || verify_has_entry(v, pc) ||
	    !insn_decode(code, pc, &insn, &target) || insn.kind != INSN_NOP) {
		refuse(v, "the probe at 0x%llx has no image of its own", ULL(pc));
		return 0;
	}
	new_vaddr to = v->map.gen_base + b->gen;
	struct bytes image = image_at(&v->gen, to, insn.len);
	if (b->gen_size < insn.len || !image.p || memcmp(image.p, code.p, insn.len) != 0) {
		refuse(v, "the image 0x%llx of the probe at 0x%llx is another instruction",
		       ULL(to), ULL(pc));
		return 0;
	}
	return to;
}

/* Takes the note that `have` begins with. */
static int match_note(struct verify *v, const struct note *n, vaddr pc, struct bytes *have)
{
	new_vaddr to = image_of_nop(v, pc);
	uint64_t want = to - (pc - n->pc);
	struct bytes g = bytes_at(*have, 0, n->all.n);
	uint64_t behind = n->desc + sizeof(want);

	if (!to)
		return -1;
	if (!g.p || memcmp(g.p, n->all.p, n->desc) != 0 ||
	    memcmp(g.p + n->desc, &want, sizeof(want)) != 0 ||
	    memcmp(g.p + behind, n->all.p + behind, g.n - behind) != 0)
		return refuse(v, "the probe at 0x%llx has no note for its image at 0x%llx",
			      ULL(pc), ULL(to));
	*have = bytes_at(*have, g.n, have->n - g.n);
	return 0;
}

int verify_probenotes(struct verify *v)
{
	const struct section *o = image_section(&v->orig, ".note.stapsdt");
	const struct section *base = image_section(&v->orig, ".stapsdt.base");
	struct note n;

	if (!o || o->h.sh_type == SHT_NOBITS)
		return 0;
	struct bytes was = bytes_at(v->orig.file, o->h.sh_offset, o->h.sh_size), have = was;
	if (v->sections.probes)
		have = bytes_at(v->gen.file, v->gen.sh[v->sections.probes].h.sh_offset,
				v->gen.sh[v->sections.probes].h.sh_size);
	if (have.n < was.n || memcmp(was.p, have.p, was.n) != 0)
		return refuse(v, "the notes of probes are not the original's");
	have = bytes_at(have, was.n, have.n - was.n);
	const bool *moved = find_moved(v);
	struct rd rd = rd_of(was);
	while (next_note(&rd, &n)) {
		vaddr pc = n.pc + (base && n.base ? base->h.sh_addr - n.base : 0);
		uint32_t fde = vcfi_find(&v->ocfi, pc);

		if (fde != NO_FDE && moved[fde] && match_note(v, &n, pc, &have) < 0)
			return -1;
	}
	return have.n ? refuse(v, "notes of probes that the original does not have") : 0;
}
