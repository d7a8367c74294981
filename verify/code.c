/* code.c - each image does what its original block does, and leads where that leads
 *
 * The map claims that a block is straight-line code: calls may stand in it, other transfers
 * only as its last instruction.  Whether the block could have been longer does not matter.
 * Control enters images at their first byte only, or by returning from a call: every branch,
 * table entry, landing pad and entry jump is shown to lead to a first byte, and the program has
 * no other addresses of new text.
 *
 * Side by side, every instruction must have the same bytes but for the field that depends on
 * its place.  That field must mean the same absolute address, or the base of a claimed table
 * (which is noted for dataflow.c).  Four differences are allowed: NOPs at the end of the
 * original may be missing; a call of a stub of the linkage table, or a jump to it, may go
 * through the stub's slot; a load without a displacement may have one (shift.c), and a guard
 * in front (guards.c); and prefixes that mean nothing may stand in front of what cannot fault.
 *
 * WAYS OUT   Each way of the original (taken, fall-through) has exactly one way in the image,
 *            and verify_leads() says whether it arrives at the same place.  A way that runs off
 *            the end of the image, perhaps over NOPs, arrives at the byte behind it, so an
 *            image must begin there.  Behind the last instruction at most one jump is allowed.
 *            Behind `loop` and its kin, which reach 127 bytes only, there may be a second one
 *            for the taken way:
 *                loop L1;  jmp fall;  L1: jmp taken
 *            where fall may also be what stands behind the jump to taken.
 *
 * COUNTERS   In a counting generation (counting.c) counters may stand where the flags that they
 *            change are dead (flagsdead.c): in front of any instruction, on each way out, a
 *            branch around the one on the taken way,
 *                jncc L1;  incq COUNTER;  jmp taken;  L1:
 *            and behind a computed jump, where a new jump table leads to:
 *                incq COUNTER;  jmp entry
 *
 * Tested by tests/unit/verify/test_code.c, and by tests/verify/mutate.c with damaged opcodes,
 * operands, targets, conditions and blocks.
 */
#include <stdlib.h>

#include "verify/effect.h"
#include "verify/flagsdead.h"
#include "verify/lookup.h"
#include "verify/tableentries.h"

enum { JMP_SHORT = 0xeb, JMP_NEAR = 0xe9, JCC_SHORT = 0x70, JCC_NEAR = 0x80, ESCAPE = 0x0f,
       CALL_SLOT = 0x15, JMP_SLOT = 0x25 };	/* these two behind 0xff */

struct side {
	struct bytes code;	/* from `addr` to the end of the block */
	vaddr addr;
};

struct match {
	struct verify *v;
	const struct blockmap_block *b;
	struct side o, g;
	vaddr o_start;
	uint32_t fde;		/* of the original */
	struct vpair rows;
	/* original instruction at hand, its bytes, its field's target */
	struct insn insn;
	const uint8_t *bytes;
	vaddr target;
	bool shifted;		/* the block is an instruction whose image is longer */
	bool falls;		/* as in struct vtableuses */
};

static int doubt(struct match *m, const char *why)
{
	return refuse(m->v, "instruction at 0x%llx, image at 0x%llx: %s", ULL(m->o.addr),
		      ULL(m->g.addr), why);
}

static void advance(struct side *s, uint32_t n)
{
	s->code = bytes_at(s->code, n, s->code.n - n);
	s->addr += n;
}

static int32_t field32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void note_former(struct match *m, const struct blockmap_table *t)
{
	struct vformer f = { m->o.addr, m->fde, (uint32_t)(t - m->v->map.table) };

	vec_push(m->v->a, &m->v->uses.formers, f);
}

/* True when all bytes of the instruction but `n` at `off` are the same in the image. */
static bool same_but(const struct match *m, uint32_t off, uint32_t n)
{
	const uint8_t *o = m->bytes, *g = m->g.code.p;
	uint32_t len = m->insn.len;

	return m->g.code.n >= len && memcmp(o, g, off) == 0 &&
	       memcmp(o + off + n, g + off + n, len - off - n) == 0;
}

