/* irtext.c - parsing and printing of the text form of the annotated program
 *
 * Parsing goes in two steps: lines become blocks with the words of their targets (parse_block),
 * then, when all blocks of a function and their addresses are known, code bytes, instructions
 * and edges are made (build_fn).  The made-up code has real branches and tables, since
 * ir_check() reads them, and NOPs for everything else.
 */
#include "tests/unit/irtext.h"

#include <stdlib.h>
#include <string.h>

#include "lib/blockmap.h"
#include "lib/err.h"

enum {
	CODE_BASE = 0x1000,
	MAX_WORDS = 64,
	MAX_CODE = 1 << 20,
	OUTSIDE = 0x10,		/* address of everything outside: before the code */
};

struct text_block {
	const char *target[MAX_WORDS];	/* words behind -> */
	uint32_t ntarget;
	uint32_t insns;			/* 0: not given */
	const char *call;
	bool icall;
};

struct text_call {
	uint32_t block;
	const char *callee;
	double count;
};

struct text_fn {
	struct fn fn;
	VEC(struct block) block;
	VEC(struct text_block) text;
	VEC(const char *) order;
	VEC(struct seen_edge) seen;
	VEC(struct text_call) seen_call;
	uint32_t nrange;
};

struct parser {
	struct arena *a;
	struct irtext *out;
	struct err *err;
	VEC(struct text_fn) fn;
	uint8_t *code;			/* [MAX_CODE] */
	uint64_t ncode;
	uint32_t line;
};

static int wrong(struct parser *ps, const char *what, const char *word)
{
	return err_set(ps->err, ERR_INPUT, "line %u: %s '%s'", ps->line, what, word);
}

/* "b12" or "b12:3.5" */
static bool block_number(const char *word, uint32_t nblock, uint32_t *id, double *count)
{
	char *end;

	if (word[0] != 'b' || word[1] < '0' || word[1] > '9')
		return false;
	unsigned long v = strtoul(word + 1, &end, 10);
	if (v >= nblock || (*end && *end != ':'))
		return false;
	*id = (uint32_t)v;
	if (*end == ':')
		*count = strtod(end + 1, NULL);
	return true;
}

static uint8_t confidence_called(const char *name)
{
	uint8_t c = CONFIDENCE_HIGH;

	while (c > CONFIDENCE_LOW && strcmp(confidence_name[c], name) != 0)
		c--;
	return c;
}

static int parse_block(struct parser *ps, struct text_fn *t, char **word, uint32_t n)
{
	struct block b = { .range = t->nrange - 1, .fall = NO_BLOCK, .taken = NO_BLOCK,
		.table = NO_TABLE, .size = 4 };
	struct text_block text = { 0 };
	uint32_t id;

	if (!block_number(word[0], t->block.n + 1, &id, &b.count) || id != t->block.n)
		return wrong(ps, "blocks must be numbered in order, not", word[0]);
	for (uint32_t i = 1; i < n; i++) {
		const char *value = i + 1 < n ? word[i + 1] : "";

		if (strcmp(word[i], "->") == 0) {
			for (i++; i < n; i++)
				text.target[text.ntarget++] = word[i];
			break;
		}
		if (strcmp(word[i], "pinned") == 0)
			b.pinned = true;
		else if (strcmp(word[i], "landing") == 0)
			b.landing = true;
		else if (strcmp(word[i], "padding") == 0)
			b.padding = true;
		else if (strcmp(word[i], "noreturn") == 0)
			b.noreturn = true;
		else if (strcmp(word[i], "cold") == 0)
			b.cold = true;
		else if (strcmp(word[i], "warm") == 0)
			b.warm = true;
		else if (strcmp(word[i], "guessed") == 0)
			b.guessed = true;
		else if (strcmp(word[i], "stays") == 0)
			b.stays = true;
		else if (strcmp(word[i], "in-line") == 0)
			b.in_line = true;
		else if (strcmp(word[i], "jump-in-line") == 0)
			b.jump_in_line = true;
		else if (strcmp(word[i], "size") == 0)
			b.size = (uint32_t)strtoul(value, NULL, 10), i++;
		else if (strcmp(word[i], "insns") == 0)
			text.insns = (uint32_t)strtoul(value, NULL, 10), i++;
		else if (strcmp(word[i], "samples") == 0)
			b.samples = strtod(value, NULL), i++;
		else if (strcmp(word[i], "count") == 0)
			b.count = strtod(value, NULL), i++;
		else if (strcmp(word[i], "confidence") == 0)
			b.confidence = confidence_called(value), i++;
		else if (strcmp(word[i], "call") == 0)
			text.call = value, i++;
		else if (strcmp(word[i], "icall") == 0)
			text.icall = true;
		else
			return wrong(ps, "unknown property", word[i]);
	}
	if (b.size == 0 || b.size > 65536)
		return wrong(ps, "bad size of", word[0]);
	vec_push(ps->a, &t->block, b);
	vec_push(ps->a, &t->text, text);
	return 0;
}

