/* test_profile_code.c - profiles in few bytes: all of it comes back, space is kept, damage
 * is seen */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "manager/store/profile_code.h"

static bool same_counts(const struct store_profile *p, const struct store_count *want,
			uint32_t n)
{
	for (uint32_t i = 0; i < n && n == p->ncount; i++)
		if (p->count[i].block != want[i].block ||
		    p->count[i].samples != want[i].samples)
			return false;
	return n == p->ncount;
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Every block of a program with 1.9 MB of text in 120,000 blocks sampled, few of them often. */
static struct store_profile dense(uint32_t n)
{
	struct store_profile p = { .outside = 1000 << 8, .ncount = n,
				   .count = calloc(n, sizeof(*p.count)) };
	uint64_t x = 7;

	assert_non_null(p.count);
	for (uint32_t i = 0; i < n; i++) {
		unsigned bits = (unsigned)__builtin_ctzll(next_random(&x) | 1 << 14);

		p.count[i] =
			(struct store_count){ i, (1 + next_random(&x) % (1u << bits)) << 8 };
	}
	return p;
}

static void a_dense_profile_takes_at_most_a_twentieth_of_the_text(void **state)
{
	enum { TEXT = 1900000, BLOCKS = 120000 };
	struct store_profile p = dense(BLOCKS), got;
	uint64_t sum = 0, want = 0;
	struct wr w = { 0 };

	(void)state;
	profile_encode(&p, TEXT / 20, &w);
	assert_true(w.n <= TEXT / 20);
	assert_int_equal(profile_decode(wr_bytes(&w), &got), 0);
	assert_true(same_counts(&got, p.count, p.ncount));	/* nothing had to be rounded */
	assert_int_equal(got.outside, p.outside);
	store_profile_free(&got);

	/* With fractions, after aging, precision gives way, not the limit. */
	for (uint32_t i = 0; i < p.ncount; i++)
		want += p.count[i].samples += i % 256;
	w.n = 0;
	profile_encode(&p, TEXT / 20, &w);
	assert_true(w.n <= TEXT / 20);
	assert_int_equal(profile_decode(wr_bytes(&w), &got), 0);
	for (uint32_t i = 0; i < got.ncount; i++)
		sum += got.count[i].samples;
	assert_true(sum > want / 100 * 97 && sum < want / 100 * 103);
	store_profile_free(&got);
	store_profile_free(&p);
	wr_free(&w);
}

/* Edges beyond all use do not push out the samples. */
static void edges_give_way_before_samples_do(void **state)
{
	enum { N = 20000 };
	struct edgecounts_edge *edge = calloc(N, sizeof(*edge));
	struct store_profile p = dense(1000), got;
	struct wr w = { 0 };
	uint64_t x = 7;

	(void)state;
	assert_non_null(edge);
	for (uint32_t i = 0; i < N; i++)
		edge[i] = (struct edgecounts_edge){ i, i + 1,
						    (1 + next_random(&x) % 4096) << 8 };
	p.edges = (struct edgecounts){ .nedge = N, .edge = edge };
	profile_encode(&p, 20000, &w);
	assert_true(w.n <= 20000);
	assert_int_equal(profile_decode(wr_bytes(&w), &got), 0);
	assert_true(same_counts(&got, p.count, p.ncount));	/* not one of them rounded */
	assert_true(got.edges.nedge > 1000 && got.edges.nedge < N);
	for (uint32_t i = 0; i < got.edges.nedge; i++) {
		const struct edgecounts_edge *e = &got.edges.edge[i];
		uint64_t was = edge[e->from].count;

		assert_int_equal(e->to, e->from + 1);
		assert_true(e->count >= was / 2 && e->count <= 2 * was);
	}
	store_profile_free(&got);
	store_profile_free(&p);
	wr_free(&w);
}

static void profiles_code_and_decode_and_damage_is_refused(void **state)
{
	struct store_count count[] = {
		{ 0, 1 }, { 1, UINT64_MAX }, { 2, 256 }, { 70000, 3 }, { UINT32_MAX - 1, 77 },
	};
	struct edgecounts_edge edge[] = {
		{ 0, 0, 256 },
		{ 0, UINT32_MAX - 1, UINT64_MAX },
		{ 7, 3, 1 },
		{ UINT32_MAX - 1, 0, 2 },
	};
	struct edgecounts_call call[] = {
		{ 0, 0, 0, 1 }, { 0, 0, 1, 77 }, { 0, 5, 0, 300 }, { 99, UINT32_MAX - 1, 4, 3 },
	};
	struct store_profile p = { .outside = 12345, .states = 678, .ncount = 5, .count = count,
				   .edges = { .nedge = 4, .ncall = 4, .edge = edge,
					      .call = call } },
			     got;
	struct wr w = { 0 };

	(void)state;
	profile_encode(&p, 0, &w);
	assert_int_equal(profile_decode(wr_bytes(&w), &got), 0);
	assert_true(same_counts(&got, count, 5));
	assert_int_equal(got.outside, 12345);
	assert_int_equal(got.states, 678);
	assert_int_equal(got.edges.nedge, 4);
	assert_memory_equal(got.edges.edge, edge, sizeof(edge));
	assert_int_equal(got.edges.ncall, 4);
	for (uint32_t i = 0; i < 4; i++) {	/* not byte for byte: there is padding */
		assert_int_equal(got.edges.call[i].block, call[i].block);
		assert_int_equal(got.edges.call[i].at, call[i].at);
		assert_int_equal(got.edges.call[i].target, call[i].target);
		assert_int_equal(got.edges.call[i].count, call[i].count);
	}
	store_profile_free(&got);
	for (size_t n = 0; n < w.n; n++)
		assert_int_equal(profile_decode((struct bytes){ w.p, n }, &got), -1);
	for (size_t i = 0; i < 8 * w.n; i++) {		/* flipped bits: refused or in order */
		w.p[i / 8] ^= (uint8_t)(1 << i % 8);
		if (profile_decode(wr_bytes(&w), &got) == 0) {
			for (uint32_t k = 1; k < got.ncount; k++)
				assert_true(got.count[k].block > got.count[k - 1].block);
			for (uint32_t k = 1; k < got.edges.nedge; k++)
				assert_true(got.edges.edge[k].from >=
					    got.edges.edge[k - 1].from);
			for (uint32_t k = 0; k < got.edges.ncall; k++)
				assert_true(got.edges.call[k].count > 0);
			store_profile_free(&got);
		}
		w.p[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	wr_free(&w);
	struct store_profile empty = { 0 };
	profile_encode(&empty, 0, &w);
	assert_int_equal(profile_decode(wr_bytes(&w), &got), 0);
	assert_int_equal(got.ncount, 0);
	store_profile_free(&got);
	wr_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dense_profile_takes_at_most_a_twentieth_of_the_text),
		cmocka_unit_test(edges_give_way_before_samples_do),
		cmocka_unit_test(profiles_code_and_decode_and_damage_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