/* `lea T(%rip), reg` (REL32). */
static bool is_lea(const struct match *m)
{
	return m->insn.kind == INSN_PLAIN && m->insn.field == 3 && m->insn.len == 7 &&
	       (m->bytes[0] == 0x48 || m->bytes[0] == 0x4c) && m->bytes[1] == 0x8d;
}

/* A changed absolute address: `jmp *T(,idx,8)` or `mov T(,idx,8), reg` of a claimed table.
 * Both end in ModRM (rm = 4), SIB (scale 8, no base) and disp32; dataflow.c looks closer. */
static bool is_absolute_table(struct match *m)
{
	uint32_t len = m->insn.len;

	if (len < 7 || m->insn.field || !same_but(m, len - 4, 4))
		return false;
	const uint8_t *modrm = m->bytes + len - 6;
	if ((modrm[0] & 0xc7) != 0x04 || (modrm[1] & 0xc7) != 0xc5 ||
	    !(m->insn.kind == INSN_IJMP || (modrm[-1] == 0x8b && (modrm[-2] & 0xf8) == 0x48)))
		return false;
	const struct blockmap_table *t =
		verify_find_table(&m->v->map, (vaddr)(int64_t)field32(m->bytes + len - 4),
				  (vaddr)(int64_t)field32(m->g.code.p + len - 4),
				  BLOCKMAP_TABLE_ABS64);
	if (!t)
		return false;
	note_former(m, t);
	return true;
}

/* The image of a call goes to the same address, or where the entry jump there would have
 * led. */
static bool call_leads(const struct match *m, new_vaddr to)
{
	if (to == m->target) {
		verify_note_inner(m->v, to);
		return !verify_is_fresh(m->v, to);
	}
	return verify_has_entry(m->v, m->target) && verify_leads(m->v, m->target, to);
}

static bool is_own_middle(const struct match *m, vaddr addr)
{
	const struct vfde *fde = &m->v->ocfi.fde[m->fde];

	return addr != fde->addr && addr - fde->addr < fde->len;
}

static int match_field(struct match *m)
{
	new_vaddr to = insn_target(&m->insn, m->g.code.p, m->g.addr);

	if (m->insn.kind == INSN_CALL) {
		if (m->target == m->o.addr + m->insn.len)
			return doubt(
				m, "it calls the instruction behind it, to learn its address");
		if (is_own_middle(m, m->target))
			return doubt(m, "it calls code in the middle of its own function, "
					"which may look at what stands behind the call");
		if (!call_leads(m, to))
			return doubt(m, "the call leads somewhere else");
		return 0;
	}
	if (to == m->target)
		return verify_is_fresh(m->v, to) ? doubt(m, "its operand is in new text") : 0;
	const struct blockmap_table *t = is_lea(m) ?
		verify_find_table(&m->v->map, m->target, to, BLOCKMAP_TABLE_REL32) : NULL;
	if (t)
		note_former(m, t);
	else if (!is_lea(m) || !verify_redirect_lea(m->v, m->o.addr, m->target, to))
		return doubt(m, "its operand is at another address");
	return 0;
}

/* The image jumps or calls (`modrm` says which) through the slot that the stub jumps through
 * to which the original does so: the same way without its first step.  0 if not so; then
 * nothing is shown. */
static uint32_t slot_len(const struct match *m, uint8_t modrm)
{
	enum { GROUP5 = 0xff, LEN = 6 };
	struct bytes g = m->g.code;
	vaddr slot = verify_stub_slot(m->v, m->target);

	if (!slot || g.n < LEN || g.p[0] != GROUP5 || g.p[1] != modrm ||
	    m->g.addr + LEN + (vaddr)(int64_t)field32(g.p + 2) != slot)
		return 0;
	return LEN;
}

/* The image of the instruction has `glen` bytes: the rows of both. */
static int match_whole(struct match *m, uint32_t glen)
{
	uint32_t len = m->insn.len;

	if (verify_row(m->v, &m->rows, m->o.addr, len, m->g.addr, glen) < 0)
		return -1;
	advance(&m->o, len);
	advance(&m->g, glen);
	m->v->stats->instructions++;
	return 0;
}

