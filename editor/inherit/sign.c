/* sign.c - the signature of a program that was analysed
 *
 * Another version's compiler or linker may choose other addresses, other forms of branches and
 * other padding without any change of the source, so hashes leave those out.  Where a constant
 * might be an address (of a program that is linked to a fixed place) all constants of the
 * instruction are left out.
 */
#include "editor/inherit/signature.h"

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/hash.h"
#include "postmorph/ir/ir.h"
#include "postmorph/ir/plt.h"

/* A text is at least so long, and no more of it is looked at: chosen. */
enum { TEXT_LEAST = 5, TEXT_MOST = 256 };

static uint64_t hash_number(uint64_t h, uint64_t v)
{
	return hash_bytes(h, &v, sizeof(v));
}

static uint32_t fold(uint64_t h)
{
	return (uint32_t)(h ^ h >> 32);
}

/* Without the number that link-time optimization puts behind a local name. */
static uint64_t hash_name(const char *name)
{
	static const char suffix[] = ".lto_priv.";
	const char *end = name ? strstr(name, suffix) : NULL;
	size_t n = end ? (size_t)(end - name) : name ? strlen(name) : 0;

	return n ? hash_bytes(HASH_START, name, n) : 0;
}

struct span {
	vaddr lo, hi;		/* of the image */
};

static bool may_hold_address(const struct insn *in, struct bytes code, const struct span *span)
{
	uint64_t constant[INSN_MAX_CONSTANTS];
	uint32_t n = in->constants ? insn_constants(code, constant) : 0;

	for (uint32_t i = 0; i < n; i++)
		if (constant[i] >= span->lo && constant[i] < span->hi)
			return true;
	return false;
}

/* What a branch does, whatever its form: its kind, and its condition. */
static uint64_t branch_number(const struct insn *in, const uint8_t *code)
{
	uint64_t v = (uint64_t)in->kind << 8;

	if (in->kind == INSN_JCC)
		v |= code[in->field - 1] & 0xf;
	else if (in->kind == INSN_LOOP)
		v |= code[in->field - 1];
	return v;
}

static uint64_t operation(const struct insn *in, struct bytes code)
{
	uint64_t v = insn_pattern(code);

	return v ? v : (uint64_t)in->kind << 8 | in->len;
}

/* The operation without its operands. */
static uint64_t opcode(const struct insn *in, struct bytes code)
{
	enum { MAP_AND_OPCODE = 0xffff };	/* of insn_pattern() */
	uint64_t v = insn_pattern(code);

	return v ? v & MAP_AND_OPCODE : (uint64_t)in->kind << 16;
}

static uint64_t hash_exact(uint64_t h, const struct insn *in, struct bytes code,
			   const struct span *span)
{
	if (may_hold_address(in, code, span))
		return hash_number(h, operation(in, code));
	uint32_t front = in->field ? in->field : in->len;

	h = hash_bytes(h, code.p, front);
	uint32_t behind = front + (in->field ? in->field_size : 0);
	return behind < in->len ? hash_bytes(h, code.p + behind, in->len - behind) : h;
}

static struct signature_block sign_block(const struct prog *prog, const struct fn *fn,
					 const struct block *b, const struct span *span)
{
	uint64_t exact = HASH_START, loose = HASH_START, rough = HASH_START;
	uint32_t n = block_length(fn, b);

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
		const struct insn *in = &fn->insn[i];
		struct bytes code = { prog_insn_bytes(prog, in), in->len };

		if (in->kind == INSN_NOP)
			continue;
		if (insn_is_branch(in)) {
			exact = hash_number(exact, branch_number(in, code.p));
			loose = hash_number(loose, branch_number(in, code.p));
			rough = hash_number(rough, branch_number(in, code.p));
			continue;
		}
		exact = hash_exact(exact, in, code, span);
		loose = hash_number(loose, operation(in, code));
		rough = hash_number(rough, opcode(in, code));
	}
	return (struct signature_block){
		.off = (uint32_t)(b->addr - prog->base), .ninsn = n ? n : 1,
		.fall = b->fall == NO_BLOCK ? SIGNATURE_NONE : b->fall,
		.taken = b->taken == NO_BLOCK ? SIGNATURE_NONE : b->taken,
		.exact = fold(exact), .loose = fold(loose), .rough = fold(rough) };
}

