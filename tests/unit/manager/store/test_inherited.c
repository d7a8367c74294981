/* test_inherited.c - what passes from one version of a module to the next, as it is kept */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"
#include "manager/store/packed.h"
#include "manager/store/store.h"
#include "policy/share.h"

static char dir[] = "/tmp/morph-test-inherited.XXXXXX";
static struct store *store;
static struct store_module m;

static struct digest all_bytes(uint8_t c)
{
	struct digest d;

	memset(&d, c, sizeof(d));
	return d;
}

static int begin(void **state)
{
	struct err err;

	(void)state;
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	store = mkdtemp(dir) ? store_open(dir, &err) : NULL;
	m = (struct store_module){ .path = "/bin/p", .original = all_bytes('o'),
				   .present = all_bytes('o'), .text_bytes = 1000000 };
	return store && store_module_put(store, &m, &err) == 0 ? 0 : -1;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	store_close(store);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

/* Of the database, beside the store. */
static void sql(const char *text)
{
	char path[96];
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static struct bytes text(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

static void put_samples(unsigned n)
{
	struct store_count one = { 1, n * (uint64_t)STORE_UNIT };
	struct store_profile p = { .ncount = 1, .count = &one };
	struct err err;

	assert_int_equal(store_profile_put(store, m.id, &p, 0, &err), 0);
}

static uint32_t lacking(double samples)
{
	int64_t *id = NULL;
	struct err err;
	uint32_t n;

	assert_int_equal(store_signature_lacking(store, samples, &id, &n, &err), 0);
	assert_true(n == 0 || (n == 1 && id[0] == m.id));
	free(id);
	return n;
}

static void what_is_packed_comes_back_or_not_at_all(void **state)
{
	struct wr packed = { 0 }, out = { 0 };
	char big[5000];

	(void)state;
	memset(big, 'x', sizeof(big));
	packed_write((struct bytes){ NULL, 0 }, &packed);
	assert_int_equal(packed.n, 0);
	assert_true(packed_read(wr_bytes(&packed), 10, &out));
	assert_int_equal(out.n, 0);
	packed_write((struct bytes){ (const uint8_t *)big, sizeof(big) }, &packed);
	assert_true(packed.n > 0 && packed.n < 100);
	assert_false(packed_read(wr_bytes(&packed), sizeof(big) - 1, &out));
	assert_false(packed_read((struct bytes){ packed.p, packed.n - 1 }, 1 << 20, &out));
	assert_false(packed_read(text("nothing of the kind"), 1 << 20, &out));
	assert_int_equal(out.n, 0);
	wr_raw(&out, "y", 1);
	assert_true(packed_read(wr_bytes(&packed), sizeof(big), &out));
	assert_int_equal(out.n, 1 + sizeof(big));
	assert_memory_equal(out.p + 1, big, sizeof(big));
	wr_free(&packed);
	wr_free(&out);
}

static void a_signature_is_of_an_original_that_a_module_has(void **state)
{
	const struct digest other = all_bytes('x');
	struct wr out = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(lacking(10), 0);
	put_samples(10);
	assert_int_equal(lacking(10), 1);
	assert_int_equal(lacking(11), 0);
	assert_int_equal(store_signature_get(store, &m.original, &out, &err), 0);
	assert_int_equal(store_signature_put(store, &m.original, text("sign"), &err), 1);
	assert_int_equal(store_signature_put(store, &other, text("of nobody"), &err), 1);
	assert_int_equal(lacking(10), 0);
	assert_int_equal(store_signature_get(store, &m.original, &out, &err), 1);
	assert_int_equal(out.n, 4);
	assert_memory_equal(out.p, "sign", 4);
	wr_free(&out);
	assert_int_equal(store_table_prune(store, &err), 0);
	assert_int_equal(store_signature_get(store, &m.original, &out, &err), 1);
	wr_free(&out);
	assert_int_equal(store_signature_get(store, &other, &out, &err), 0);
	/* tried in vain: not again */
	assert_int_equal(store_signature_put(store, &m.original, text(""), &err), 1);
	assert_int_equal(store_signature_get(store, &m.original, &out, &err), 0);
	assert_int_equal(lacking(10), 0);
	assert_int_equal(store_inherit_clear(store, &err), 0);
	assert_int_equal(lacking(10), 1);
}

static void signatures_have_bounds(void **state)
{
	struct wr big = { 0 }, out = { 0 };
	struct err err;

	(void)state;
	(void)wr_reserve(&big, STORE_SIGNATURE_MAX + 1);
	put_samples(10);
	assert_int_equal(store_signature_put(store, &m.original, wr_bytes(&big), &err), 0);
	assert_int_equal(store_signature_get(store, &m.original, &out, &err), 0);
	assert_int_equal(lacking(10), 0);
	big.n--;
	assert_int_equal(store_signature_put(store, &m.original, wr_bytes(&big), &err), 1);
	wr_free(&big);
	/* as if others had taken all the room */
	assert_int_equal(store_inherit_clear(store, &err), 0);
	sql("INSERT INTO signature(original, data) VALUES(x'01', zeroblob(268435000))");
	assert_int_equal(store_signature_put(store, &m.original, text(dir), &err), 1);
	sql("INSERT INTO signature(original, data) VALUES(x'02', zeroblob(400))");
	assert_int_equal(store_signature_put(store, &m.original, text(dir), &err), 0);
	assert_int_equal(store_signature_get(store, &m.original, &out, &err), 0);
}

static void a_damaged_signature_is_told(void **state)
{
	struct wr out = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(store_signature_put(store, &m.original, text("sign"), &err), 1);
	sql("UPDATE signature SET data = x'00112233445566778899'");
	assert_int_equal(store_signature_get(store, &m.original, &out, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_non_null(strstr(err.text, "signature"));
	assert_int_equal(out.n, 0);
}

static struct store_legacy legacy(struct share_use *whose, uint32_t n)
{
	struct store_legacy l = { .original = all_bytes('a'), .samples = 70, .known = 0.9,
				  .unseen = 0.1, .whose = whose, .nwhose = n };

	wr_raw(&l.signature, "sign", 4);
	wr_raw(&l.profile, "profile", 7);
	return l;
}

static void free_texts(struct store_legacy *l)
{
	l->whose = NULL;
	store_legacy_free(l);
}

static void what_is_set_aside_is_of_one_version(void **state)
{
	struct share_use whose[] = { { 1000, 40 }, { 1001, 12.5 } };
	struct store_legacy l = legacy(whose, 2), got;
	int64_t *id = NULL;
	struct err err;
	uint32_t n;

	(void)state;
	assert_int_equal(store_legacy_get(store, m.id, &got, &err), 0);
	assert_int_equal(store_legacy_put(store, m.id, &l, &err), 0);
	wr_raw(&l.counted, "counted", 7);
	l.original = all_bytes('b');
	assert_int_equal(store_legacy_put(store, m.id, &l, &err), 0);
	free_texts(&l);
	assert_int_equal(store_legacy_try(store, m.id, 1, &err), 0);
	assert_int_equal(store_legacy_ids(store, &id, &n, &err), 0);
	assert_true(n == 1 && id[0] == m.id);
	free(id);
	assert_int_equal(store_legacy_get(store, m.id, &got, &err), 1);
	assert_int_equal(got.original.b[0], 'b');
	assert_int_equal(got.tries, 1);
	assert_true(got.samples == 70 && got.known == 0.9 && got.unseen == 0.1);
	assert_true(got.signature.n == 4 && got.profile.n == 7 && got.counted.n == 7);
	assert_memory_equal(got.profile.p, "profile", 7);
	assert_int_equal(got.nwhose, 2);
	assert_true(got.whose[1].uid == 1001 && got.whose[1].samples == 12.5);
	store_legacy_free(&got);
	sql("UPDATE legacy SET profile = x'00112233445566778899'");
	assert_int_equal(store_legacy_get(store, m.id, &got, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_int_equal(store_module_discard(store, m.id, &err), 0);
	assert_int_equal(store_legacy_ids(store, &id, &n, &err), 0);
	assert_int_equal(n, 1);			/* it is not of the version that changed */
	free(id);
	assert_int_equal(store_module_delete(store, m.id, &err), 0);
	assert_int_equal(store_legacy_ids(store, &id, &n, &err), 0);
	assert_int_equal(n, 0);
}

static void put_inherited(void)
{
	struct share_use whose[] = { { 1000, 40 } };
	struct store_count one = { 3, 60 * STORE_UNIT };
	struct store_inherited i = { .original = m.original, .from = all_bytes('a'),
				     .samples = 70, .matched = 0.875, .unseen = 0.1,
				     .weight = 1, .counted = true, .functions = 8,
				     .recognised = 7, .whose = whose, .nwhose = 1,
				     .profile = { .ncount = 1, .count = &one } };
	struct err err;

	assert_int_equal(store_inherited_put(store, m.id, &i, &err), 0);
}

static void what_is_inherited_fades_and_goes_with_the_profile(void **state)
{
	const struct digest other = all_bytes('x');
	struct store_inherited got;
	struct err err;

	(void)state;
	put_inherited();
	put_samples(10);
	assert_int_equal(lacking(80), 1);	/* what it has inherited passes on, too */
	assert_int_equal(lacking(81), 0);
	assert_int_equal(store_inherited_get(store, m.id, &other, &got, &err), 0);
	assert_int_equal(store_profile_fade(store, m.id, 0.5, NULL, &err), 0);
	assert_int_equal(store_inherited_get(store, m.id, &m.original, &got, &err), 1);
	assert_true(got.weight == 0.5 && got.samples == 70 && got.matched == 0.875);
	assert_true(got.unseen == 0.1 && got.counted);
	assert_true(got.functions == 8 && got.recognised == 7 && got.from.b[0] == 'a');
	assert_int_equal(got.profile.ncount, 1);
	assert_int_equal(got.profile.count[0].samples, 60 * STORE_UNIT);
	assert_true(got.nwhose == 1 && got.whose[0].uid == 1000);
	store_inherited_free(&got);
	sql("UPDATE inherited SET matched = 1.5");
	assert_int_equal(store_inherited_get(store, m.id, &m.original, &got, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	assert_int_equal(store_module_discard(store, m.id, &err), 0);
	assert_int_equal(store_inherited_get(store, m.id, &m.original, &got, &err), 0);
	put_inherited();
	assert_int_equal(store_inherited_delete(store, m.id, &err), 0);
	assert_int_equal(store_inherited_get(store, m.id, &m.original, &got, &err), 0);
}

static void profiles_are_mixed_by_weight(void **state)
{
	struct store_count a[] = { { 1, 100 }, { 5, 7 } };
	struct store_count b[] = { { 0, 3 }, { 1, 1000 }, { 9, 10 } };
	struct edgecounts_edge edge = { 0, 1, 50 };
	struct store_profile to = { 0 };
	struct store_profile from = { .outside = 99, .ncount = 3, .count = b,
				      .edges = { .nedge = 1, .edge = &edge } };

	(void)state;
	to.count = malloc(sizeof(a));
	memcpy(to.count, a, sizeof(a));
	to.ncount = 2;
	to.outside = 4;
	store_profile_mix(&to, &from, 0.1);
	assert_int_equal(to.ncount, 4);
	const struct store_count want[] = { { 0, 1 }, { 1, 200 }, { 5, 7 }, { 9, 1 } };
	for (int i = 0; i < 4; i++) {		/* what ran a little still ran */
		assert_int_equal(to.count[i].block, want[i].block);
		assert_int_equal(to.count[i].samples, want[i].samples);
	}
	assert_true(to.outside == 4 && to.edges.nedge == 1 && to.edges.edge[0].count == 5);
	store_profile_free(&to);
}

static void a_generation_tells_what_was_inherited(void **state)
{
	struct store_generation *g = calloc(1, sizeof(*g));
	const struct store_profile none = { 0 };
	struct err err;

	(void)state;
	*g = (struct store_generation){ .module = m.id, .number = 1, .original = m.original,
					.digest = all_bytes('g'), .state = STATE_INSTALLED,
					.samples = 50, .inherited = 45.5 };
	assert_int_equal(store_generation_add(store, g, (struct bytes){ 0 }, &none, &err), 0);
	assert_int_equal(store_generation_by_number(store, m.id, 1, g, &err), 1);
	assert_true(g->inherited == 45.5 && g->samples == 50);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_packed_comes_back_or_not_at_all),
		cmocka_unit_test(profiles_are_mixed_by_weight),
		cmocka_unit_test_setup_teardown(a_signature_is_of_an_original_that_a_module_has,
						begin, end),
		cmocka_unit_test_setup_teardown(signatures_have_bounds, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_signature_is_told, begin, end),
		cmocka_unit_test_setup_teardown(what_is_set_aside_is_of_one_version, begin,
						end),
		cmocka_unit_test_setup_teardown(
			what_is_inherited_fades_and_goes_with_the_profile, begin, end),
		cmocka_unit_test_setup_teardown(a_generation_tells_what_was_inherited, begin,
						end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