/* Likewise, all that is to be shown of it. */
static int match_slot(struct match *m, uint32_t glen)
{
	if (m->insn.field != 1)
		return doubt(m, "a jump with prefixes has an image without");
	return match_whole(m, glen);
}

/* The image of a load reads at another displacement, perhaps behind a guard: noted for
 * dataflow.c.  Its length, or 0. */
static uint32_t shifted_len(struct match *m)
{
	struct vshifted s = { .addr = m->o.addr };
	uint32_t len = m->insn.kind != INSN_PLAIN || m->insn.field
			       ? 0
			       : vguard_read(m->v, (struct bytes){ m->bytes, m->insn.len },
					     m->g.code, m->g.addr, &s);

	if (len == 0 || s.shift == 0)
		return 0;
	vec_push(m->v->a, &m->v->uses.shifted, s);
	return len;
}

/* Prefixes that its image has in front, and which mean nothing there.  Of what may fault a
 * handler may know the length. */
static uint32_t front_len(const struct match *m)
{
	uint32_t n = 0, room = 0;
	struct effect e;

	if (m->g.code.n && *m->g.code.p == INSN_FRONT &&
	    effect_decode((struct bytes){ m->bytes, m->insn.len }, m->o.addr, &e) && !e.faults)
		room = insn_front_room(&m->insn, m->bytes);
	while (n < room && n < m->g.code.n && m->g.code.p[n] == INSN_FRONT)
		n++;
	return n;
}

/* The map of a counting generation has a line for each block; offsets in it mean nothing. */
static bool says_blocks_only(const struct match *m)
{
	return m->v->counting.segment != NULL;
}

/* An instruction that transfers control nowhere or keeps its bytes: everything but direct
 * jumps. */
static int match_plain(struct match *m)
{
	uint32_t len = m->insn.len;
	uint32_t slot = m->insn.kind == INSN_CALL ? slot_len(m, CALL_SLOT) : 0;

	if (slot && !(m->b->called && m->o.addr == m->o_start))
		return doubt(m, "its image is longer, and the map does not say so");
	if (slot)
		return match_slot(m, slot);
	uint32_t shifted = shifted_len(m), front = front_len(m);
	if ((shifted || front) && m->o.addr != m->o_start && !says_blocks_only(m))
		return doubt(m, "its image is longer, and the map does not say so");
	m->shifted = shifted || front;
	if (shifted)
		return match_whole(m, shifted);
	struct side whole = m->g;
	advance(&m->g, front);
	if (!same_but(m, m->insn.field, m->insn.field_size) && !is_absolute_table(m))
		return doubt(m, "the bytes differ");
	if (m->insn.field && match_field(m) < 0)
		return -1;
	m->g = whole;
	return match_whole(m, front + len);
}

/* Bytes in front of the opcode of the original branch at hand that its image begins with,
 * too. */
static uint32_t same_prefixes(const struct match *m)
{
	bool two = m->insn.kind == INSN_JCC && m->insn.field_size == 4;
	uint32_t n = m->insn.field - (two ? 2u : 1u);

	return n <= m->g.code.n && memcmp(m->bytes, m->g.code.p, n) == 0 ? n : 0;
}

/* Length of a direct jump `skip` bytes behind the start of the image's rest; 0: there is
 * none. */
static uint32_t read_jmp(const struct side *g, uint32_t skip, new_vaddr *to)
{
	struct bytes code = bytes_at(g->code, skip, g->code.n - skip);

	if (code.n >= 2 && code.p[0] == JMP_SHORT) {
		*to = g->addr + skip + 2 + (vaddr)(int64_t)(int8_t)code.p[1];
		return skip + 2;
	}
	if (code.n >= 5 && code.p[0] == JMP_NEAR) {
		*to = g->addr + skip + 5 + (vaddr)(int64_t)field32(code.p + 1);
		return skip + 5;
	}
	return 0;
}