/* The function that begins at the address; NONE. */
static uint32_t function_at(const struct prog *prog, vaddr addr)
{
	uint32_t f = prog_find_fn(prog, addr);

	return f != NO_FN && prog->fn[f].entry == addr ? f : SIGNATURE_NONE;
}

static uint32_t import_number(const char *name)
{
	uint32_t h = name ? fold(hash_name(name)) : 0;

	return name && !h ? 1 : h;
}

/* Calls, and jumps out of the function, with or without a known end. */
static bool leads_out(const struct prog *prog, uint32_t self, const struct insn *in,
		      struct signature_call *out)
{
	bool computed = in->kind == INSN_ICALL || in->kind == INSN_IJMP;

	out->callee = SIGNATURE_NONE;
	out->import = 0;
	if (!computed && in->kind != INSN_CALL && in->kind != INSN_JMP && in->kind != INSN_JCC)
		return false;
	vaddr to = in->field ? insn_target(in, prog_insn_bytes(prog, in),
					   prog_insn_addr(prog, in)) : 0;
	if (computed) {
		out->import = to && prog->plt ? import_number(plt_name(prog->plt, to)) : 0;
		return true;
	}
	if (in->kind != INSN_CALL && prog_find_fn(prog, to) == self)
		return false;
	out->callee = function_at(prog, to);
	if (prog->plt)
		out->import = import_number(plt_stub_name(prog->plt, &prog->img, to));
	return true;
}

