/* tablescan.c - what stands at an address that may be a jump table's
 *
 * Words are read on from the address for as long as they lead where a case of a switch may lie:
 *   OWN      an instruction of the function or its fragments
 *   KIN      an instruction of a piece that jumps tie to the function: a fragment that looks like a
 *            function, because its frame is gone or there never was one
 *   START    of a piece that nothing calls or points to: such a fragment, entered by the table
 *   END      exactly behind one of these (Clang's filler for cases that cannot be)
 * The run may be longer than the table, when another one stands behind it: that does no harm, for
 * an entry of a new table leads to the image of wherever the original's leads.
 *
 * CLOSED   The run is never shorter than the table, if it is certain that its first other word is
 *          no entry.  A word that leads to no instruction at all is none.  One that leads into some
 *          other function is none if an instruction of the program forms its address: there
 *          begins something else.  Otherwise it remains in doubt.
 *          The same at the other end: a word before the table that would be an entry hints at an
 *          index that may be negative.
 *
 * A closed run bounds the index: a switch takes its cases from one table without gaps, and each
 * case lies in its own function.  A run of the program with an index outside has jumped to
 * what is no case, and no compiler makes that.  A word that leads where a case may lie never ends a
 * run, whatever refers to it: constants look like its address by chance.
 *
 * A comparison that admits more entries than the run has tells what the words in doubt are: cases in
 * parts of the function that were not recognised as such.
 */
#include "lib/blockmap.h"
#include "postmorph/analyze.h"
#include "postmorph/tablescan.h"

enum { MAX_RUN = 1 << 16 };

enum word { NO_CODE, FOREIGN, OWN, KIN, START, END };

bool tablescan_is_filler(const struct text *t, const struct fn *fn, vaddr addr)
{
	uint32_t home = fn->range[0].fde, p = text_piece(t, addr - 1);

	return p != UINT32_MAX && addr == t->piece[p].addr + t->piece[p].size &&
	       (t->prog->fn_of_fde[p] == t->piece[home].fn || text_kin(t, p) == text_kin(t, home));
}

static enum word classify(const struct text *t, const struct fn *fn, vaddr addr)
{
	uint32_t home = fn->range[0].fde;

	if (tablescan_is_filler(t, fn, addr))
		return END;
	if (!text_holds(t, addr) || !(*text_mark(t, addr) & MARK_INSN))
		return NO_CODE;
	uint32_t p = text_piece(t, addr);
	if (p == UINT32_MAX)
		return NO_CODE;
	if (t->prog->fn_of_fde[p] == t->piece[home].fn)
		return OWN;
	if (text_kin(t, p) == text_kin(t, home))
		return KIN;
	return addr == t->piece[p].addr && t->piece[p].skip != SKIP_PLT &&
	       !t->called[t->prog->fn_of_fde[p]] && !(*text_mark(t, addr) & MARK_HELD) ?
	       START : FOREIGN;
}

static vaddr read_word(struct rd *rd, vaddr table, uint32_t kind)
{
	return kind == BLOCKMAP_TABLE_REL32 ? table + (vaddr)(int64_t)rd_s32(rd) : rd_u64(rd);
}

bool tablescan_extend(const struct text *t, struct arena *a, const struct fn *fn, vaddr addr,
		      uint32_t kind, uint32_t nentry, struct tablescan *scan)
{
	uint64_t size = (uint64_t)tablescan_entry_size(kind) * nentry;
	struct bytes b = image_at(&t->prog->img, addr, size);
	struct rd rd = rd_of(b);

	if (nentry > MAX_RUN || !b.p || image_is_writable(&t->prog->img, addr + size - 1))
		return false;
	vaddr *target = arena_array(a, nentry, sizeof(*target));
	for (uint32_t i = 0; i < nentry; i++) {
		target[i] = read_word(&rd, addr, kind);
		if (classify(t, fn, target[i]) == NO_CODE)
			return false;
	}
	scan->target = target;
	scan->nentry = nentry;
	return true;
}

/* The word before the table would be an entry. */
static bool is_preceded(const struct text *t, const struct fn *fn, vaddr addr, uint32_t kind)
{
	uint32_t size = tablescan_entry_size(kind);
	struct bytes b = image_at(&t->prog->img, addr - size, size);
	struct rd rd = rd_of(b);

	return b.p && classify(t, fn, read_word(&rd, addr, kind)) >= OWN;
}

bool tablescan(const struct text *t, struct arena *a, const struct fn *fn, vaddr addr,
	       uint32_t kind, struct tablescan *out)
{
	const struct image *img = &t->prog->img;
	const struct section *s = image_section_at(img, addr);
	struct bytes b = image_rest(img, addr);
	uint32_t size = tablescan_entry_size(kind);
	VEC(vaddr) targets = { 0 };
	enum word word = NO_CODE;
	bool own = false;

	if (!s || image_is_writable(img, addr) || addr % size != 0)
		return false;
	if (b.n > s->h.sh_addr + s->h.sh_size - addr)
		b.n = s->h.sh_addr + s->h.sh_size - addr;
	struct rd rd = rd_of(b);
	while (rd_left(&rd) >= size && targets.n < MAX_RUN) {
		vaddr target = read_word(&rd, addr, kind);

		word = classify(t, fn, target);
		if (word < OWN)
			break;
		own |= word == OWN;
		vec_push(a, &targets, target);
	}
	if (!own)
		return false;
	vaddr end = addr + (vaddr)size * targets.n;
	*out = (struct tablescan){
		.target = targets.v, .nentry = targets.n,
		.closed = targets.n < MAX_RUN && (rd_left(&rd) < size || word == NO_CODE ||
						  text_object_begins(t, end)),
		.preceded = is_preceded(t, fn, addr, kind),
	};
	return true;
}
