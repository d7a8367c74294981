/* test_emit.c - a program with every kind of block end, emitted in many orders, still computes
 * the same; and what the generation says about itself
 *
 * tests/asm/emit.s folds the results of all its functions into one word on standard output.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "editor/optimize.h"
#include "lib/blockmap.h"
#include "tests/unit/asm.h"

enum { SEEDS = 64 };

struct made {
	struct arena *a;
	struct bytes original;
	struct wr generation, map;
	struct edit_stats stats;
};

static int setup(void **state)
{
	struct made *m = test_calloc(1, sizeof(*m));

	m->a = arena_new();
	m->original = asm_build("emit", "", m->a);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	arena_free(m->a);
	wr_free(&m->generation);
	wr_free(&m->map);
	test_free(m);
	return 0;
}

static void emit(struct made *m, uint64_t seed)
{
	struct edit_options options = { .all = true, .shuffle = true, .seed = seed,
					.generation = 3 };
	struct err err;

	m->generation.n = m->map.n = 0;
	if (edit_optimize(m->original, NULL, &options, m->a, &m->generation, &m->map, &m->stats,
			  &err) < 0)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
}

/* Runs the bytes as a program; its standard output is one word. */
static uint64_t run(struct bytes file)
{
	char path[] = "/tmp/morph-emit.XXXXXX";
	int fd = mkstemp(path), status;
	uint64_t word = 0;
	struct err err;

	assert_true(fd >= 0 && fchmod(fd, 0700) == 0);
	assert_int_equal(io_write_all(fd, file.p, file.n, &err), 0);
	close(fd);
	FILE *p = popen(path, "r");

	assert_non_null(p);
	assert_int_equal(fread(&word, sizeof(word), 1, p), 1);
	status = pclose(p);
	unlink(path);
	assert_int_equal(status, 0);
	return word;
}

static void every_order_computes_the_same(void **state)
{
	struct made *m = *state;
	uint64_t want = run(m->original);

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		emit(m, seed);
		if (run(wr_bytes(&m->generation)) != want)
			fail_msg("seed %llu computes something else", (unsigned long long)seed);
	}
}

static void the_same_input_gives_the_same_bytes(void **state)
{
	struct made *m = *state;
	struct wr first = { 0 };

	emit(m, 7);
	wr_raw(&first, m->generation.p, m->generation.n);
	emit(m, 7);
	assert_int_equal(first.n, m->generation.n);
	assert_memory_equal(first.p, m->generation.p, first.n);
	emit(m, 8);
	assert_true(first.n != m->generation.n ||
		    memcmp(first.p, m->generation.p, first.n) != 0);
	wr_free(&first);
}

static bool contains(struct bytes b, const char *what, size_t n)
{
	return memmem(b.p, b.n, what, n) != NULL;
}

static struct bytes new_text(const struct made *m)
{
	struct image img;
	struct err err;

	assert_int_equal(image_parse(wr_bytes(&m->generation), m->a, &img, &err), 0);
	const struct section *s = image_section(&img, ".morph.text");

	assert_non_null(s);
	return image_at(&img, s->h.sh_addr, m->stats.hot_bytes + m->stats.fluff_bytes);
}

/* Among the seeds are orders that need the stub and orders that do not. */
static void loops_get_the_stub_only_out_of_reach(void **state)
{
	struct made *m = *state;
	uint32_t stubs = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		emit(m, seed);
		stubs += contains(new_text(m), "\xe2\x02\xeb\x05\xe9", 5) ||
			 contains(new_text(m), "\xe3\x02\xeb\x05\xe9", 5);
	}
	assert_in_range(stubs, 1, SEEDS - 1);
}

static void the_map_lists_all_images_in_order(void **state)
{
	struct made *m = *state;
	struct prog prog;
	struct blockmap map;
	struct err err;
	uint32_t nimage = 0;

	emit(m, 1);
	assert_int_equal(prog_analyze(m->original, m->a, &prog, &err), 0);
	assert_int_equal(blockmap_read(wr_bytes(&m->map), &map, &err), 0);
	assert_int_equal(map.generation, 3);
	assert_true(digest_equal(&map.original, &prog.digest));
	assert_int_equal(map.nentry, m->stats.functions_moved);
	assert_int_equal(map.ntable, 1);
	assert_int_equal(map.hot_size, m->stats.hot_bytes);
	assert_int_equal(map.nseg, 2);
	for (uint32_t i = 0; i < prog.nfn; i++)
		for (uint32_t k = 0; k < prog.fn[i].nblock; k++) {
			const struct block *b = &prog.fn[i].block[k];
			const struct blockmap_block *image = blockmap_find_orig(&map, b->addr);
			vaddr at = b->addr;

			if (prog.fn[i].skip != SKIP_NONE || !image)
				continue;
			/* Several, where an instruction has prefixes in front. */
			for (; at < b->addr + b->size; at += image->orig_size, nimage++) {
				image = blockmap_find_orig(&map, at);
				assert_non_null(image);
				assert_int_equal(map.orig_base + image->orig, at);
			}
			assert_int_equal(at, b->addr + b->size);
		}
	assert_int_equal(nimage, map.nblock);
	blockmap_free(&map);
}

static void table_entries_lead_to_images(void **state)
{
	struct made *m = *state;
	struct image img;
	struct blockmap map;
	struct err err;

	emit(m, 2);
	assert_int_equal(image_parse(wr_bytes(&m->generation), m->a, &img, &err), 0);
	assert_int_equal(blockmap_read(wr_bytes(&m->map), &map, &err), 0);
	new_vaddr base = map.table[0].new_addr;
	struct rd r = rd_of(image_at(&img, base, 4 * (uint64_t)map.table[0].nentry));

	assert_true(map.table[0].nentry >= 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_non_null(blockmap_find_gen(&map, base + (int64_t)rd_s32(&r)));
	assert_false(r.bad);
	blockmap_free(&map);
}

/* The row at every emitted instruction that starts a block is that of the original's block. */
static void images_keep_their_unwind_rows(void **state)
{
	struct made *m = *state;
	struct image img;
	struct cfi old, new;
	struct blockmap map;
	struct err err;

	for (uint64_t seed = 0; seed < 8; seed++) {
		emit(m, seed);
		assert_int_equal(image_parse(m->original, m->a, &img, &err), 0);
		assert_int_equal(cfi_parse(&img, m->a, &old, &err), 0);
		assert_int_equal(image_parse(wr_bytes(&m->generation), m->a, &img, &err), 0);
		assert_int_equal(cfi_parse(&img, m->a, &new, &err), 0);
		assert_int_equal(blockmap_read(wr_bytes(&m->map), &map, &err), 0);
		for (uint32_t i = 0; i < map.nblock; i++) {
			vaddr o = map.orig_base + map.block[i].orig;
			new_vaddr g = map.gen_base + map.block[i].gen;
			uint32_t of = cfi_find(&old, o), gf = cfi_find(&new, g);

			assert_int_not_equal(gf, UINT32_MAX);
			const struct cfi_state *x = &old.state[cfi_state_at(&old, of, o)];
			const struct cfi_state *y = &new.state[cfi_state_at(&new, gf, g)];

			assert_int_equal(x->cfa_off, y->cfa_off);
			assert_int_equal(x->reg[3].kind, y->reg[3].kind);
		}
		blockmap_free(&map);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(every_order_computes_the_same),
		T(the_same_input_gives_the_same_bytes),
		T(loops_get_the_stub_only_out_of_reach),
		T(the_map_lists_all_images_in_order),
		T(table_entries_lead_to_images),
		T(images_keep_their_unwind_rows),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
