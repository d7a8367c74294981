/* pieces.c - decodes the code that FDEs cover, and finds the parent of each fragment
 *
 * GCC moves the unlikely part of a function to a `.cold` fragment with an FDE of its own.
 * Stripped files do not name them, but their unwind rows do: a function begins with CFA = rsp +
 * 8 because it was called, a fragment begins in the middle of a frame.  A fragment belongs to
 * the one function whose jumps reach it.  A fragment that nobody or several functions reach
 * stays where it is; jumps to it keep their original target, which is intact.  Landing pads
 * count as jumps.
 *
 * Tested by tests/unit/postmorph/test_analyze.c.
 */
#include <string.h>

#include "lib/err.h"
#include "postmorph/pieces.h"
#include "postmorph/ir/landing.h"

enum {
	NOP1 = 0x90,
	CALL_DISTANCE = 32,	/* bytes between calls, hardly less; reserves room, chosen */
	SOME_PIECES = 256, SOME_BYTES = 1 << 17,	/* decoded together; chosen */
};

static bool entered_by_call(const struct cfi *cfi, uint32_t fde, vaddr addr)
{
	return cfi_depth_in(cfi, fde, addr) == 8;
}

/* GCC puts a one-byte nop in front of a fragment that begins with a landing pad. */
static bool is_fragment(const struct prog *prog, uint32_t i, struct bytes code)
{
	const struct fde *fde = &prog->cfi.fde[i];

	return !entered_by_call(&prog->cfi, i, fde->addr) ||
	       (code.n > 1 && code.p[0] == NOP1 &&
		!entered_by_call(&prog->cfi, i, fde->addr + 1));
}

static void note_jump(struct text *t, const struct piece *p, vaddr target)
{
	if (target - p->addr >= p->size)
		vec_push(t->scratch, &t->jumps,
			 ((struct text_jump){ (uint32_t)(p - t->piece), target }));
}

/* A direct branch: what it reaches is a block boundary, in whatever piece it lies. */
static void mark_branch(struct text *t, struct piece *p, const struct insn *insn)
{
	vaddr addr = prog_insn_addr(t->prog, insn);
	vaddr target = insn_target(insn, prog_insn_bytes(t->prog, insn), addr);

	if (insn->kind == INSN_CALL && target == addr + insn->len)
		piece_skip(p, SKIP_CALL_NEXT);
	else if (insn->kind == INSN_CALL && target != p->addr && target - p->addr < p->size)
		piece_skip(p, SKIP_CALL_INSIDE);	/* perhaps over data, to learn where */
	if (insn->kind != INSN_CALL && target == 0)	/* a weak symbol that nobody defines */
		piece_skip(p, SKIP_NOWHERE);
	if (text_holds(t, target))
		*text_mark(t, target) |= MARK_BRANCH;
	if (insn->kind != INSN_CALL)
		note_jump(t, p, target);
	else if (text_holds(t, target))
		vec_push(t->early, &t->calls,
			 ((struct text_call){ (uint32_t)(p - t->piece),
					      (uint32_t)(target - t->prog->base) }));
}

/* What noreturn.c asks of every instruction. */
static void note_way(struct text *t, struct piece *p, const struct insn *insn)
{
	p->returns |= insn->kind == INSN_RET || insn->kind == INSN_IJMP;
	if (insn->kind == INSN_ICALL && insn->field) {
		vaddr addr = prog_insn_addr(t->prog, insn);
		vaddr slot = insn_target(insn, prog_insn_bytes(t->prog, insn), addr);

		vec_push(t->early, &t->slot_calls,
			 ((struct text_jump){ (uint32_t)(p - t->piece), slot }));
	}
}

/* A row that begins inside an instruction describes something else than this code. */
static bool rows_begin_instructions(const struct text *t, const struct piece *p)
{
	const struct cfi *cfi = &t->prog->cfi;
	const struct fde *fde = &cfi->fde[p - t->piece];

	for (uint32_t i = fde->row; i < fde->row + fde->nrow; i++)
		if (!(*text_mark(t, cfi->rows[i].addr) & MARK_INSN))
			return false;
	return true;
}

/* Where code goes that is not all instructions: decoded again at the byte behind what is
 * none. */
static void note_jumps(struct text *t, const struct piece *p, struct bytes code)
{
	struct insn insn;
	vaddr target;

	for (uint64_t off = 0; off < code.n; ) {
		if (!insn_decode(bytes_at(code, off, code.n - off), p->addr + off, &insn,
				 &target)) {
			off++;
			continue;
		}
		if (insn_is_branch(&insn) && insn.kind != INSN_CALL)
			note_jump(t, p, target);
		off += insn.len;
	}
}