/* NOPs that the image ends with, in front of an aligned image behind it. */
static int match_fill(struct match *m, vaddr dest, vaddr last, bool last_transfers)
{
	struct insn insn;
	vaddr target;

	while (m->g.code.n && insn_decode(m->g.code, m->g.addr, &insn, &target) &&
	       insn.kind == INSN_NOP) {
		if (verify_row_jump(m->v, &m->rows, last, last_transfers, dest, m->g.addr,
				    insn.len) < 0)
			return -1;
		advance(&m->g, insn.len);
	}
	return 0;
}

/* The original's instruction at `last` is a call after which nothing is run. */
static bool never_comes_back(struct verify *v, vaddr last)
{
	struct effect e;

	return effect_decode(verify_orig_code(v, last), last, &e) &&
	       (e.kind == INSN_CALL || e.kind == INSN_ICALL) && !verify_call_returns(v, &e);
}

/* Counters on the way to `dest`, reached from the instruction at `last`: on the way to an
 * instruction inside the block they are the same. */
static int match_counters(struct match *m, vaddr dest, vaddr last, bool last_transfers)
{
	uint32_t len;

	while ((len = verify_counter(m->v, m->g.code, m->g.addr)) != 0) {
		if (!verify_flags_dead(m->v, dest))
			return doubt(m, "what counts here changes flags that are read");
		if (verify_row_counter(m->v, &m->rows, last, last_transfers, dest, m->g.addr,
				       len) < 0)
			return -1;
		advance(&m->g, len);
	}
	return 0;
}

/* Everything left of the image is one way out, to `dest`: nothing, or NOPs, or one jump,
 * which may have the prefixes of the original's. */
static int match_way(struct match *m, vaddr dest, vaddr last, bool last_transfers)
{
	uint32_t len = 0;

	if (match_counters(m, dest, last, last_transfers) < 0 ||
	    match_fill(m, dest, last, last_transfers) < 0)
		return -1;
	new_vaddr to = m->g.addr;
	if (m->g.code.n) {
		len = read_jmp(&m->g, m->insn.kind == INSN_JMP ? same_prefixes(m) : 0, &to);
		if (len == 0 || len != m->g.code.n)
			return doubt(m, "the image goes on where its original has ended");
		if (verify_row_jump(m->v, &m->rows, last, last_transfers, dest, m->g.addr,
				    len) < 0)
			return -1;
	}
	if (!verify_may_lead(m->v, dest, to))
		return refuse(m->v, "block 0x%llx goes on to 0x%llx, its image to 0x%llx",
			      ULL(m->o_start), ULL(dest), ULL(to));
	if (!verify_is_fresh(m->v, to) && !never_comes_back(m->v, last))
		verify_note_inner(m->v, to);
	advance(&m->g, len);
	return 0;
}

/* Length of a conditional jump, as above. */
static uint32_t read_jcc(const struct side *g, uint32_t skip, uint8_t *condition, new_vaddr *to)
{
	struct bytes code = bytes_at(g->code, skip, g->code.n - skip);

	if (code.n >= 2 && (code.p[0] & 0xf0) == JCC_SHORT) {
		*condition = code.p[0] & 0x0f;
		*to = g->addr + skip + 2 + (vaddr)(int64_t)(int8_t)code.p[1];
		return skip + 2;
	}
	if (code.n >= 6 && code.p[0] == ESCAPE && (code.p[1] & 0xf0) == JCC_NEAR) {
		*condition = code.p[1] & 0x0f;
		*to = g->addr + skip + 6 + (vaddr)(int64_t)field32(code.p + 2);
		return skip + 6;
	}
	return 0;
}

/* A branch around what counts the taken way was read: the counter and the jump. */
static int match_counted_way(struct match *m, vaddr taken, vaddr last)
{
	new_vaddr to;

	if (match_counters(m, taken, last, true) < 0)
		return -1;
	uint32_t len = read_jmp(&m->g, 0, &to);

	if (len == 0 || !verify_leads(m->v, taken, to))
		return doubt(m, "the branch leads somewhere else");
	if (verify_row_jump(m->v, &m->rows, last, true, taken, m->g.addr, len) < 0)
		return -1;
	advance(&m->g, len);
	return 0;
}

