/* firstbytes.c - a function whose first bytes code looks at has no image
 *
 * An entry jump stands where the first instructions were, and an image is at another address
 * than its function.  Code that forms the address of a function to read or write memory by it,
 * to calculate another address, or to ask what lies above and below it, would see that.  So
 * such a function must be where it was.
 *
 * FORMED    by a lea, or a mov of a constant in a program linked to a fixed address.  A
 *           straight line of code is followed from there, past conditional branches and calls,
 *           as long as some register holds the address.
 * LOOKED AT An operand in memory that is addressed by such a register; arithmetic with it;
 *           a comparison with it whose result is used for more than equal or not; an operand
 *           in memory at the entry itself; a call, through the linkage table, of a function
 *           that looks at what it is given (verify_looks_at_arguments()).
 *
 * BOUNDED   Compilers move a bound: `pc >= f && pc < f + 30` forms f + 30 alone.  So a lea of
 *           the address of any byte in another function, or of the padding behind it, counts as
 *           looking at it, and so does a comparison with such a constant, or with an entry as
 *           a constant, whose result is used for more than equal or not.
 *
 * BETWEEN   Nor has anything an image that has a byte between two places of code whose
 *           addresses the code of one FDE forms, at most 64 KiB from each other, if of both
 *           the code asks what lies above or below, or how far, or rounds them (AND); or if
 *           both are arguments of one call, and one is in no FDE, but in an executable section
 *           or at its end.  The lower one counts from the start of its page if it is rounded.
 *
 * What placement.c asks of the ends of the code is found in the same way.
 *
 * Code of the large model adds a distance to its own address to find the GOT: an instruction
 * that forms its own address is left out.  What happens to the address once it is in memory or
 * with a callee is assumption A5 in verify.c.
 *
 * Tested by tests/unit/verify/test_placement.c.
 */
#include <stdlib.h>

#include "binary/decoder.h"
#include "verify/lookup.h"

enum { LINE = 32 };		/* instructions that are followed; chosen, not measured */
enum { CALL_WRITES = 0x0fc7 };	/* rax rcx rdx rsi rdi r8..r11 */
enum { PASSED_ANY = 0x03c6 };	/* and rcx r8 r9 */
enum { PASSED = 1 << 7 | 1 << 6 | 1 << 2 };	/* rdi rsi rdx */

struct seen {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(struct bytes code, struct seen *s)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), code.p, code.n, &s->in, s->o));
}

static uint16_t bit(ZydisRegister reg)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return full >= ZYDIS_REGISTER_RAX && full <= ZYDIS_REGISTER_R15 ?
	       (uint16_t)(1 << (full - ZYDIS_REGISTER_RAX)) : 0;
}

/* Registers in operands of the instruction itself that are read (or, written). */
static uint16_t operands(const struct seen *s, ZydisOperandActions action)
{
	uint16_t mask = 0;

	for (int i = 0; i < s->in.operand_count; i++)
		if (s->o[i].type == ZYDIS_OPERAND_TYPE_REGISTER && (s->o[i].actions & action))
			mask |= bit(s->o[i].reg.value);
	return mask;
}

static bool addresses_by(const struct seen *s, uint16_t held)
{
	for (int i = 0; i < s->in.operand_count; i++)
		if (s->o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ((bit(s->o[i].mem.base) | bit(s->o[i].mem.index)) & held))
			return s->in.mnemonic != ZYDIS_MNEMONIC_NOP;
	return false;
}

static bool calculates(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_ADD || m == ZYDIS_MNEMONIC_SUB || m == ZYDIS_MNEMONIC_INC ||
	       m == ZYDIS_MNEMONIC_DEC || m == ZYDIS_MNEMONIC_NEG || m == ZYDIS_MNEMONIC_NOT ||
	       m == ZYDIS_MNEMONIC_SHL ||
	       m == ZYDIS_MNEMONIC_SHR || m == ZYDIS_MNEMONIC_SAR || m == ZYDIS_MNEMONIC_IMUL ||
	       m == ZYDIS_MNEMONIC_AND;
}

/* ja, setb, cmovg ...: any condition of a comparison but equal and not equal. */
static bool orders(const struct seen *s)
{
	bool conditional = s->in.meta.category == ZYDIS_CATEGORY_COND_BR ||
			   s->in.meta.category == ZYDIS_CATEGORY_SETCC ||
			   s->in.meta.category == ZYDIS_CATEGORY_CMOV;

	return conditional && (s->in.opcode & 0x0e) != 0x04;
}

