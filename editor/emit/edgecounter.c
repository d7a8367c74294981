/* edgecounter.c - the instructions of an edge counter, and how to find one by its place
 *
 * COUNTER    [lock] inc qword COUNTER(%rip)          CF survives, the other flags must be dead
 *
 * SAVED      lea -ROOM(%rsp), %rsp                   what is saved goes below the red zone
 *            mov %rax, (%rsp)
 *            lahf; seto %al
 *            [lock] inc qword COUNTER(%rip)
 *            add $0x7f, %al; sahf                    OF, then the others
 *            mov (%rsp), %rax
 *            lea ROOM(%rsp), %rsp
 *
 * TARGET     the same, with this instead of the inc: mov TARGET, %r11; mov $NUMBER, %eax;
 *            call the target entry of the counter runtime
 *
 * JUMP       likewise; the jump entry gives in %r11 where to go: mov %r11, (%rsp) ...
 *            ret $ROOM-8.  That sets the stack and jumps in one instruction: signal handlers
 *            may write below the red zone at any time.
 *
 * Tested by tests/unit/editor/emit/test_edgecounter.c (each form is run) and, inside whole
 * programs, by tests/programs/instrument.sh.
 */
#include "editor/emit/edgecounter.h"

#include <assert.h>
#include <string.h>

#include "lib/search.h"
#include "postmorph/ir/ir.h"

struct code {
	uint8_t *out;
	uint32_t n;
	new_vaddr at;		/* of out[0] */
};

static void put(struct code *c, const void *p, size_t n)
{
	assert(c->n + n <= EDGECOUNTER_MAX);
	memcpy(c->out + c->n, p, n);
	c->n += (uint32_t)n;
}

#define PUT(c, ...) do {					\
	static const uint8_t bytes_[] = { __VA_ARGS__ };	\
	put(c, bytes_, sizeof(bytes_));				\
} while (0)

static void put_u32(struct code *c, uint32_t v)
{
	put(c, &v, sizeof(v));
}

/* From the end of the four bytes. */
static void put_rel32(struct code *c, new_vaddr target)
{
	put_u32(c, (uint32_t)(target - (c->at + c->n + 4)));
}

static void put_inc(struct code *c, const struct edgecounters *all, uint32_t number)
{
	if (all->locked)
		PUT(c, 0xf0);
	PUT(c, 0x48, 0xff, 0x05);
	put_rel32(c, all->counter_addr + 8 * (new_vaddr)number);
}

static void put_room(struct code *c, int32_t change)
{
	PUT(c, 0x48, 0x8d, 0xa4, 0x24);
	put_u32(c, (uint32_t)change);
}

enum { REX = 0x40, REX_B = 1, REX_X = 2, MOV_LOAD = 0x8b, RSP = 4 };

static bool is_prefix(uint8_t b)
{
	return b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65 ||
	       b == 0x66 || b == 0x67 || b == 0xf2 || b == 0xf3;
}

/* mov TARGET, %r11, from `call` or `jmp` of a register or memory operand.  The stack is
 * EDGECOUNTER_ROOM lower than the operand means. */
static void put_load(struct code *c, const struct prog *prog, const struct insn *insn)
{
	const uint8_t *in = prog_insn_bytes(prog, insn);
	uint32_t i = 0;
	uint8_t rex = 0;

	for (; is_prefix(in[i]); i++)
		if (in[i] == 0x64 || in[i] == 0x65 || in[i] == 0x67)
			put(c, &in[i], 1);
	if ((in[i] & 0xf0) == REX)
		rex = in[i++];
	uint8_t modrm = in[i + 1], mod = modrm >> 6, rm = modrm & 7;
	const uint8_t op[] = { (uint8_t)(0x4c | (rex & (REX_X | REX_B))), MOV_LOAD };

	i += 2;					/* past ff /2 or ff /4 */
	put(c, op, sizeof(op));
	if (insn->field) {
		PUT(c, 0x1d);
		put_rel32(c, insn_target(insn, in, prog_insn_addr(prog, insn)));
		return;
	}
	bool on_stack = mod != 3 && rm == RSP && (in[i] & 7) == RSP && !(rex & REX_B);
	uint8_t new_modrm = (uint8_t)((on_stack ? 2 : mod) << 6 | 3 << 3 | rm);

	put(c, &new_modrm, 1);
	if (!on_stack) {
		put(c, in + i, insn->len - i);
		return;
	}
	int32_t disp = 0;

	put(c, in + i, 1);			/* the SIB byte */
	if (mod == 1)
		disp = (int8_t)in[i + 1];
	else if (mod == 2)
		memcpy(&disp, in + i + 1, sizeof(disp));
	put_u32(c, (uint32_t)(disp + EDGECOUNTER_ROOM));
}