/* Behind the branch at the start of the image's rest stand a counter and a jump, around which
 * it leads. */
static bool leads_around_counter(const struct match *m, uint32_t len, new_vaddr to)
{
	struct side g = m->g;
	new_vaddr unused;

	advance(&g, len);
	uint32_t counter = verify_counter(m->v, g.code, g.addr);

	if (counter == 0)
		return false;
	uint32_t end = read_jmp(&g, counter, &unused);
	return end != 0 && to == g.addr + end;
}

static int match_jcc(struct match *m)
{
	uint8_t want = m->bytes[m->insn.field - 1] & 0x0f, have = 0;
	vaddr fall = m->o.addr + m->insn.len, taken = m->target, last = m->o.addr;
	new_vaddr to = 0;
	uint32_t len = read_jcc(&m->g, same_prefixes(m), &have, &to);

	if (len == 0 || (have != want && have != (want ^ 1)))
		return doubt(m, "the condition of the branch is another one");
	bool counted = leads_around_counter(m, len, to);
	if (have != want && !counted) {
		fall = taken;
		taken = m->o.addr + m->insn.len;
	}
	if (counted && have == want)
		return doubt(m, "the branch leads around what counts when it is taken");
	if (!counted && !verify_leads(m->v, taken, to))
		return refuse(m->v,
			      "branch at 0x%llx leads to 0x%llx, its image at 0x%llx to 0x%llx",
			      ULL(m->o.addr), ULL(taken), ULL(m->g.addr), ULL(to));
	if (verify_row(m->v, &m->rows, m->o.addr, m->insn.len, m->g.addr, len) < 0)
		return -1;
	advance(&m->g, len);
	if (counted && match_counted_way(m, taken, last) < 0)
		return -1;
	return match_way(m, fall, last, true);
}

/* Behind a short branch to `to`: a jump for the fall-through and, at `to`, one for the taken
 * way.  The former may lead over the latter to what the rest of the image does. */
static int match_stub(struct match *m, new_vaddr to, vaddr fall, vaddr last)
{
	new_vaddr fall_to;
	uint32_t first = read_jmp(&m->g, 0, &fall_to);

	if (first == 0 || to != m->g.addr + first)
		return doubt(m, "the branch leads somewhere else");
	if (verify_row_jump(m->v, &m->rows, last, true, fall, m->g.addr, first) < 0)
		return -1;
	advance(&m->g, first);
	if (match_counted_way(m, m->target, last) < 0)
		return -1;
	if (fall_to == m->g.addr)
		return match_way(m, fall, last, true);
	if (m->g.code.n || !verify_leads(m->v, fall, fall_to))
		return doubt(m, "the way behind the branch leads somewhere else");
	return 0;
}

/* loop, jrcxz, xbegin: the same bytes with their own reach, or the two jumps behind. */
static int match_short_reach(struct match *m)
{
	vaddr fall = m->o.addr + m->insn.len, last = m->o.addr;
	uint32_t len = m->insn.len;
	new_vaddr to;

	if (!same_but(m, m->insn.field, m->insn.field_size))
		return doubt(m, "the bytes differ");
	to = insn_target(&m->insn, m->g.code.p, m->g.addr);
	if (verify_row(m->v, &m->rows, m->o.addr, len, m->g.addr, len) < 0)
		return -1;
	advance(&m->g, len);
	if (verify_leads(m->v, m->target, to))
		return match_way(m, fall, last, true);
	return match_stub(m, to, fall, last);
}

static int match_jmp(struct match *m)
{
	uint32_t slot = slot_len(m, JMP_SLOT);

	if (!slot)
		return match_way(m, m->target, m->o.addr, true);
	if (match_slot(m, slot) < 0)
		return -1;
	return m->g.code.n ? doubt(m, "the image goes on where its original has ended") : 0;
}