/* For who looks at all instructions again. */
static const struct short_insn *keep(struct arena *a, const struct insn_run *run)
{
	struct short_insn *kept = arena_array(a, run->n, sizeof(*kept));

	for (uint32_t i = 0; i < run->n; i++) {
		const struct insn *insn = &run->insn[i];

		kept[i] = (struct short_insn){ .len = insn->len & 0xf, .kind = insn->kind & 0xf,
					       .field = insn->field & 0xf,
					       .near = insn->field_size == 4,
					       .constants = insn->constants };
	}
	return kept;
}

/* A return of one byte right behind a call, and more code behind that: a callee that adds one
 * to its return address goes on there (__morestack of -fsplit-stack). */
static bool is_stepped_over(const struct insn_run *run, const struct insn *i)
{
	const struct insn *end = run->insn + run->n;

	if (i->kind != INSN_RET || i->len != 1 || i == run->insn ||
	    (i[-1].kind != INSN_CALL && i[-1].kind != INSN_ICALL))
		return false;
	do {
		i++;
	} while (i < end && i->kind == INSN_NOP);
	return i < end;
}

static void note_insns(struct text *t, struct piece *p, struct insn_run *run)
{
	uint32_t base = (uint32_t)(p->addr - t->prog->base);
	uint8_t *mark = t->mark, flags = MARK_INSN;

	for (struct insn *i = run->insn, *end = i + run->n; i < end; i++) {
		i->off += base;
		mark[i->off] |= flags;
		flags = MARK_INSN;
		if (i->kind == INSN_PLAIN || i->kind == INSN_NOP)
			continue;
		if (i->kind == INSN_CALL || i->kind == INSN_ICALL)
			flags = MARK_INSN | MARK_RETURN;
		if (insn_is_branch(i))
			mark_branch(t, p, i);
		else
			note_way(t, p, i);
		if (is_stepped_over(run, i))
			piece_skip(p, SKIP_RETURN_BEHIND);
	}
}

static void note_piece(struct text *t, struct piece *p, struct insn_run *run)
{
	if (insn_run_end(run) < run->code.n) {
		piece_skip(p, SKIP_DECODE);
		note_jumps(t, p, run->code);
		return;
	}
	p->ninsn = run->n;
	p->insn = keep(t->scratch, run);
	note_insns(t, p, run);
	if (!rows_begin_instructions(t, p))
		piece_skip(p, SKIP_UNWIND_FORM);
}

static void classify(const struct prog *prog, uint32_t i, struct piece *p, struct bytes code)
{
	const struct fde *fde = &prog->cfi.fde[i];
	const struct section *section = image_section_at(&prog->img, fde->addr);

	if (section && strncmp(section->name, ".plt", 4) == 0)
		piece_skip(p, SKIP_PLT);
	if (prog->cfi.cie[fde->cie].signal_frame)
		piece_skip(p, SKIP_SIGNAL_FRAME);
	if (!fde->understood || !prog->cfi.cie[fde->cie].understood)
		piece_skip(p, SKIP_UNWIND_FORM);
	else
		p->fragment = p->skip == SKIP_NONE && is_fragment(prog, i, code);
}

/* Of eight bytes of marks: some say branch, but not instruction. */
static bool has_mid_insn(uint64_t marks)
{
	const uint64_t each = UINT64_MAX / UINT8_MAX;

	return (marks / MARK_BRANCH & ~(marks / MARK_INSN) & each) != 0;
}

/* A branch is known to arrive in the middle of an instruction. */
static void skip_mid_insn(struct text *t, struct piece *p)
{
	const uint8_t *mark = text_mark(t, p->addr);
	uint32_t left = p->size;

	for (uint64_t marks; left > 0; mark += sizeof(marks)) {
		uint32_t n = left < sizeof(marks) ? left : sizeof(marks);

		marks = 0;
		memcpy(&marks, mark, n);
		if (has_mid_insn(marks))
			piece_skip(p, SKIP_MID_INSN);
		left -= n;
	}
}

/* .p == NULL when the FDE does not lie in a section of code: other things that are loaded as
 * executable are data of the dynamic linker's, which no entry jump may overwrite. */
static struct bytes piece_code(const struct prog *prog, uint32_t i)
{
	const struct fde *fde = &prog->cfi.fde[i];
	const struct section *s = image_section_at(&prog->img, fde->addr);

	if (!image_is_exec(&prog->img, fde->addr) || !s || !(s->h.sh_flags & SHF_EXECINSTR) ||
	    fde->len > s->h.sh_addr + s->h.sh_size - fde->addr)
		return (struct bytes){ NULL, 0 };
	return image_at(&prog->img, fde->addr, fde->len);
}

