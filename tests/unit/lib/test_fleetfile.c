/* test_fleetfile.c - requests and answers between the Manager and morph-share: what is written
 * is read, and nothing else is */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/fleetfile.h"

static struct fleet_block block[] = { { 0, 1 }, { 5, FLEET_COUNT_MAX }, { 9, 3 } };
static struct fleet_edge edge[] = { { 0, 5, 1 }, { 0, 9, 2 }, { 5, 0, 3 } };
static struct fleet_call call[] = { { 0, 1, 5, 1 }, { 0, 2, 0, 2 } };
static struct fleet_evidence evidence = {
	.kind = FLEET_EXECUTIONS, .epoch = 2969, .sequence = 7, .contributors = 23, .nblock = 3,
	.nedge = 3, .ncall = 2, .block = block, .edge = edge, .call = call,
};

static void write_answer(struct wr *w)
{
	struct fleet_answer_told told[] = { { 0, FLEET_TAKEN }, { 4, FLEET_REFUSED } };
	const struct fleet_answer q = { .ntold = 2, .told = told, .left_out = 3, .nfleet = 1,
					.fleet = &evidence };

	fleet_answer_write(&q, w);
}

static void write_request(struct wr *w)
{
	struct digest want[2] = { { { 1 } }, { { 2 } } };
	const struct fleet_request q = { .class = "build-server", .machine = { 9 }, .ngive = 1,
					 .give = &evidence, .nwant = 2, .want = want };

	fleet_request_write(&q, w);
}

static void same(const struct fleet_evidence *e)
{
	assert_int_equal(e->kind, evidence.kind);
	assert_int_equal(e->epoch, evidence.epoch);
	assert_int_equal(e->sequence, evidence.sequence);
	assert_int_equal(e->contributors, evidence.contributors);
	assert_int_equal(e->nblock, 3);
	assert_int_equal(e->nedge, 3);
	assert_int_equal(e->ncall, 2);
	assert_true(e->block[1].block == 5 && e->block[1].count == FLEET_COUNT_MAX);
	assert_true(e->edge[2].from == 5 && e->edge[2].to == 0 && e->edge[2].count == 3);
	assert_true(e->call[1].at == 2 && e->call[1].target == 0 && e->call[1].count == 2);
}

static void what_is_written_is_read(void **state)
{
	struct arena *a = arena_new();
	struct fleet_request q;
	struct fleet_answer n;
	struct wr w = { 0 };
	struct err err = { 0 };

	(void)state;
	write_request(&w);
	assert_int_equal(fleet_request_read(wr_bytes(&w), a, &q, &err), 0);
	assert_string_equal(q.class, "build-server");
	assert_true(q.machine[0] == 9 && q.nwant == 2 && q.want[1].b[0] == 2);
	assert_int_equal(q.ngive, 1);
	same(&q.give[0]);
	w.n = 0;
	write_answer(&w);
	assert_int_equal(fleet_answer_read(wr_bytes(&w), a, &n, &err), 0);
	assert_true(n.ntold == 2 && n.told[1].index == 4 && n.told[1].told == FLEET_REFUSED);
	assert_true(n.left_out == 3 && n.nfleet == 1);
	same(&n.fleet[0]);
	wr_free(&w);
	arena_free(a);
}

/* Whole or not at all. */
static void what_is_cut_or_too_long_is_refused(void **state)
{
	struct arena *a = arena_new();
	struct fleet_request q;
	struct fleet_answer n;
	struct wr request = { 0 }, answer = { 0 };
	struct err err = { 0 };

	(void)state;
	write_request(&request);
	write_answer(&answer);
	for (size_t i = 0; i < request.n; i++)
		assert_int_equal(
			fleet_request_read((struct bytes){ request.p, i }, a, &q, &err), -1);
	for (size_t i = 0; i < answer.n; i++)
		assert_int_equal(
			fleet_answer_read((struct bytes){ answer.p, i }, a, &n, &err), -1);
	wr_u8(&request, 0);
	wr_u8(&answer, 0);
	assert_int_equal(fleet_request_read(wr_bytes(&request), a, &q, &err), -1);
	assert_int_equal(fleet_answer_read(wr_bytes(&answer), a, &n, &err), -1);
	wr_free(&request);
	wr_free(&answer);
	arena_free(a);
}

static bool good(void)
{
	const char *why;
	bool yes = fleet_evidence_is_good(&evidence, &why);

	assert_true(yes == (why == NULL));
	return yes;
}

#define SPOILT(place, value)				\
	do {						\
		__typeof__(place) was_ = place;		\
							\
		place = value;				\
		assert_false(good());			\
		place = was_;				\
		assert_true(good());			\
	} while (0)

static void what_cannot_be_is_not_good(void **state)
{
	(void)state;
	assert_true(good());
	SPOILT(block[1].count, 0);
	SPOILT(block[1].count, FLEET_COUNT_MAX + 1);
	SPOILT(block[1].block, 0);
	SPOILT(block[1].block, 9);
	SPOILT(edge[1].count, 0);
	SPOILT(edge[1].to, 5);
	SPOILT(edge[1].to, 4);
	SPOILT(edge[2].from, 0);
	SPOILT(call[1].count, 0);
	SPOILT(call[1].at, 1);
	SPOILT(call[0].block, 1);
	SPOILT(evidence.nblock, 0);
	SPOILT(evidence.nblock, FLEET_MANY + 1);
}

/* Numbers that would make room for more than there is. */
static void no_room_is_made_for_what_is_not_there(void **state)
{
	struct arena *a = arena_new();
	struct fleet_answer n;
	struct wr w = { 0 };
	struct err err = { 0 };

	(void)state;
	write_answer(&w);
	for (size_t at = 12; at + 4 <= w.n; at++) {
		struct wr copy = { 0 };

		wr_raw(&copy, w.p, w.n);
		wr_put_u32(&copy, at, UINT32_MAX);
		(void)fleet_answer_read(wr_bytes(&copy), a, &n, &err);
		wr_free(&copy);
	}
	wr_free(&w);
	arena_free(a);
}

static void classes_are_small_words(void **state)
{
	(void)state;
	assert_true(fleet_class_is_good(""));
	assert_true(fleet_class_is_good("build-server_2.x"));
	assert_true(fleet_class_is_good("abcdefghijklmnopqrstuvwxyz012345"));
	assert_false(fleet_class_is_good("abcdefghijklmnopqrstuvwxyz0123456"));
	assert_false(fleet_class_is_good("Server"));
	assert_false(fleet_class_is_good("a b"));
	assert_false(fleet_class_is_good("../x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_cut_or_too_long_is_refused),
		cmocka_unit_test(what_cannot_be_is_not_good),
		cmocka_unit_test(no_room_is_made_for_what_is_not_there),
		cmocka_unit_test(classes_are_small_words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