static void put_target(struct code *c, const struct edgecounters *all,
		       const struct edgecounter *counter, const struct prog *prog,
		       const struct insn *insn)
{
	PUT(c, 0x4c, 0x89, 0x5c, 0x24, 0x10);		/* mov %r11, 16(%rsp) */
	put_load(c, prog, insn);
	PUT(c, 0x48, 0x89, 0x44, 0x24, 0x08);		/* mov %rax, 8(%rsp) */
	PUT(c, 0x9f, 0x0f, 0x90, 0xc0);			/* lahf; seto %al */
	PUT(c, 0x48, 0x89, 0x04, 0x24);			/* mov %rax, (%rsp) */
	PUT(c, 0xb8);
	put_u32(c, counter->number);
	PUT(c, 0xe8);
	put_rel32(c, counter->jumps ? all->runtime_jump : all->runtime_target);
	PUT(c, 0x48, 0x8b, 0x04, 0x24);
	if (counter->jumps)
		PUT(c, 0x4c, 0x89, 0x1c, 0x24);
	PUT(c, 0x04, 0x7f, 0x9e);			/* add $0x7f, %al; sahf */
	PUT(c, 0x48, 0x8b, 0x44, 0x24, 0x08);
	PUT(c, 0x4c, 0x8b, 0x5c, 0x24, 0x10);
}

uint32_t edgecounter_write(const struct edgecounters *all, const struct edgecounter *counter,
			   const struct prog *prog, const struct insn *insn, new_vaddr at,
			   uint8_t *out)
{
	struct code c = { .out = out, .at = at };

	if (!counter->saved) {
		put_inc(&c, all, counter->number);
		return c.n;
	}
	put_room(&c, -EDGECOUNTER_ROOM);
	assert(c.n == EDGECOUNTER_ROOM_FROM);
	if (counter->at == EDGECOUNTER_TARGET) {
		put_target(&c, all, counter, prog, insn);
	} else {
		PUT(&c, 0x48, 0x89, 0x04, 0x24, 0x9f, 0x0f, 0x90, 0xc0);
		put_inc(&c, all, counter->number);
		PUT(&c, 0x04, 0x7f, 0x9e, 0x48, 0x8b, 0x04, 0x24);
	}
	if (counter->jumps)
		PUT(&c, 0xc2, EDGECOUNTER_ROOM - 8, 0);	/* fits a byte */
	else
		put_room(&c, EDGECOUNTER_ROOM);
	return c.n;
}

/* The first of block `block` that does not stand before the place. */
static const struct edgecounter *lower_bound(const struct edgecounter_fn *f, uint32_t block,
					     enum edgecounter_at at, uint32_t where)
{
	const struct edgecounter *v = f->v;

	return v + search_first(i, f->first[block], f->first[block + 1],
				v[i].at < at || (v[i].at == at && v[i].where < where));
}

const struct edgecounter *edgecounter_look_up(const struct edgecounters *all, uint32_t fn,
					      uint32_t block, enum edgecounter_at at,
					      uint32_t where)
{
	const struct edgecounter_fn *f = &all->fn[fn];

	if (f->n == 0)
		return NULL;
	const struct edgecounter *c = lower_bound(f, block, at, where);

	return c < f->v + f->first[block + 1] && c->at == at && c->where == where ? c : NULL;
}

const struct edgecounter *edgecounter_entries(const struct edgecounters *all, uint32_t fn,
					      uint32_t block, uint32_t *n)
{
	*n = 0;
	if (!all || all->fn[fn].n == 0)
		return NULL;
	const struct edgecounter_fn *f = &all->fn[fn];
	const struct edgecounter *c = lower_bound(f, block, EDGECOUNTER_ENTRY, 0);

	*n = (uint32_t)(f->v + f->first[block + 1] - c);
	return *n ? c : NULL;
}
