/* absvalue.c - computes with abstract values: bounds of low bits, and a part in a dispatch
 *
 * Tested by tests/unit/postmorph/tables/test_absint.c and test_jumptable.c there.
 */
#include "postmorph/tables/absvalue.h"

#include <string.h>

/* How a value is made from the root that its name stands for. */
enum form { WHOLE = FORM_WHOLE, ZX8, ZX16, ZX32, SX8, SX16, SX32 };

unsigned value_width(unsigned bits)
{
	return bits == 8 ? W8 : bits == 16 ? W16 : bits == 32 ? W32 : W64;
}

static uint32_t largest(unsigned w)	/* that fits; for 32 and 64 bits: no bound */
{
	return w == W8 ? 0xff : w == W16 ? 0xffff : ABS_UNBOUND;
}

static bool is_nonnegative(uint32_t bound, unsigned w)	/* as a signed number of that width */
{
	return bound <= (w == W8 ? 0x7fu : w == W16 ? 0x7fffu : w == W32 ? 0x7fffffffu :
			 ABS_UNBOUND - 1);
}

uint32_t value_bound(const struct abs_value *v, unsigned w)
{
	uint32_t b = largest(w);

	if (v->short32 && w == W64)
		w = W32;			/* wider bounds hold for the low bits, too */
	for (; w <= W64; w++)
		if (v->bound[w] < b)
			b = v->bound[w];
	return b;
}

struct abs_value value_plain(void)
{
	return (struct abs_value){
		.bound = { ABS_UNBOUND, ABS_UNBOUND, ABS_UNBOUND, ABS_UNBOUND },
	};
}

struct abs_value value_bounded(uint64_t bound)
{
	struct abs_value v = value_plain();

	v.short32 = bound <= UINT32_MAX;
	v.masked = true;		/* nobody has compared it */
	if (bound < ABS_UNBOUND)
		v.bound[W64] = (uint32_t)bound;
	return v;
}

struct abs_value value_of_table(enum abs_kind kind, uint16_t group, uint32_t index,
				const struct abs_value *from)
{
	struct abs_value v = value_plain();

	v.masked = from && from->masked;
	v.kind = kind;
	v.fresh = 1;
	v.group = group;
	v.index = index;
	v.may = (uint64_t)1 << (group % 64);
	return v;
}

static unsigned form_width(enum form f)
{
	return f == WHOLE ? W64 : f <= ZX32 ? f - ZX8 + W8 : f - SX8 + W8;
}

static enum form make_form(bool sx, unsigned w)
{
	return w == W64 ? WHOLE : sx ? SX8 + w : ZX8 + w;
}

/* Form of ext(f(root)), where ext extends the low w bits.  False: there is no word for it. */
static bool compose(enum form f, bool sx, unsigned w, enum form *out)
{
	unsigned inner = form_width(f);

	if (f == WHOLE || w < inner || (w == inner && w != W64)) {
		*out = make_form(sx, w);
		return true;
	}
	*out = f;		/* w > inner, or all 64 bits */
	return w == W64 || f <= ZX32 || sx;
}

void value_blur(struct abs_value *v)
{
	struct abs_value out = value_plain();

	if (v->may) {
		out.kind = ABS_MIXED;
		out.may = v->may;
		out.clean = v->kind == ABS_MIXED ? v->clean : 0;
	}
	*v = out;
}

struct abs_value value_extend(const struct abs_value *src, unsigned src_bits, bool sx,
			      unsigned bits)
{
	unsigned w = value_width(src_bits);
	struct abs_value v = value_plain();
	enum form form;

	if (w == W64)
		return *src;
	for (unsigned i = W8; i <= w; i++)
		v.bound[i] = value_bound(src, i);
	v.masked = src->masked;
	uint32_t b = v.bound[w];
	v.short32 = !sx || bits == 32 || is_nonnegative(b, w);
	if (!sx || is_nonnegative(b, w))
		v.bound[W64] = b;
	if (src->may && src_bits > src->clean) {
		v = *src;
		value_blur(&v);
		return v;
	}
	if (src->name && !(sx && bits == 32) && compose(src->form, sx, w, &form)) {
		v.name = src->name;
		v.form = (uint8_t)form;
	}
	return v;
}

struct abs_value value_join(const struct abs_value *x, const struct abs_value *y)
{
	struct abs_value v = value_plain();

	if (memcmp(x, y, sizeof(*x)) == 0)
		return *x;
	for (unsigned w = W8; w <= W64; w++) {
		uint32_t a = value_bound(x, w), b = value_bound(y, w);

		v.bound[w] = a > b ? a : b;
		if (v.bound[w] == largest(w))
			v.bound[w] = ABS_UNBOUND;
	}
	v.short32 = x->short32 & y->short32;
	v.masked = x->masked & y->masked;
	v.may = x->may | y->may;
	v.fresh = x->fresh | y->fresh;
	v.kind = x->kind;
	if (x->kind != y->kind || x->group != y->group || x->kind == ABS_MIXED)
		v.kind = v.may ? ABS_MIXED : ABS_PLAIN;
	if (v.kind == ABS_MIXED) {
		unsigned a = x->may ? x->clean : 64, b = y->may ? y->clean : 64;

		v.clean = (uint8_t)(a < b ? a : b);
	} else if (v.kind != ABS_PLAIN) {
		v.group = x->group;
		v.index = x->index > y->index ? x->index : y->index;
	}
	return v;
}

bool value_logic(const struct abs_value *x, const struct abs_value *y, struct abs_value *out)
{
	struct abs_value v = value_plain();
	unsigned clean = 64;

	if (x->may)
		clean = x->clean;
	if (y && y->may && y->clean < clean)
		clean = y->clean;
	if (clean == 0 || clean == 64)
		return false;
	v.kind = ABS_MIXED;
	v.may = x->may | (y ? y->may : 0);
	v.clean = (uint8_t)clean;
	*out = v;
	return true;
}

void value_mask(struct abs_value *v, const struct op *op, const struct abs_value *old)
{
	unsigned w = value_width(op->bits);
	uint64_t limit = (uint64_t)op->imm;

	uint32_t b = value_bound(old, w);
	v->masked = op->kind == OP_SHR || limit < b || old->masked;
	if (op->kind == OP_AND && b < limit) {
		limit = b;
	} else if (op->kind == OP_SHR) {
		uint64_t all = w == W64 ? UINT64_MAX : ((uint64_t)1 << op->bits) - 1;
		unsigned shift = op->imm & (w == W64 ? 63 : 31);

		limit = (b == ABS_UNBOUND ? all : b) >> shift;
	}
	if (limit < ABS_UNBOUND)
		v->bound[w >= W32 ? W64 : w] = (uint32_t)limit;
}

void value_limit(struct abs_value *v, uint8_t form, unsigned w, uint32_t n)
{
	unsigned k = form_width(form);

	if (form >= SX8 && w > k && !is_nonnegative(n, k))
		return;
	if (w > k)
		w = k;		/* now: the low w bits of the root are <= n */
	unsigned f = form_width(v->form), to = w;
	if (v->form != WHOLE && w >= f)
		to = v->form <= ZX32 || is_nonnegative(n, f) ? W64 : f;
	if (to < W64 && value_bound(v, W64) < ABS_UNBOUND && value_bound(v, W64) <= largest(to))
		to = W64;	/* there is no more of it than these bits */
	if (n < v->bound[to]) {
		v->bound[to] = n;
		v->masked = false;
	}
}