static bool is_printable(uint8_t c)
{
	return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

/* Of the text that begins there, in what cannot be written to; 0: there is none. */
static uint32_t text_number(const struct prog *prog, vaddr addr)
{
	if (image_is_exec(&prog->img, addr) || image_is_writable(&prog->img, addr))
		return 0;
	struct bytes b = image_rest_anywhere(&prog->img, addr);
	uint64_t n = 0;

	while (b.p && n < b.n && n < TEXT_MOST && is_printable(b.p[n]))
		n++;
	if (n < TEXT_LEAST || (n < TEXT_MOST && (n == b.n || b.p[n])))
		return 0;
	return fold(hash_bytes(HASH_START, b.p, n));
}

struct signing {
	const struct prog *prog;
	struct span span;
	struct signature *out;
	VEC(uint32_t) words;
};

static void put_word(struct signing *s, uint32_t word)
{
	if (word)
		vec_push(s->prog->arena, &s->words, word);
}

/* Texts that an instruction other than a branch refers to. */
static void sign_texts(struct signing *s, const struct insn *in)
{
	struct bytes code = { prog_insn_bytes(s->prog, in), in->len };
	uint64_t constant[INSN_MAX_CONSTANTS];

	if (in->field && !insn_is_branch(in))
		put_word(s, text_number(s->prog, insn_target(in, code.p,
							     prog_insn_addr(s->prog, in))));
	uint32_t n = may_hold_address(in, code, &s->span) ? insn_constants(code, constant) : 0;
	for (uint32_t i = 0; i < n; i++)
		put_word(s, text_number(s->prog, constant[i]));
}

static int by_word(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static int by_at(const void *x, const void *y)
{
	const struct reference *a = *(const struct reference *const *)x;
	const struct reference *b = *(const struct reference *const *)y;

	return (a->at > b->at) - (a->at < b->at);
}

/* Those of the function, from `first` on: ascending, each once. */
static void sort_words(struct signing *s, uint32_t first)
{
	uint32_t n = first;

	if (first == s->words.n)
		return;
	qsort(s->words.v + first, s->words.n - first, sizeof(*s->words.v), by_word);
	for (uint32_t i = first; i < s->words.n; i++)
		if (i == first || s->words.v[i] != s->words.v[n - 1])
			s->words.v[n++] = s->words.v[i];
	s->words.n = n;
}

/* The next label of the function leads there: numbers the block, unless it has a number. */
static void number_label(const struct signing *s, uint32_t f, uint32_t block, uint32_t *n)
{
	struct signature_block *b = &s->out->block[s->out->fn[f].block + block];

	if (b->label == 0)
		b->label = ++*n;
}

/* Jump tables first, then what else holds labels, as it lies in the file. */
static void sign_labels(const struct signing *s, uint32_t f, uint32_t *ref)
{
	const struct prog *prog = s->prog;
	const struct fn *fn = &prog->fn[f];
	uint32_t n = 0, first = *ref;

	for (uint32_t t = 0; t < fn->ntable; t++)
		for (uint32_t i = 0; i < fn->table[t].nentry; i++)
			if (fn->table[t].succ[i] != NO_BLOCK)
				number_label(s, f, fn->table[t].succ[i], &n);
	while (*ref < prog->nref && prog->ref[*ref].fn == f)
		(*ref)++;
	const struct reference **by_place = arena_array(prog->arena, *ref - first,
							sizeof(const struct reference *));
	for (uint32_t i = first; i < *ref; i++)
		by_place[i - first] = &prog->ref[i];
	qsort(by_place, *ref - first, sizeof(const struct reference *), by_at);
	for (uint32_t i = 0; i < *ref - first; i++) {
		uint32_t b = by_place[i]->kind == REFERENCE_LEA ?
				     NO_BLOCK : fn_find_block(fn, by_place[i]->to);

		if (b != NO_BLOCK && b != 0 && fn->block[b].addr == by_place[i]->to)
			number_label(s, f, b, &n);
	}
}

static void sign_block_calls(struct signing *s, uint32_t f, uint32_t block)
{
	const struct fn *fn = &s->prog->fn[f];
	const struct block *b = &fn->block[block];

	for (uint32_t i = b->insn; i < b->insn + b->ninsn; i++) {
		struct signature_call c = { .off = fn->insn[i].off, .block = block };

		sign_texts(s, &fn->insn[i]);
		if (!leads_out(s->prog, f, &fn->insn[i], &c))
			continue;
		put_word(s, c.import);
		s->out->call[s->out->ncall++] = c;
	}
}

static void sign_fn(struct signing *s, uint32_t f, uint32_t *ref)
{
	const struct fn *fn = &s->prog->fn[f];
	struct signature *out = s->out;
	struct signature_fn *to = &out->fn[f];

	*to = (struct signature_fn){ .entry = fn->entry, .name = hash_name(fn->name),
				     .block = out->nblock, .call = out->ncall,
				     .word = s->words.n };
	for (uint32_t i = 0; i < fn->nblock; i++)
		out->block[out->nblock++] = sign_block(s->prog, fn, &fn->block[i], &s->span);
	for (uint32_t i = 0; i < fn->nblock; i++)
		sign_block_calls(s, f, i);
	sort_words(s, to->word);
	if (fn->nblock)
		sign_labels(s, f, ref);
	to->nblock = out->nblock - to->block;
	to->ncall = out->ncall - to->call;
	to->nword = s->words.n - to->word;
}

void signature_of(const struct prog *prog, struct signature *out)
{
	struct signature s = { .original = prog->digest, .base = prog->base, .nfn = prog->nfn };
	struct signing signing = { .prog = prog, .out = &s };
	size_t nblock = 0, ninsn = 0;
	uint32_t ref = 0;

	image_span(&prog->img, &signing.span.lo, &signing.span.hi);
	if (signing.span.lo == 0)
		signing.span.hi = 0;	/* it may be anywhere: no constant is an address */
	for (uint32_t f = 0; f < prog->nfn; f++) {
		nblock += prog->fn[f].nblock;
		ninsn += prog->fn[f].ninsn;
	}
	s.fn = arena_array(prog->arena, s.nfn, sizeof(*s.fn));
	s.block = arena_array(prog->arena, nblock, sizeof(*s.block));
	/* what is not used of it costs no memory */
	s.call = arena_array(prog->arena, ninsn, sizeof(*s.call));
	for (uint32_t f = 0; f < prog->nfn; f++) {
		while (ref < prog->nref && prog->ref[ref].fn < f)
			ref++;
		sign_fn(&signing, f, &ref);
	}
	s.word = signing.words.v;
	s.nword = signing.words.n;
	*out = s;
}
