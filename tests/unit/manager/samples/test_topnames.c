/* test_topnames.c - samples by name: bounded, and none is lost */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/topnames.h"

static uint64_t all(const struct topnames *n)
{
	uint64_t sum = n->others;

	for (uint32_t i = 0; i < n->n; i++)
		sum += n->at[i].samples;
	return sum;
}

static uint64_t of(const struct topnames *n, const char *name)
{
	for (uint32_t i = 0; i < n->n; i++)
		if (strcmp(n->at[i].name, name) == 0)
			return n->at[i].samples;
	return 0;
}

static void what_is_often_seen_stays(void **state)
{
	struct topnames n = { 0 }, sum = { 0 };
	char name[32];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof(name), "/tmp/once%u", i);
		topnames_add(&n, name, 1);
		topnames_add(&n, "/usr/bin/node", 1 + i % 3);
		topnames_add(&n, "/usr/bin/java", 1);
	}
	assert_int_equal(n.n, TOPNAMES_MAX);
	assert_int_equal(of(&n, "/usr/bin/node"), 1999);
	assert_int_equal(of(&n, "/usr/bin/java"), 1000);
	assert_int_equal(all(&n), 3999);
	topnames_add_all(&sum, &n);
	topnames_add_all(&sum, &n);
	assert_int_equal(of(&sum, "/usr/bin/node"), 2 * 1999);
	assert_int_equal(all(&sum), 2 * 3999);
	topnames_add(&sum, "/usr/bin/node", UINT64_MAX);	/* full, not empty */
	assert_true(of(&sum, "/usr/bin/node") == UINT64_MAX);
	topnames_free(&n);
	topnames_free(&sum);
}

static void names_come_back_and_damage_is_refused(void **state)
{
	struct topnames n = { 0 }, got = { 0 };
	struct wr w = { 0 };
	struct err err;

	(void)state;
	topnames_add(&n, "/usr/bin/node", 70000);
	topnames_add(&n, "", 3);
	n.others = 9;
	topnames_write(&n, &w);
	assert_int_equal(topnames_read(wr_bytes(&w), &got, &err), 0);
	assert_int_equal(got.n, 2);
	assert_int_equal(of(&got, "/usr/bin/node"), 70000);
	assert_int_equal(all(&got), 70012);
	topnames_free(&got);
	for (size_t k = 0; k < w.n; k++)
		assert_int_equal(topnames_read((struct bytes){ w.p, k }, &got, &err), -1);
	for (size_t k = 0; k < w.n; k++) {
		w.p[k] ^= 0xff;			/* other names, or a refusal, but no crash */
		if (topnames_read(wr_bytes(&w), &got, &err) == 0)
			topnames_free(&got);
		w.p[k] ^= 0xff;
	}
	wr_free(&w);
	topnames_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_often_seen_stays),
		cmocka_unit_test(names_come_back_and_damage_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