/* The original goes on with a return of one byte, and its FDE behind that: a callee that adds
 * one to its return address goes on there (__morestack of -fsplit-stack). */
static bool is_stepped_over(const struct match *m)
{
	const struct vfde *fde = &m->v->ocfi.fde[m->fde];
	struct bytes code = verify_orig_code(m->v, m->o.addr);
	enum { RETURN = 0xc3 };

	return m->o.addr - fde->addr < fde->len && code.n && *code.p == RETURN &&
	       verify_goes_on(m->v, m->fde, m->o.addr + 1);
}

/* Behind a computed jump: what counts the ways from its new table. */
static int match_stubs(struct match *m, vaddr last)
{
	while (m->g.code.n) {
		struct vstub stub = { .at = m->g.addr };
		uint32_t counter = verify_counter(m->v, m->g.code, m->g.addr);
		uint32_t len = counter ? read_jmp(&m->g, counter, &stub.to) : 0;

		if (len == 0)
			return doubt(m, "the image goes on where its original has ended");
		if (verify_row_counter(m->v, &m->rows, last, true, last, m->g.addr, len) < 0)
			return -1;
		vec_push(m->v->a, &m->v->counting.stubs, stub);
		advance(&m->g, len);
	}
	return 0;
}

/* The last transfer of a block.  Behind it the original may have NOPs that nothing reaches. */
static int match_end(struct match *m)
{
	vaddr last = m->o.addr;
	bool trap = m->insn.kind == INSN_TRAP;

	switch (m->insn.kind) {
	case INSN_JMP:
		return match_jmp(m);
	case INSN_JCC:
		return match_jcc(m);
	case INSN_LOOP: case INSN_XBEGIN:
		return match_short_reach(m);
	}
	if (match_plain(m) < 0)
		return -1;
	if (trap && verify_goes_on(m->v, m->fde, m->o.addr))
		return match_way(m, m->o.addr, last, true);
	return match_stubs(m, last);
}

static bool is_last(const struct insn *insn)
{
	return insn_ends_flow(insn) || insn->kind == INSN_JCC || insn->kind == INSN_LOOP ||
	       insn->kind == INSN_XBEGIN;
}

static int decode_next(struct match *m)
{
	if (!insn_decode(m->o.code, m->o.addr, &m->insn, &m->target))
		return doubt(m, "it does not decode");
	m->bytes = m->o.code.p;
	return 0;
}

/* What is left of the original does nothing: NOPs only. */
static int rest_is_padding(struct match *m)
{
	while (m->o.code.n) {
		if (decode_next(m) < 0)
			return -1;
		if (m->insn.kind != INSN_NOP)
			return doubt(m, "the image has ended, its original has not");
		advance(&m->o, m->insn.len);
	}
	return 0;
}

/* The image has this NOP, too.  One with the same bytes may be what is added in front of an
 * aligned place instead: that has the frame of its destination. */
static bool is_copied_nop(struct match *m)
{
	return m->g.code.n >= m->insn.len && same_but(m, 0, 0) &&
	       verify_same_frame(m->v, m->rows, m->o.addr, m->g.addr);
}