static int parse_fn(struct parser *ps, char **word, uint32_t n)
{
	struct text_fn t = { .nrange = 1 };

	if (n < 2)
		return wrong(ps, "no name behind", word[0]);
	t.fn.name = word[1];
	t.fn.moved = true;
	for (uint32_t i = 2; i < n; i++) {
		if (strcmp(word[i], "still") == 0)
			t.fn.moved = false;
		else if (strcmp(word[i], "unproven") == 0 && i + 1 < n)
			t.fn.unproven = (uint32_t)strtoul(word[++i], NULL, 10);
		else
			return wrong(ps, "unknown property", word[i]);
	}
	vec_push(ps->a, &ps->fn, t);
	return 0;
}

/* "seen b0 b2 60", behind the blocks, ascending. */
static int parse_seen(struct parser *ps, struct text_fn *t, char **word, uint32_t n)
{
	struct seen_edge e = { 0 };
	double unused;

	if (n != 4 || !block_number(word[1], t->block.n, &e.from, &unused) ||
	    !block_number(word[2], t->block.n, &e.to, &unused))
		return wrong(ps, "two blocks and a number belong behind", word[0]);
	e.count = strtod(word[3], NULL);
	vec_push(ps->a, &t->seen, e);
	return 0;
}

/* "seen call b0 g 60", behind the blocks, ascending by block, then by callee. */
static int parse_seen_call(struct parser *ps, struct text_fn *t, char **word, uint32_t n)
{
	struct text_call c = { 0 };
	double unused;

	if (n != 5 || !block_number(word[2], t->block.n, &c.block, &unused))
		return wrong(ps, "a block, a function and a number belong behind", "seen call");
	c.callee = word[3];
	c.count = strtod(word[4], NULL);
	vec_push(ps->a, &t->seen_call, c);
	return 0;
}

/* Cuts the line into words, in place. */
static uint32_t split_words(char *line, char **word)
{
	uint32_t n = 0;

	for (char *s = strtok(line, " \t\r"); s && *s != '#' && n < MAX_WORDS;
	     s = strtok(NULL, " \t\r"))
		word[n++] = s;
	return n;
}

static int parse_line(struct parser *ps, char *line)
{
	char *word[MAX_WORDS];
	uint32_t n = split_words(line, word);
	struct text_fn *t = ps->fn.n ? &ps->fn.v[ps->fn.n - 1] : NULL;

	if (n == 0)
		return 0;
	if (strcmp(word[0], "exact") == 0) {
		ps->out->prog.exact = true;
		return 0;
	}
	if (strcmp(word[0], "fn") == 0)
		return parse_fn(ps, word, n);
	if (!t)
		return wrong(ps, "a function is missing before", word[0]);
	if (strcmp(word[0], ".cold") == 0) {
		t->nrange++;
		return 0;
	}
	if (strcmp(word[0], "order") == 0) {
		for (uint32_t i = 1; i < n; i++)
			vec_push(ps->a, &t->order, word[i]);
		return 0;
	}
	if (strcmp(word[0], "seen") == 0 && n > 1 && strcmp(word[1], "call") == 0)
		return parse_seen_call(ps, t, word, n);
	if (strcmp(word[0], "seen") == 0)
		return parse_seen(ps, t, word, n);
	return parse_block(ps, t, word, n);
}