/* A call, or a jump that is one, of what looks at its arguments. */
static bool calls_looker(const struct verify *v, const struct seen *s, vaddr behind)
{
	const ZydisDecodedOperand *o = &s->o[0];

	if (s->in.mnemonic != ZYDIS_MNEMONIC_CALL && s->in.mnemonic != ZYDIS_MNEMONIC_JMP)
		return false;
	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return verify_looks_at_arguments(v, behind + o->imm.value.u);
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP &&
	       verify_looks_at_arguments(v, behind + (vaddr)o->mem.disp.value);
}

/* A call, or a jump that is one: out of the FDE, or through a slot. */
static bool calls_other(const struct verify *v, const struct seen *s, vaddr at)
{
	const ZydisDecodedOperand *o = &s->o[0];

	if (s->in.mnemonic != ZYDIS_MNEMONIC_JMP)
		return s->in.mnemonic == ZYDIS_MNEMONIC_CALL;
	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return vcfi_find(&v->ocfi, at + s->in.length + o->imm.value.u) !=
		       vcfi_find(&v->ocfi, at);
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP;
}

/* What code does first with an address, other than to copy it. */
enum look {
	NOTHING,
	USES,		/* reads or writes by it, or calculates with it */
	ASKS,		/* what lies above or below it, or how far */
	ROUNDS,		/* clears some bits of it */
};

