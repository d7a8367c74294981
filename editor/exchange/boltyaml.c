/* boltyaml.c - counts of an annotated program as llvm-bolt's YAML; see boltprofile.h
 *
 * Tested by tests/e2e/bolt.sh.
 */
#include "editor/exchange/boltprofile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "binary/buildid.h"
#include "editor/exchange/boltblocks.h"
#include "editor/exchange/callcounts.h"
#include "lib/search.h"
#include "lib/utf8.h"

struct writer {
	const struct prog *prog;
	struct arena *arena;
	const struct boltnames *names;
	struct wr *out;
	struct callcounts calls;
	uint32_t *first;	/* [nfn] in number[] of the function's first range */
	uint32_t *number;	/* of each range as a function of the profile, 0: not in it */
	uint32_t unnamed;	/* left out because of their names */
};

/* A branch or a call under way. */
struct way {
	uint32_t to;		/* block, or function of the profile */
	uint32_t off;		/* of a call, from the start of the block */
	uint64_t count;
};

struct ways {
	VEC(struct way) succ, call;
};

static void put(struct writer *w, const char *text)
{
	wr_text(w->out, text);
}

/* In single quotes, where nothing but these is special. */
static void put_quoted(struct writer *w, const char *text)
{
	wr_u8(w->out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			wr_u8(w->out, '\'');
		wr_u8(w->out, (uint8_t)*text);
	}
	wr_u8(w->out, '\'');
}

static uint64_t count_of(const struct writer *w, double count)
{
	return boltprofile_count(w->prog, count);
}

/* --- which functions there are --- */

static bool runs(const struct writer *w, const struct fn *fn, uint32_t range)
{
	for (uint32_t i = 0; i < fn->nblock; i++)
		if (fn->block[i].range == range && count_of(w, fn->block[i].count))
			return true;
	return false;
}

/* Numbers them, from 1 on without gaps. */
static void choose(struct writer *w)
{
	const struct prog *prog = w->prog;
	uint32_t all = 0, n = 0;

	w->first = arena_array(w->arena, prog->nfn, sizeof(*w->first));
	for (uint32_t f = 0; f < prog->nfn; f++) {
		w->first[f] = all;
		all += prog->fn[f].nrange;
	}
	w->number = arena_array(w->arena, all, sizeof(*w->number));
	for (uint32_t f = 0; f < prog->nfn; f++) {
		const struct fn *fn = &prog->fn[f];

		for (uint32_t r = 0; fn->moved && r < fn->nrange; r++) {
			if (!runs(w, fn, r))
				continue;
			if (utf8_all_shown(boltnames_plain(w->names, fn->range[r].addr)))
				w->number[w->first[f] + r] = ++n;
			else
				w->unnamed++;
		}
	}
}

/* The number of the piece of code that begins there; 0: it is not in the profile. */
static uint32_t function_at(const struct writer *w, const struct fn *fn, vaddr addr)
{
	for (uint32_t r = 0; r < fn->nrange; r++)
		if (fn->range[r].addr == addr)
			return w->number[w->first[fn - w->prog->fn] + r];
	return 0;
}

/* --- one function --- */

struct function {
	const struct fn *fn;
	struct boltblocks blocks;
	uint32_t range;
	double *table_runs;
};

static void add_way(struct writer *w, struct ways *ways, uint32_t to, uint64_t count)
{
	for (uint32_t i = 0; i < ways->succ.n; i++)
		if (ways->succ.v[i].to == to) {
			ways->succ.v[i].count += count;
			return;
		}
	vec_push(w->arena, &ways->succ, ((struct way){ to, 0, count }));
}

static void add_call(struct writer *w, struct ways *ways, uint32_t to, vaddr off,
		     uint64_t count)
{
	if (count)
		vec_push(w->arena, &ways->call, ((struct way){ to, (uint32_t)off, count }));
}

/* An edge out of our block `from`, which is in the one that begins at `start`.  One that leads
 * to another piece of the function is a jump out of it to llvm-bolt. */
static void add_edge(struct writer *w, const struct function *f, struct ways *ways,
		     uint32_t from, vaddr start, uint32_t to, double edge)
{
	const struct fn *fn = f->fn;
	uint64_t count = count_of(w, edge);

	if (to == NO_BLOCK || !count)
		return;
	const struct block *b = &fn->block[from];
	if (fn->block[to].range != f->range)
		add_call(w, ways, function_at(w, fn, fn->block[to].addr),
			 prog_insn_addr(w->prog, &fn->insn[b->insn + b->ninsn - 1]) - start,
			 count);
	else if (f->blocks.begins[to] || f->blocks.number[to] != f->blocks.number[from])
		add_way(w, ways, f->blocks.number[to], count);
}

static void add_edges(struct writer *w, const struct function *f, struct ways *ways,
		      uint32_t id, vaddr start)
{
	const struct fn *fn = f->fn;
	const struct block *b = &fn->block[id];
	double share = fn_table_share(fn, f->table_runs, id);

	if (!b->ninsn)
		return;
	add_edge(w, f, ways, id, start, b->fall, b->fall_count);
	add_edge(w, f, ways, id, start, b->taken, b->taken_count);
	for (uint32_t k = 0; share > 0 && k < fn->table[b->table].nentry; k++)
		add_edge(w, f, ways, id, start, fn->table[b->table].succ[k],
			 share * fn->table[b->table].count[k]);
}