static enum insn_kind last_kind(const struct text_block *t, const struct block *b)
{
	const char *word = t->ntarget ? t->target[0] : "";

	if (b->padding)
		return INSN_NOP;
	if (b->noreturn)
		return INSN_CALL;
	if (strcmp(word, "ret") == 0)
		return INSN_RET;
	if (strcmp(word, "trap") == 0)
		return INSN_TRAP;
	if (strcmp(word, "ijmp") == 0 || strcmp(word, "table") == 0)
		return INSN_IJMP;
	if (strcmp(word, "jmp") == 0 || strcmp(word, "out") == 0)
		return INSN_JMP;
	return t->ntarget == 2 ? INSN_JCC : INSN_PLAIN;
}

/* The last instruction's bytes; a branch's displacement is filled in later. */
static uint32_t last_bytes(enum insn_kind kind, uint32_t size, uint8_t *out, struct insn *in)
{
	static const uint8_t jcc[] = { 0x0f, 0x84 }, ijmp[] = { 0xff, 0xe0 };
	static const uint8_t trap[] = { 0x0f, 0x0b };
	uint32_t n = 0;

	in->field = in->field_size = 0;
	if (kind == INSN_JMP || kind == INSN_CALL || kind == INSN_JCC) {
		bool near = size >= (kind == INSN_JCC ? 6 : 5);

		if (kind == INSN_JCC && near)
			memcpy(out, jcc, n = 2);
		else
			out[n++] = kind == INSN_CALL ? 0xe8 : kind == INSN_JCC ? 0x74 :
				   near ? 0xe9 : 0xeb;
		in->field = (uint8_t)n;
		in->field_size = near || kind == INSN_CALL ? 4 : 1;
		n += in->field_size;
	} else if (kind == INSN_IJMP) {
		memcpy(out, ijmp, n = 2);
	} else if (kind == INSN_TRAP) {
		memcpy(out, trap, n = 2);
	} else {
		out[n++] = kind == INSN_RET ? 0xc3 : 0x90;
	}
	return n;
}

static int set_displacement(struct parser *ps, const struct insn *in, vaddr target)
{
	uint8_t *at = ps->code + in->off + in->field;
	int64_t d = (int64_t)(target - (CODE_BASE + in->off + in->len));

	if (in->field_size == 1 && (d < -128 || d > 127))
		return wrong(ps, "a 2-byte branch does not reach; make larger the block in",
			     "fn");
	for (uint32_t i = 0; i < in->field_size; i++)
		at[i] = (uint8_t)((uint64_t)d >> (8 * i));
	return 0;
}

/* call *%rax behind prefixes that mean nothing. */
static void write_icall(uint8_t *out, uint32_t len)
{
	memset(out, 0x2e, len - 2);
	out[len - 2] = 0xff;
	out[len - 1] = 0xd0;
}

