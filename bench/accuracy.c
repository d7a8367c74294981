/* accuracy.c - how near estimated counts come to the true ones
 *
 *	accuracy FILE TRUTH ESTIMATE
 *
 * TRUTH is a complete profile of FILE (`clock exact`), ESTIMATE one as `morph-edit infer`
 * writes it.  Functions that cannot be moved are left out of both.  The unit of an estimate is
 * arbitrary: it is scaled so that both sides have the same instructions executed.  Printed are,
 * one a line:
 *
 *	block5, block10, block15  share of instructions executed that are in blocks whose
 *	                          estimate is within 5, 10, 15 % of the truth (DCPI's measure:
 *	                          what samples are of)
 *	edge10                    share of edge executions whose estimate is within 10 %
 *	overlap                   of the block counts as distributions: sum of the lesser
 *                                  shares
 *	within                    the same with each function scaled to its true sum
 *	edges                     overlap of the edge counts
 *	right                     share of executions of conditional branches whose likelier
 *	                          side is the one that the estimate tells; not knowing is not
 *	                          right
 *	error                     mean error of the probability to be taken, of such
 *	                          executions; where the estimate has none it is 1/2
 *	entries                   overlap of the functions' entry counts
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"
#include "postmorph/analyze.h"
#include "postmorph/ir/ir.h"

enum { MAX_FILE = 1 << 30, TRUTH = 0, ESTIMATE = 1 };

struct block_pair {		/* a block of a function that can be moved */
	double count[2];
	double insns;
	uint32_t fn, id;
};

struct edge_pair {
	vaddr from, to;
	double count[2];
};

struct sides {
	struct prog prog;
	struct profile profile[2];
	VEC(struct block_pair) block;	/* ascending by address */
	VEC(struct edge_pair) edge;	/* ascending by from, to */
};

static bool movable(const struct prog *prog, vaddr addr)
{
	uint32_t f = prog_find_fn(prog, addr);

	return f != NO_FN && prog->fn[f].kept && prog->fn[f].skip == SKIP_NONE;
}

/* Every block of the functions that one of the sides knows of. */
static void join_blocks(struct sides *s, struct arena *a)
{
	uint32_t at[2] = { 0, 0 };

	while (at[0] < s->profile[0].nblock || at[1] < s->profile[1].nblock) {
		vaddr addr = UINT64_MAX;

		for (int i = 0; i < 2; i++) {
			if (at[i] < s->profile[i].nblock &&
			    s->profile[i].block[at[i]].addr < addr)
				addr = s->profile[i].block[at[i]].addr;
		}
		struct block_pair b = { .fn = prog_find_fn(&s->prog, addr) };
		for (int i = 0; i < 2; i++) {
			if (at[i] < s->profile[i].nblock &&
			    s->profile[i].block[at[i]].addr == addr)
				b.count[i] = s->profile[i].block[at[i]++].samples;
		}
		if (!movable(&s->prog, addr))
			continue;
		const struct fn *fn = &s->prog.fn[b.fn];
		b.id = fn_find_block(fn, addr);
		b.insns = b.id == NO_BLOCK ? 0 : block_length(fn, &fn->block[b.id]);
		vec_push(a, &s->block, b);
	}
}