static void add_calls(struct writer *w, const struct function *f, struct ways *ways,
		      uint32_t id, vaddr start)
{
	uint32_t me = (uint32_t)(f->fn - w->prog->fn);
	const struct callcounts *c = &w->calls;
	uint32_t k = search_first(i, 0, c->n, c->at[i].caller < me ||
				  (c->at[i].caller == me && c->at[i].block < id));

	for (; k < c->n && c->at[k].caller == me && c->at[k].block == id; k++)
		add_call(w, ways, w->number[w->first[c->at[k].callee]], c->at[k].at - start,
			 count_of(w, c->at[k].count));
}

static void put_ways(struct writer *w, const struct ways *ways)
{
	for (uint32_t i = 0; i < ways->call.n; i++) {
		const struct way *c = &ways->call.v[i];

		put(w, arena_printf(w->arena, "%s{ off: 0x%" PRIX32 ", fid: %" PRIu32 ", cnt: %"
				    PRIu64 " }", i ? ", " : "        calls:           [ ",
				    c->off, c->to, c->count));
	}
	put(w, ways->call.n ? " ]\n" : "");
	for (uint32_t i = 0; i < ways->succ.n; i++) {
		const struct way *s = &ways->succ.v[i];

		put(w, arena_printf(w->arena, "%s{ bid: %" PRIu32 ", cnt: %" PRIu64 " }",
				    i ? ", " : "        succ:            [ ", s->to,
				    s->count));
	}
	put(w, ways->succ.n ? " ]\n" : "");
}

/* Our blocks `from` to `end` are one of llvm-bolt's. */
static void put_block(struct writer *w, const struct function *f, uint32_t from, uint32_t end)
{
	const struct fn *fn = f->fn;
	uint64_t count = count_of(w, fn->block[from].count);
	struct ways ways = { 0 };
	uint32_t insns = 0;

	for (uint32_t i = from; i < end; i++) {
		insns += fn->block[i].ninsn;
		add_edges(w, f, &ways, i, fn->block[from].addr);
		add_calls(w, f, &ways, i, fn->block[from].addr);
	}
	if (!count && !ways.succ.n && !ways.call.n)
		return;
	put(w, arena_printf(w->arena, "      - bid:             %" PRIu32 "\n"
			    "        insns:           %" PRIu32 "\n"
			    "        exec:            %" PRIu64 "\n",
			    f->blocks.number[from], insns, count));
	put_ways(w, &ways);
}

static void put_blocks(struct writer *w, const struct function *f)
{
	const struct fn *fn = f->fn;

	for (uint32_t i = 0, end; i < fn->nblock; i = end) {
		for (end = i + 1; end < fn->nblock && !f->blocks.begins[end]; end++)
			;
		if (fn->block[i].range == f->range)
			put_block(w, f, i, end);
	}
}

static double entries(const struct fn *fn, uint32_t range)
{
	uint32_t first = fn_find_block(fn, fn->range[range].addr);

	return range ? fn->block[first].count : fn->entry_count;
}

static void put_function(struct writer *w, struct function *f, uint32_t number)
{
	put(w, "  - name:            ");
	put_quoted(w, boltnames_plain(w->names, f->fn->range[f->range].addr));
	put(w, arena_printf(w->arena, "\n    fid:             %" PRIu32 "\n"
			    "    hash:            0x0\n"
			    "    exec:            %" PRIu64 "\n"
			    "    nblocks:         %" PRIu32 "\n    blocks:\n", number,
			    count_of(w, entries(f->fn, f->range)), f->blocks.n[f->range]));
	put_blocks(w, f);
}

/* --- all --- */

static void put_header(struct writer *w, const char *module)
{
	struct bytes id = buildid_find(&w->prog->img).id;
	const char *base = strrchr(module, '/');

	put(w, "---\nheader:\n  profile-version: 1\n  binary-name:     ");
	char *name = utf8_escaped(base ? base + 1 : module);
	put_quoted(w, name);
	free(name);
	put(w, "\n  binary-build-id: '");
	for (uint64_t i = 0; i < id.n; i++)
		put(w, arena_printf(w->arena, "%02x", id.p[i]));
	put(w, "'\n  profile-flags:   [ lbr ]\n  profile-origin:  morph\n"
	       "  profile-events:  ''\n  dfs-order:       false\n  hash-func:       xxh3\n"
	       "functions:\n");
}

void boltprofile_yaml(const struct prog *prog, const struct boltnames *names,
		      const char *module, struct wr *out)
{
	struct writer w = { .prog = prog, .arena = prog->arena, .names = names, .out = out };

	callcounts_find(prog, &w.calls);
	choose(&w);
	put_header(&w, module);
	for (uint32_t i = 0; i < prog->nfn; i++) {
		struct function f = { .fn = &prog->fn[i] };

		if (!f.fn->moved)
			continue;
		f.table_runs = arena_array(w.arena, f.fn->ntable, sizeof(*f.table_runs));
		fn_table_runs(f.fn, f.table_runs);
		boltblocks_find(f.fn, w.arena, &f.blocks);
		for (f.range = 0; f.range < f.fn->nrange; f.range++)
			if (w.number[w.first[i] + f.range])
				put_function(&w, &f, w.number[w.first[i] + f.range]);
	}
	if (w.unnamed)
		put(&w, arena_printf(w.arena, "# %" PRIu32 " functions are left out: their "
				     "names cannot stand in YAML\n", w.unnamed));
	put(&w, "...\n");
}