/* Instructions of a block: plain ones in front of the last, of about 4 bytes each. */
static int build_insns(struct parser *ps, struct text_fn *t, uint32_t id, struct insn *insn,
		       uint32_t *ninsn)
{
	struct block *b = &t->block.v[id];
	enum insn_kind kind = last_kind(&t->text.v[id], b);
	uint8_t bytes[16];
	struct insn last = { .kind = (uint8_t)kind };

	/* A single successor that is not the next block is jumped to. */
	if (kind == INSN_PLAIN && t->text.v[id].ntarget == 1) {
		uint32_t to = 0;

		if (!block_number(t->text.v[id].target[0], t->block.n, &to, &b->fall_count))
			return wrong(ps, "no such target", t->text.v[id].target[0]);
		if (to != id + 1 || t->block.v[to].range != b->range)
			last.kind = INSN_JMP;
	}
	uint32_t len = last_bytes((enum insn_kind)last.kind, b->size, bytes, &last);
	if (b->size < len)
		return wrong(ps, "too small for its last instruction is a block of fn",
			     t->fn.name);
	if (t->text.v[id].insns == 1 && b->size <= 15 &&
	    (last.kind == INSN_PLAIN || last.kind == INSN_NOP)) {
		memset(bytes, 0x90, b->size);
		len = b->size;
	}
	uint32_t rest = b->size - len, n = t->text.v[id].insns;
	n = n ? n - 1 : (rest + 3) / 4;
	if (n == 0 && t->text.v[id].icall)
		return wrong(ps, "nothing but its last instruction has a block of fn",
			     t->fn.name);
	if (n > rest || rest > 15 * n)
		return wrong(ps, "size and insns of a block do not go together in fn",
			     t->fn.name);
	b->insn = *ninsn;
	b->ninsn = n + 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t part = rest / (n - i);
		bool icall = i == 0 && t->text.v[id].icall;

		if (icall && part < 2)
			return wrong(ps, "no room for an icall in a block of fn", t->fn.name);
		insn[(*ninsn)++] = (struct insn){ .off = (uint32_t)ps->ncode,
						  .len = (uint8_t)part,
						  .kind = b->padding ? INSN_NOP
							  : icall    ? INSN_ICALL
								     : INSN_PLAIN };
		memset(ps->code + ps->ncode, 0x90, part);
		if (icall)
			write_icall(ps->code + ps->ncode, part);
		ps->ncode += part;
		rest -= part;
	}
	last.off = (uint32_t)ps->ncode;
	last.len = (uint8_t)len;
	memcpy(ps->code + ps->ncode, bytes, len);
	ps->ncode += len;
	insn[(*ninsn)++] = last;
	return 0;
}

static int build_table(struct parser *ps, struct text_fn *t, uint32_t id)
{
	const struct text_block *text = &t->text.v[id];
	uint32_t n = text->ntarget - 1;
	struct jump_table *table = &t->fn.table[t->fn.ntable];

	if (n == 2 && strcmp(text->target[1], "of") == 0) {
		uint32_t user = 0;
		double none;

		if (!block_number(text->target[2], id, &user, &none) ||
		    t->block.v[user].table == NO_TABLE)
			return wrong(ps, "no block with a table is", text->target[2]);
		t->block.v[id].table = t->block.v[user].table;
		return 0;
	}
	if (n == 0)
		return wrong(ps, "no entries behind", "table");
	*table = (struct jump_table){ .kind = BLOCKMAP_TABLE_REL32, .nentry = n, .bound = n,
		.nuser = 1 };
	table->target = arena_array(ps->a, n, sizeof(*table->target));
	table->succ = arena_array(ps->a, n, sizeof(*table->succ));
	table->count = arena_array(ps->a, n, sizeof(*table->count));
	table->user = arena_array(ps->a, 1, sizeof(*table->user));
	table->user[0] = t->block.v[id].insn;
	for (uint32_t i = 0; i < n; i++) {
		const char *word = text->target[i + 1];

		if (strcmp(word, "out") == 0)
			table->succ[i] = NO_BLOCK, table->target[i] = OUTSIDE;
		else if (!block_number(word, t->block.n, &table->succ[i], &table->count[i]))
			return wrong(ps, "no such target", word);
		else
			table->target[i] = t->block.v[table->succ[i]].addr;
	}
	t->block.v[id].table = t->fn.ntable++;
	return 0;
}

/* A trap with code behind it in its range. */
static bool trap_falls(const struct text_fn *t, uint32_t id)
{
	const struct block *b = &t->block.v[id];

	if (t->fn.insn[b->insn + b->ninsn - 1].kind != INSN_TRAP)
		return false;
	do {
		id++;
	} while (id < t->block.n && t->block.v[id].padding);
	return id < t->block.n && t->block.v[id].range == b->range;
}