static int compare(const struct profile_edge *x, const struct profile_edge *y)
{
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void join_edges(struct sides *s, struct arena *a)
{
	const struct profile *p = s->profile;
	uint32_t at[2] = { 0, 0 };

	while (at[0] < p[0].nedge || at[1] < p[1].nedge) {
		int first = at[0] == p[0].nedge ||
			    (at[1] < p[1].nedge &&
			     compare(&p[1].edge[at[1]], &p[0].edge[at[0]]) < 0);
		const struct profile_edge *e = &p[first].edge[at[first]];
		struct edge_pair pair = { .from = e->from, .to = e->to };

		for (int i = 0; i < 2; i++) {
			if (at[i] < p[i].nedge && p[i].edge[at[i]].from == pair.from &&
			    p[i].edge[at[i]].to == pair.to)
				pair.count[i] = p[i].edge[at[i]++].count;
		}
		if (movable(&s->prog, pair.from))
			vec_push(a, &s->edge, pair);
	}
}

static void scale(struct sides *s)
{
	double sum[2] = { 0, 0 };

	for (uint32_t i = 0; i < s->block.n; i++) {
		for (int k = 0; k < 2; k++)
			sum[k] += s->block.v[i].count[k] * s->block.v[i].insns;
	}
	double by = sum[ESTIMATE] > 0 ? sum[TRUTH] / sum[ESTIMATE] : 0;
	for (uint32_t i = 0; i < s->block.n; i++)
		s->block.v[i].count[ESTIMATE] *= by;
	for (uint32_t i = 0; i < s->edge.n; i++)
		s->edge.v[i].count[ESTIMATE] *= by;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static void print_within(const struct sides *s)
{
	static const double limit[] = { 0.05, 0.10, 0.15 };
	double good[3] = { 0 }, all = 0;

	for (uint32_t i = 0; i < s->block.n; i++) {
		const struct block_pair *b = &s->block.v[i];
		double weight = b->count[TRUTH] * b->insns;

		all += weight;
		for (int k = 0; k < 3; k++) {
			if (fabs(b->count[ESTIMATE] - b->count[TRUTH]) <=
			    limit[k] * b->count[TRUTH])
				good[k] += weight;
		}
	}
	for (int k = 0; k < 3; k++)
		printf("block%.0f %.4f\n", 100 * limit[k], ratio(good[k], all));
	good[0] = all = 0;
	for (uint32_t i = 0; i < s->edge.n; i++) {
		const struct edge_pair *e = &s->edge.v[i];

		all += e->count[TRUTH];
		if (fabs(e->count[ESTIMATE] - e->count[TRUTH]) <= limit[1] * e->count[TRUTH])
			good[0] += e->count[TRUTH];
	}
	printf("edge10 %.4f\n", ratio(good[0], all));
}

/* Blocks of one function need not stand together: sums are by function first. */
static void print_overlaps(const struct sides *s, struct arena *a)
{
	double all[2] = { 0 }, lesser = 0, within = 0, (*fn)[2];

	fn = arena_array(a, s->prog.nfn, sizeof(*fn));
	for (uint32_t i = 0; i < s->block.n; i++) {
		for (int k = 0; k < 2; k++) {
			all[k] += s->block.v[i].count[k];
			fn[s->block.v[i].fn][k] += s->block.v[i].count[k];
		}
	}
	for (uint32_t i = 0; i < s->block.n; i++) {
		const struct block_pair *b = &s->block.v[i];
		const double *sum = fn[b->fn];

		lesser += fmin(ratio(b->count[0], all[0]), ratio(b->count[1], all[1]));
		within += fmin(b->count[TRUTH],
			       ratio(b->count[ESTIMATE] * sum[TRUTH], sum[ESTIMATE]));
	}
	printf("overlap %.4f\nwithin %.4f\n", lesser, ratio(within, all[TRUTH]));
	all[0] = all[1] = lesser = 0;
	for (uint32_t i = 0; i < s->edge.n; i++) {
		for (int k = 0; k < 2; k++)
			all[k] += s->edge.v[i].count[k];
	}
	for (uint32_t i = 0; i < s->edge.n; i++)
		lesser += fmin(ratio(s->edge.v[i].count[0], all[0]),
			       ratio(s->edge.v[i].count[1], all[1]));
	printf("edges %.4f\n", lesser);
}

static double edge_count(const struct sides *s, vaddr from, vaddr to, int side)
{
	uint32_t lo = 0, hi = s->edge.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct edge_pair *e = &s->edge.v[mid];

		if (e->from < from || (e->from == from && e->to < to))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->edge.n || s->edge.v[lo].from != from || s->edge.v[lo].to != to)
		return 0;
	return s->edge.v[lo].count[side];
}

/* Both ways of a conditional branch, as far as they stay inside the function. */
static bool branch_ways(const struct sides *s, const struct block_pair *b, int side,
			double *way)
{
	const struct fn *fn = &s->prog.fn[b->fn];
	const struct block *block = b->id == NO_BLOCK ? NULL : &fn->block[b->id];

	if (!block || block->fall == NO_BLOCK || block->taken == NO_BLOCK ||
	    block->fall == block->taken)
		return false;
	way[0] = edge_count(s, block->addr, fn->block[block->fall].addr, side);
	way[1] = edge_count(s, block->addr, fn->block[block->taken].addr, side);
	return true;
}

static void print_branches(const struct sides *s)
{
	double all = 0, right = 0, error = 0;

	for (uint32_t i = 0; i < s->block.n; i++) {
		double t[2], e[2];

		if (!branch_ways(s, &s->block.v[i], TRUTH, t) || t[0] + t[1] <= 0)
			continue;
		(void)branch_ways(s, &s->block.v[i], ESTIMATE, e);
		double n = t[0] + t[1], known = e[0] + e[1];
		all += n;
		if (t[0] == t[1] || (t[0] > t[1] ? e[0] > e[1] : e[1] > e[0]))
			right += n;
		error += n * fabs(t[1] / n - (known > 0 ? e[1] / known : 0.5));
	}
	printf("right %.4f\nerror %.4f\n", ratio(right, all), ratio(error, all));
}

static void print_entries(const struct sides *s, struct arena *a)
{
	double (*fn)[2] = arena_array(a, s->prog.nfn, sizeof(*fn)), all[2] = { 0 }, lesser = 0;

	/* Entry block less what comes to it from inside. */
	for (uint32_t i = 0; i < s->block.n; i++) {
		const struct block_pair *b = &s->block.v[i];

		for (int k = 0; k < 2 && b->id == 0; k++)
			fn[b->fn][k] += b->count[k];
	}
	for (uint32_t i = 0; i < s->edge.n; i++) {
		uint32_t f = prog_find_fn(&s->prog, s->edge.v[i].to);

		for (int k = 0; k < 2 && f != NO_FN; k++) {
			if (s->edge.v[i].to == s->prog.fn[f].entry)
				fn[f][k] -= s->edge.v[i].count[k];
		}
	}
	for (uint32_t f = 0; f < s->prog.nfn; f++) {
		for (int k = 0; k < 2; k++)
			all[k] += fn[f][k] = fmax(fn[f][k], 0);
	}
	for (uint32_t f = 0; f < s->prog.nfn; f++)
		lesser += fmin(ratio(fn[f][0], all[0]), ratio(fn[f][1], all[1]));
	printf("entries %.4f\n", lesser);
}

static int read_file(const char *path, struct arena *a, struct bytes *out, struct err *err)
{
	int fd = io_open_read(path, err);

	if (fd < 0)
		return -1;
	int rc = io_read_all(fd, MAX_FILE, a, out, err);
	(void)close(fd);	/* only read from */
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

static int read_sides(char **path, struct arena *a, struct sides *s, struct err *err)
{
	struct bytes file, text;
	VEC(vaddr) wanted = { 0 };

	for (int i = 0; i < 2; i++) {
		if (read_file(path[1 + i], a, &text, err) < 0 ||
		    profile_read(text, a, &s->profile[i], err) < 0)
			return -1;
		if (!profile_is_exact(&s->profile[i]))
			return err_set(err, ERR_INPUT, "'%s': not of the clock `exact`",
				       path[1 + i]);
		for (uint32_t k = 0; k < s->profile[i].nblock; k++)
			vec_push(a, &wanted, s->profile[i].block[k].addr);
	}
	if (read_file(path[0], a, &file, err) < 0)
		return -1;
	return prog_analyze_at(file, wanted.v, wanted.n, a, &s->prog, err);
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct sides s = { 0 };
	struct err err;

	if (argc != 4) {
		fprintf(stderr, "usage: accuracy FILE TRUTH ESTIMATE\n");
		return 2;
	}
	if (read_sides(argv + 1, a, &s, &err) < 0) {
		fprintf(stderr, "accuracy: %s\n", err.text);
		return 1;
	}
	join_blocks(&s, a);
	join_edges(&s, a);
	scale(&s);
	print_within(&s);
	print_overlaps(&s, a);
	print_branches(&s);
	print_entries(&s, a);
	arena_free(a);
	return 0;
}