static int match_block(struct match *m)
{
	vaddr last = m->o.addr;
	bool last_is_call = false, last_is_int3 = false;

	if (m->b->called && (decode_next(m) < 0 || m->insn.kind != INSN_CALL ||
			     !slot_len(m, CALL_SLOT)))
		return doubt(m, "the map says that its image is longer");
	while (m->o.code.n) {
		if (decode_next(m) < 0 || match_counters(m, m->o.addr, m->o.addr, false) < 0)
			return -1;
		if (m->insn.kind == INSN_NOP && !is_copied_nop(m)) {
			if (last_is_int3)	/* handlers of traps read it */
				return doubt(m, "the NOP behind an int3 is missing");
			break;
		}
		if (m->shifted && !says_blocks_only(m))
			return doubt(m, "what is in front of it has a longer image, and the "
					"map does not say so");
		if (is_last(&m->insn)) {
			uint32_t len = m->insn.len;
			struct side behind = m->o;

			if (match_end(m) < 0)
				return -1;
			advance(&behind, len);
			m->o = behind;
			return rest_is_padding(m);
		}
		last_is_int3 = *m->bytes == 0xcc;
		last = m->o.addr;
		last_is_call = m->insn.kind == INSN_CALL || m->insn.kind == INSN_ICALL;
		if (match_plain(m) < 0)
			return -1;
		if (last_is_call && is_stepped_over(m))
			return doubt(m, "the call in front may come back behind this return");
	}
	m->falls = m->g.code.n == 0;
	/* What is added stands for being in front of the original's padding, or behind it. */
	struct match front = *m;
	if (rest_is_padding(m) < 0)
		return -1;
	if (match_way(&front, front.o.addr, last, last_is_call) == 0)
		return 0;
	return match_way(m, m->o.addr, last, last_is_call);
}

/* Where the block is in both files, and that it may have moved at all. */
static int open_block(struct match *m, const struct blockmap_block *b)
{
	struct verify *v = m->v;
	vaddr o = v->map.orig_base + b->orig;
	new_vaddr g = v->map.gen_base + b->gen;

	m->b = b;
	m->shifted = m->falls = false;
	m->o_start = o;
	m->fde = m->rows.orig.fde != NO_FDE && o - v->ocfi.fde[m->rows.orig.fde].addr <
		 v->ocfi.fde[m->rows.orig.fde].len ? m->rows.orig.fde : vcfi_find(&v->ocfi, o);
	m->o = (struct side){ bytes_at(verify_orig_code(v, o), 0, b->orig_size), o };
	m->g = (struct side){ image_at(&v->gen, g, b->gen_size), g };
	if (b->gen_size == 0)
		return refuse(v, "the image of block 0x%llx is empty", ULL(o));
	if (!m->o.code.p)
		return refuse(v, "block 0x%llx is not in the original's code", ULL(o));
	if (!m->g.code.p || !verify_is_fresh(v, g) || !image_is_exec(&v->gen, g))
		return refuse(v, "the image 0x%llx of block 0x%llx is not in new text", ULL(g),
			      ULL(o));
	if (m->fde == NO_FDE || b->orig_size > v->ocfi.fde[m->fde].len -
					       (o - v->ocfi.fde[m->fde].addr))
		return refuse(v, "block 0x%llx is not inside one function", ULL(o));
	const struct vfde *fde = &v->ocfi.fde[m->fde];
	const struct vlsda *lsda = vlsda_of(&v->ocfi, m->fde);
	if ((lsda && !lsda->understood) || v->ocfi.cie[fde->cie].signal_frame)
		return refuse(
			v,
			"block 0x%llx: its function 0x%llx has an exception table of unknown "
			"form or is a signal trampoline",
			ULL(o), ULL(fde->addr));
	if (!verify_is_start(v, o))
		return refuse(v, "block 0x%llx begins inside an instruction", ULL(o));
	return 0;
}

static int former_cmp(const void *x, const void *y)
{
	const struct vformer *a = x, *b = y;

	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	return (a->addr > b->addr) - (a->addr < b->addr);
}

int verify_code(struct verify *v)
{
	struct match m = {
		.v = v,
		.rows = { { .cfi = &v->ocfi, .fde = NO_FDE },
			  { .cfi = &v->gcfi, .fde = NO_FDE } },
	};

	if (v->counting.segment)
		verify_look_at_returns(v);
	v->uses.falls = arena_array(v->a, v->map.nblock, sizeof(*v->uses.falls));
	for (uint32_t i = 0; i < v->map.nblock; i++) {
		if (open_block(&m, &v->map.block[i]) < 0 || match_block(&m) < 0)
			return -1;
		v->uses.falls[i] = m.falls;
	}
	struct vformer *former = v->uses.formers.v;
	if (former)
		qsort(former, v->uses.formers.n, sizeof(*former), former_cmp);
	vshift_sort(v);
	return 0;
}