static int build_edges(struct parser *ps, struct text_fn *t, uint32_t id)
{
	const struct text_block *text = &t->text.v[id];
	struct block *b = &t->block.v[id];
	const struct insn *last = &t->fn.insn[b->insn + b->ninsn - 1];
	bool range_ends = id + 1 == t->block.n || t->block.v[id + 1].range != b->range;

	b->noreturn |= trap_falls(t, id);
	if (!insn_ends_flow(last) || trap_falls(t, id)) {
		b->fall = range_ends ? NO_BLOCK : id + 1;
		b->fall_out = range_ends ? b->addr + b->size : 0;
	}
	if (last->kind == INSN_JCC) {
		uint32_t fall = NO_BLOCK;

		if (!block_number(text->target[0], t->block.n, &fall, &b->fall_count) ||
		    fall != b->fall)
			return wrong(ps, "not the next block is", text->target[0]);
	}
	if (last->kind == INSN_IJMP && strcmp(text->target[0], "table") == 0)
		return build_table(ps, t, id);
	if (!insn_is_branch(last))
		return 0;
	const char *word = text->ntarget ? text->target[text->ntarget - 1] : "out";
	if (last->kind == INSN_CALL || strcmp(word, "out") == 0) {
		b->taken_out = last->kind == INSN_CALL ? 0 : OUTSIDE;
		return set_displacement(ps, last, OUTSIDE);
	}
	if (last->kind == INSN_JMP)
		b->fall_count = 0;
	if (!block_number(word, t->block.n, &b->taken, &b->taken_count))
		return wrong(ps, "no such target", word);
	return set_displacement(ps, last, t->block.v[b->taken].addr);
}

static int build_order(struct parser *ps, struct text_fn *t)
{
	struct fn *fn = &t->fn;

	fn->order = arena_array(ps->a, fn->nblock, sizeof(*fn->order));
	for (uint32_t i = 0; i < fn->nblock; i++) {
		double count;

		fn->order[i] = i;
		if (t->order.n && (t->order.n != fn->nblock ||
		    !block_number(t->order.v[i], fn->nblock, &fn->order[i], &count)))
			return wrong(ps, "order does not fit fn", fn->name);
	}
	return 0;
}

static int build_fn(struct parser *ps, struct text_fn *t)
{
	struct fn *fn = &t->fn;
	uint32_t most = 0;

	if (t->block.n == 0)
		return wrong(ps, "no blocks in fn", fn->name);
	for (uint32_t i = 0; i < t->block.n; i++)
		most += t->block.v[i].size;
	if (most > MAX_CODE / 2 - ps->ncode)
		return wrong(ps, "too much code in fn", fn->name);
	fn->nblock = t->block.n;
	fn->block = t->block.v;
	fn->insn = arena_array(ps->a, most, sizeof(*fn->insn));
	fn->table = arena_array(ps->a, fn->nblock, sizeof(*fn->table));
	fn->range = arena_array(ps->a, t->nrange, sizeof(*fn->range));
	fn->nrange = t->nrange;
	fn->seen_edge = t->seen.v;
	fn->nseen_edge = t->seen.n;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		struct block *b = &fn->block[i];
		struct fn_range *range = &fn->range[b->range];

		if (range->size == 0)
			range->addr = CODE_BASE + ps->ncode;
		b->addr = CODE_BASE + ps->ncode;
		range->size += b->size;
		fn->samples += b->samples;
		fn->leaves |= b->stays;
		if (build_insns(ps, t, i, fn->insn, &fn->ninsn) < 0)
			return -1;
	}
	for (uint32_t r = 0; r < fn->nrange; r++) {
		if (fn->range[r].size == 0)
			return wrong(ps, "an empty range in fn", fn->name);
	}
	fn->entry = fn->range[0].addr;
	for (uint32_t i = 0; i < fn->nblock; i++) {
		if (build_edges(ps, t, i) < 0)
			return -1;
	}
	return build_order(ps, t);
}

/* Number of functions if there is none. */
static uint32_t fn_called(const struct parser *ps, const char *name)
{
	uint32_t f = 0;

	while (f < ps->fn.n && strcmp(ps->fn.v[f].fn.name, name) != 0)
		f++;
	return f;
}

static int build_seen_calls(struct parser *ps, struct prog *prog)
{
	for (uint32_t f = 0; f < ps->fn.n; f++) {
		const struct text_fn *t = &ps->fn.v[f];
		struct fn *fn = &prog->fn[f];

		fn->nseen_call = t->seen_call.n;
		fn->seen_call = arena_array(ps->a, fn->nseen_call, sizeof(*fn->seen_call));
		for (uint32_t i = 0; i < fn->nseen_call; i++) {
			const struct text_call *c = &t->seen_call.v[i];
			const struct block *b = &fn->block[c->block];
			uint32_t callee = fn_called(ps, c->callee);

			if (callee == ps->fn.n)
				return wrong(ps, "no function is called", c->callee);
			fn->seen_call[i] =
				(struct seen_call){ .insn = b->insn + (t->text.v[c->block].icall
									       ? 0
									       : b->ninsn - 1),
						    .target = prog->fn[callee].entry,
						    .count = c->count };
		}
	}
	return 0;
}