static enum look calculation(const struct seen *s)
{
	if (s->in.mnemonic == ZYDIS_MNEMONIC_AND)
		return ROUNDS;
	return s->in.mnemonic == ZYDIS_MNEMONIC_SUB &&
	       s->o[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ? ASKS : USES;
}

/* What the code does with the address in registers `held`; the flags are those of a comparison
 * with it if `compared`.  *call: the first call before that has it as an argument, or 0. */
static enum look follow(const struct verify *v, vaddr at, uint16_t held, bool compared,
			vaddr *call)
{
	struct bytes code = verify_orig_code(v, at);
	struct seen s;

	*call = 0;
	for (int i = 0; i < LINE && (held || compared) && decode(code, &s); i++) {
		uint16_t reads = operands(&s, ZYDIS_OPERAND_ACTION_MASK_READ) & held;
		uint16_t writes = operands(&s, ZYDIS_OPERAND_ACTION_MASK_WRITE);

		if (addresses_by(&s, held) ||
		    ((held & PASSED) && calls_looker(v, &s, at + s.in.length)))
			return USES;
		if (reads && calculates(s.in.mnemonic))
			return calculation(&s);
		if (compared && orders(&s))
			return ASKS;
		if (s.in.mnemonic == ZYDIS_MNEMONIC_CMP)
			compared = reads;
		else if (s.in.cpu_flags && s.in.cpu_flags->modified)
			compared = false;
		if (*call == 0 && (held & PASSED_ANY) && calls_other(v, &s, at))
			*call = at;
		switch (s.in.meta.category) {
		case ZYDIS_CATEGORY_UNCOND_BR: case ZYDIS_CATEGORY_RET:
		case ZYDIS_CATEGORY_INTERRUPT:
			return NOTHING;
		case ZYDIS_CATEGORY_CALL:
			writes |= CALL_WRITES;
			break;
		default:
			break;
		}
		held &= (uint16_t)~writes;
		if (reads && s.in.mnemonic == ZYDIS_MNEMONIC_MOV)
			held |= writes;
		code = (struct bytes){ code.p + s.in.length, code.n - s.in.length };
		at += s.in.length;
	}
	return NOTHING;
}

static bool looks(const struct verify *v, vaddr at, uint16_t held, bool compared)
{
	vaddr call;

	return follow(v, at, held, compared, &call) != NOTHING;
}

/* The instruction at r->addr leaves r->to in a register: which; 0 if it does something else
 * with it. */
static uint16_t formed_in(const struct vref *r, const struct seen *s)
{
	if (s->in.mnemonic == ZYDIS_MNEMONIC_LEA)
		return bit(s->o[0].reg.value);
	if (s->in.mnemonic == ZYDIS_MNEMONIC_MOV && r->kind == REF_OPERAND &&
	    s->o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    s->o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return bit(s->o[0].reg.value);
	return 0;
}

/* An operand in memory with the address as displacement, or a constant that is added. */
static bool uses(const struct vref *r, const struct seen *s)
{
	bool sum = s->in.mnemonic == ZYDIS_MNEMONIC_ADD || s->in.mnemonic == ZYDIS_MNEMONIC_SUB;

	for (int i = 0; i < s->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &s->o[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (vaddr)o->mem.disp.value == r->to && s->in.mnemonic != ZYDIS_MNEMONIC_NOP)
			return true;
		if (sum && o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o->imm.value.u == r->to)
			return true;
	}
	return false;
}

static bool asks_order(const struct verify *v, const struct vref *r, const struct seen *s)
{
	return r->kind == REF_OPERAND && s->in.mnemonic == ZYDIS_MNEMONIC_CMP &&
	       s->o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && s->o[1].imm.value.u == r->to &&
	       looks(v, r->addr + s->in.length, 0, true);
}

/* The FDE of a byte that is no entry, or of what ends just in front of it, where the next one
 * begins just behind: nothing but padding is between. */
static uint32_t find_bounded(const struct verify *v, vaddr addr)
{
	enum { NEAR = 16 };
	uint32_t fde = vcfi_find(&v->ocfi, addr), before = NO_FDE, behind = NO_FDE;

	if (fde != NO_FDE)
		return addr != v->ocfi.fde[fde].addr || v->ocfi.fragment[fde] ? fde : NO_FDE;
	for (vaddr k = 1; k < NEAR && behind == NO_FDE; k++)
		behind = vcfi_find(&v->ocfi, addr + k);
	for (vaddr k = 1; k <= NEAR && before == NO_FDE; k++)
		before = vcfi_find(&v->ocfi, addr - k);
	return behind == NO_FDE ? NO_FDE : before;
}

static bool has_image(const struct verify *v, vaddr addr)
{
	return blockmap_find_orig(&v->map, addr) != NULL;
}

static int check_bound(struct verify *v, const struct vref *r)
{
	uint32_t fde = r->fde == NO_FDE ? NO_FDE : find_bounded(v, r->to);
	struct bytes code;
	struct seen s;

	if (fde == NO_FDE || verify_group(v, r->fde) == verify_group(v, fde))
		return 0;
	const struct vfde *f = &v->ocfi.fde[fde];
	if (!has_image(v, r->to) && !has_image(v, f->addr) &&
	    !has_image(v, f->addr + f->len - 1))
		return 0;
	code = verify_orig_code(v, r->addr);
	if (r->kind != REF_LEA && (!code.p || !decode(code, &s) || !asks_order(v, r, &s)))
		return 0;
	return refuse(v,
		      "the function at 0x%llx was moved, but the code at 0x%llx asks what lies "
		      "above or below 0x%llx",
		      ULL(f->addr), ULL(r->addr), ULL(r->to));
}

static int check(struct verify *v, const struct vref *r)
{
	struct bytes code = verify_orig_code(v, r->addr);
	struct seen s;

	if (r->fde == NO_FDE || r->to == r->addr || !verify_is_function(v, r->to) ||
	    !verify_has_entry(v, r->to) || !code.p || !decode(code, &s))
		return 0;
	uint16_t reg = formed_in(r, &s);
	if (r->kind == REF_OPERAND && (uses(r, &s) || asks_order(v, r, &s)))
		return refuse(v,
			      "the function at 0x%llx was moved, but the code at 0x%llx "
			      "calculates with its address",
			      ULL(r->to), ULL(r->addr));
	if (!reg || !looks(v, r->addr + s.in.length, reg, false))
		return 0;
	return refuse(v,
		      "the function at 0x%llx was moved, but the code at 0x%llx looks at it by "
		      "its address",
		      ULL(r->to), ULL(r->addr));
}

/* An operand in memory at an entry. */
static int check_operand(struct verify *v, const struct vref *r)
{
	struct bytes code = verify_orig_code(v, r->addr);
	struct seen s;

	if (r->kind != REF_OPERAND || !verify_has_entry(v, r->to) || !code.p ||
	    !decode(code, &s) || s.in.mnemonic == ZYDIS_MNEMONIC_LEA)
		return 0;
	for (int i = 0; i < s.in.operand_count; i++)
		if (s.o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    s.o[i].mem.base == ZYDIS_REGISTER_RIP)
			return refuse(
				v,
				"the function at 0x%llx was moved, but the instruction at "
				"0x%llx reads or writes its first bytes",
				ULL(r->to), ULL(r->addr));
	return 0;
}

/* The end of the code, or of everything, is more than handed on. */
static bool asks_end(const struct verify *v, const struct vref *r)
{
	struct bytes code = verify_orig_code(v, r->addr);
	struct seen s;

	if (r->kind != REF_LEA || !code.p || !decode(code, &s))
		return true;
	return looks(v, r->addr + s.in.length, formed_in(r, &s), false);
}

struct place {			/* that code of an FDE knows */
	vaddr addr, from;	/* from: the start of its page where it is rounded */
	vaddr by;		/* the instruction */
	uint32_t fde;
	vaddr call;		/* that has it as an argument; 0 */
	bool free;		/* in no FDE */
	bool asked;
};

/* Code of no FDE may be there, or end there. */
static bool is_free(const struct verify *v, vaddr addr)
{
	const struct section *s = image_section_at(&v->orig, addr);

	if (vcfi_find(&v->ocfi, addr) != NO_FDE)
		return false;
	if (!s)
		s = image_section_at(&v->orig, addr - 1);
	return s && (s->h.sh_flags & SHF_EXECINSTR);
}

static enum look first_look(const struct verify *v, const struct vref *r, vaddr *call)
{
	struct bytes code = verify_orig_code(v, r->addr);
	struct seen s;

	*call = 0;
	if (!code.p || !decode(code, &s))
		return NOTHING;
	if (asks_order(v, r, &s))
		return ASKS;
	return follow(v, r->addr + s.in.length, formed_in(r, &s), false, call);
}

static int compare_place(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return a->fde < b->fde ? -1 : a->fde > b->fde;
}

/* Of the blocks with images, one that has a byte in [lo, hi); NULL if none has. */
static const struct blockmap_block *image_between(const struct verify *v, vaddr lo, vaddr hi)
{
	const struct blockmap *map = &v->map;
	uint32_t i = 0, n = map->nblock;

	while (n > 0) {
		const struct blockmap_block *b = &map->block[map->by_orig[i + n / 2]];
		bool below = map->orig_base + b->orig + b->orig_size <= lo;

		i = below ? i + n / 2 + 1 : i;
		n = below ? n - n / 2 - 1 : n / 2;
	}
	if (i == map->nblock || map->orig_base + map->block[map->by_orig[i]].orig >= hi)
		return NULL;
	return &map->block[map->by_orig[i]];
}

/* Nothing between the place `a` and one of p[n], all known to the same code, was moved.  Of two
 * arguments `a` is the one in no FDE. */
static int check_beside(struct verify *v, const struct place *a, const struct place *p,
			uint32_t n)
{
	enum { FAR = 0x10000 };

	for (const struct place *b = p; b < p + n; b++) {
		const struct place *low = a->addr <= b->addr ? a : b, *high = low == a ? b : a;
		const struct blockmap_block *moved;
		bool given = a->free && a->call && a->call == b->call;

		if (low->addr == high->addr || high->addr - low->addr > FAR ||
		    (!given && !(a->asked && b->asked)))
			continue;
		moved = image_between(v, low->from, high->addr);
		if (moved)
			return refuse(v,
				      "the code at 0x%llx was moved, but is between 0x%llx and "
				      "0x%llx, which the code at 0x%llx knows",
				      ULL(v->map.orig_base + moved->orig), ULL(low->from),
				      ULL(high->addr), ULL(a->by));
	}
	return 0;
}

/* False if it is none that counts: behind the code are only some that are rounded. */
static bool place_of(const struct verify *v, const struct vref *r, struct place *out)
{
	bool exec = image_is_exec(&v->orig, r->to);
	vaddr call;

	if (r->fde == NO_FDE || vcfi_find(&v->ocfi, r->to) == r->fde)
		return false;
	enum look look = first_look(v, r, &call);
	*out = (struct place){
		.addr = r->to, .from = look == ROUNDS ? r->to & -0x1000ull : r->to,
		.by = r->addr, .fde = r->fde, .call = call,
		.free = exec && is_free(v, r->to), .asked = look == ASKS || look == ROUNDS,
	};
	return exec ? out->asked || call : look == ROUNDS;
}

static int check_between(struct verify *v)
{
	VEC(struct place) places = { 0 };
	struct place place;
	uint32_t end;

	for (uint32_t i = 0; i < v->refs.formed.n; i++)
		if (place_of(v, &v->refs.formed.v[i], &place))
			vec_push(v->a, &places, place);
	if (places.n)
		qsort(places.v, places.n, sizeof(*places.v), compare_place);
	for (uint32_t i = 0; i < places.n; i = end) {
		for (end = i + 1; end < places.n && places.v[end].fde == places.v[i].fde;)
			end++;
		for (uint32_t k = i; k < end; k++)
			if ((places.v[k].free || places.v[k].asked) &&
			    check_beside(v, &places.v[k], &places.v[i], end - i) < 0)
				return -1;
	}
	return 0;
}

int verify_firstbytes(struct verify *v)
{
	for (uint32_t i = 0; i < v->walk.ends.n; i++)
		v->walk.asks_end |= asks_end(v, &v->walk.ends.v[i]);
	for (uint32_t i = 0; i < v->refs.formed.n; i++)
		if (check(v, &v->refs.formed.v[i]) < 0 ||
		    check_bound(v, &v->refs.formed.v[i]) < 0)
			return -1;
	if (check_between(v) < 0)
		return -1;
	for (uint32_t i = 0; i < v->refs.all.n; i++)
		if (check_operand(v, &v->refs.all.v[i]) < 0)
			return -1;
	return 0;
}
