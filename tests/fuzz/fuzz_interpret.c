/* fuzz_interpret.c - any file followed from any state: bounded work, and no edge but the
 * graph's
 *
 * Input: u32 length of a stream of state samples, the stream, and the file.  The file is
 * followed from the samples as they are, and from many places of its code with the registers of
 * each sample.
 */
#include <assert.h>
#include <stddef.h>

#include "editor/interpret/sightings.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "postmorph/analyze.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES = 200 };

static void sweep(struct interpreter *in, const struct image *img, struct statesample s)
{
	const Elf64_Phdr *code = img->code;

	for (uint64_t i = 0; code && i < PLACES; i++) {
		s.pc = s.bias + code->p_vaddr +
		       (code->p_filesz < PLACES ? i % (code->p_filesz + 1)
						: code->p_filesz / PLACES * i);
		interpreter_follow(in, &s);
	}
}

static void check_edges(const struct prog *prog, const struct profile *p)
{
	for (uint32_t i = 0; i < p->nedge; i++) {
		uint32_t f = prog_find_fn(prog, p->edge[i].from);

		assert(f != NO_FN && f == prog_find_fn(prog, p->edge[i].to));
		const struct fn *fn = &prog->fn[f];
		uint32_t from = fn_find_block(fn, p->edge[i].from),
			 to = fn_find_block(fn, p->edge[i].to);
		assert(from != NO_BLOCK && fn->block[from].addr == p->edge[i].from);
		assert(to != NO_BLOCK && fn->block[to].addr == p->edge[i].to);
		assert(i == 0 || p->edge[i - 1].from < p->edge[i].from ||
		       p->edge[i - 1].to < p->edge[i].to);
	}
	for (uint32_t i = 0; i < p->ncall; i++)
		assert(prog->fn[prog_find_fn(prog, p->call[i].target)].entry ==
		       p->call[i].target);
}

static void follow(struct arena *a, struct bytes file, struct bytes stream)
{
	struct interpret_options options = INTERPRET_DEFAULTS;
	struct sightings_source source = { 0 };
	struct statesample_reader r;
	struct sightings_stats placed;
	struct statesample s;
	struct image img = { 0 };
	struct prog prog = { 0 };
	struct profile p = { 0 };
	struct err err;

	if (image_parse(file, a, &img, &err) < 0 || statesample_open(stream, &r, &err) < 0)
		return;
	struct interpreter *in = interpreter_new(&img, a, &options, &err);
	if (!in)
		return;
	for (int n = 0; n < 8 && statesample_read(&r, &s, &err) > 0; n++) {
		interpreter_follow(in, &s);
		sweep(in, &img, s);
	}
	const struct interpret_stats *stats = interpreter_stats(in);
	assert(stats->steps <= stats->samples * options.steps);
	assert(stats->branches <= stats->samples * options.branches);
	assert(stats->joined + stats->left + stats->called <= stats->steps);
	source.mapped = &img;
	source.sighting = interpreter_sightings(in, &source.nsighting);
	uint32_t n;
	const vaddr *wanted = sightings_wanted(&source, a, &n);
	if (prog_analyze_at(file, wanted, n, a, &prog, &err) == 0) {
		sightings_place(&source, &prog, &p, &placed);
		assert(placed.edges + placed.calls + placed.uncut + placed.outside +
			       placed.no_edge + placed.ambiguous ==
		       stats->branches + stats->calls);
		check_edges(&prog, &p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd r = rd_of((struct bytes){ data, size });
	uint32_t n = rd_u32(&r);
	const uint8_t *stream = rd_skip(&r, n);
	struct arena *a = arena_new();

	if (stream)
		follow(a, (struct bytes){ r.p, rd_left(&r) }, (struct bytes){ stream, n });
	arena_free(a);
	return 0;
}