static int build_calls(struct parser *ps, struct prog *prog)
{
	VEC(struct call_site) calls = { 0 };

	for (uint32_t f = 0; f < ps->fn.n; f++) {
		for (uint32_t b = 0; b < ps->fn.v[f].text.n; b++) {
			struct call_site c = { .caller = f, .block = b };
			const char *name = ps->fn.v[f].text.v[b].call;

			if (!name)
				continue;
			c.callee = fn_called(ps, name);
			if (c.callee == ps->fn.n)
				return wrong(ps, "no function is called", name);
			vec_push(ps->a, &calls, c);
		}
	}
	prog->call = calls.v;
	prog->ncall = calls.n;
	return 0;
}

/* An image of one segment, and one FDE for each range: what lookups and checks need. */
static void build_image(struct parser *ps, struct prog *prog)
{
	uint32_t nfde = 0;

	for (uint32_t f = 0; f < prog->nfn; f++)
		nfde += prog->fn[f].nrange;
	prog->cfi.fde = arena_array(ps->a, nfde, sizeof(*prog->cfi.fde));
	prog->fn_of_fde = arena_array(ps->a, nfde, sizeof(*prog->fn_of_fde));
	for (uint32_t f = 0; f < prog->nfn; f++) {
		for (uint32_t r = 0; r < prog->fn[f].nrange; r++) {
			struct fn_range *range = &prog->fn[f].range[r];

			prog->cfi.fde[prog->cfi.nfde].addr = range->addr;
			prog->cfi.fde[prog->cfi.nfde].len = range->size;
			prog->fn_of_fde[prog->cfi.nfde] = f;
			range->fde = prog->cfi.nfde++;
		}
	}
	prog->base = CODE_BASE;
	prog->text_size = prog->fde_bytes = ps->ncode;
	prog->img.file = (struct bytes){ ps->code, ps->ncode };
	prog->img.ph = arena_alloc(ps->a, sizeof(*prog->img.ph));
	prog->img.nph = 1;
	prog->img.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_vaddr = CODE_BASE, .p_filesz = ps->ncode, .p_memsz = ps->ncode };
}

static int build_prog(struct parser *ps)
{
	struct prog *prog = &ps->out->prog;

	prog->arena = ps->a;
	prog->nfn = ps->fn.n;
	prog->fn = arena_array(ps->a, prog->nfn, sizeof(*prog->fn));
	prog->order = arena_array(ps->a, prog->nfn, sizeof(*prog->order));
	for (uint32_t f = 0; f < ps->fn.n; f++) {
		if (build_fn(ps, &ps->fn.v[f]) < 0)
			return -1;
		prog->fn[f] = ps->fn.v[f].fn;
		if (prog->fn[f].moved)
			prog->order[prog->norder++] = f;
	}
	build_image(ps, prog);
	return build_calls(ps, prog) < 0 ? -1 : build_seen_calls(ps, prog);
}

int irtext_parse(struct bytes text, struct arena *a, struct irtext *out, struct err *err)
{
	struct irtext t = { .rest = "" };
	struct parser ps = { .a = a, .out = &t, .err = err };
	char *copy = arena_alloc(a, text.n + 1);

	memcpy(copy, text.p, text.n);
	ps.code = arena_alloc(a, MAX_CODE);
	for (char *line = copy; *line; ) {
		size_t n = strcspn(line, "\n");
		char *next = line + n + (line[n] == '\n');

		ps.line++;
		if (strncmp(line, "run ", 4) == 0) {
			t.rest = line;
			break;
		}
		line[n] = '\0';
		if (parse_line(&ps, line) < 0)
			return -1;
		line = next;
	}
	if (build_prog(&ps) < 0)
		return -1;
	*out = t;
	return 0;
}