static void make_piece(struct text *t, uint32_t i, struct insn_run *run)
{
	const struct fde *fde = &t->prog->cfi.fde[i];
	struct piece *p = &t->piece[i];

	*p = (struct piece){
		.addr = fde->addr, .size = (uint32_t)fde->len, .parent = i, .kin = i
	};
	if (!run->code.p) {
		piece_skip(p, SKIP_DECODE);
		return;
	}
	classify(t->prog, i, p, run->code);
	note_piece(t, p, run);
	landing_decode(t, i);
}

/* Pieces from `i` on, as many as fit together into the cache; the first one behind them. */
static uint32_t make_some(struct text *t, uint32_t i, struct insn *room)
{
	struct insn_run run[SOME_PIECES];
	uint64_t bytes = 0;
	uint32_t n = 0;

	for (; n < SOME_PIECES && i + n < t->npiece && bytes < SOME_BYTES; n++) {
		run[n] = (struct insn_run){ .code = piece_code(t->prog, i + n) };
		bytes += run[n].code.n;
	}
	insn_decode_runs(run, n, room);
	for (uint32_t k = 0; k < n; k++)
		make_piece(t, i + k, &run[k]);
	return i + n;
}

int pieces_decode(struct text *t, struct err *err)
{
	const struct prog *prog = t->prog;
	uint64_t longest = 0;

	for (uint32_t i = 0; i < prog->cfi.nfde; i++) {
		if (prog->cfi.fde[i].len > UINT32_MAX)
			return err_set(err, ERR_INPUT, "a function of more than 4 GiB");
		if (prog->cfi.fde[i].len > longest && piece_code(prog, i).p)
			longest = prog->cfi.fde[i].len;
	}
	struct insn *room = arena_array(t->scratch, longest + SOME_BYTES, sizeof(*room));
	vec_reserve(t->early, &t->calls, (uint32_t)(t->span / CALL_DISTANCE));
	t->npiece = prog->cfi.nfde;
	t->piece = arena_array(t->scratch, t->npiece, sizeof(*t->piece));
	for (uint32_t i = 0; i < t->npiece; )
		i = make_some(t, i, room);
	for (uint32_t i = 0; i < t->npiece; i++)
		if (piece_code(prog, i).p)
			skip_mid_insn(t, &t->piece[i]);
	return 0;
}

/* One jump from piece `from` into fragment `to`, seen from the owner of `from`. */
struct arrival {
	uint32_t from, to;
};

/* parent[] of a fragment: UINT32_MAX unknown, SHARED when several functions reach it. */
static const uint32_t SHARED = UINT32_MAX - 1;

/* Owners spread along jumps until nothing changes: a fragment may be reached through
 * another. */
static void spread_owners(const struct text *t, const struct arrival *arrival,
			  uint32_t narrival, uint32_t *owner)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < narrival; i++) {
			uint32_t from = arrival[i].from, *to = &owner[arrival[i].to];
			uint32_t o = t->piece[from].fragment ? owner[from] : from;

			if (o == UINT32_MAX || *to == o || *to == SHARED)
				continue;
			*to = *to == UINT32_MAX ? o : SHARED;
			changed = true;
		}
	}
}

/* Only parts of one function jump into each other's middle, or to a fragment's start. */
static void make_kin(struct text *t, uint32_t from, uint32_t to, vaddr target)
{
	const struct piece *p = &t->piece[to];

	if (p->skip == SKIP_PLT || (target == p->addr && !p->fragment))
		return;
	while (t->piece[from].kin != from)
		from = t->piece[from].kin = t->piece[t->piece[from].kin].kin;
	while (t->piece[to].kin != to)
		to = t->piece[to].kin = t->piece[t->piece[to].kin].kin;
	t->piece[to].kin = from;
}

void pieces_join(struct text *t)
{
	VEC(struct arrival) arrivals = { 0 };
	uint32_t *owner = arena_array(t->scratch, t->npiece, sizeof(*owner));

	for (uint32_t i = 0; i < t->npiece; i++)
		owner[i] = UINT32_MAX;
	for (uint32_t i = 0; i < t->jumps.n; i++) {
		const struct text_jump *jump = &t->jumps.v[i];
		uint32_t to = text_piece(t, jump->target);

		if (to != UINT32_MAX)
			make_kin(t, jump->piece, to, jump->target);
		if (to != UINT32_MAX && t->piece[to].fragment)
			vec_push(t->scratch, &arrivals, ((struct arrival){ jump->piece, to }));
	}
	spread_owners(t, arrivals.v, arrivals.n, owner);
	for (uint32_t i = 0; i < t->npiece; i++) {
		if (!t->piece[i].fragment)
			continue;
		if (owner[i] < t->npiece)
			t->piece[i].parent = owner[i];
		else
			piece_skip(&t->piece[i], SKIP_FRAGMENT);
	}
}
