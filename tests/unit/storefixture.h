/* storefixture.h - a store in a folder of its own for each test, and what is put into it
 *
 * For the tests of manager/store/, after cmocka.h.
 */
#ifndef TEST_STOREFIXTURE_H
#define TEST_STOREFIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/store/store.h"
#include "manager/store/store_db.h"

static char dir[64];

static inline int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/var/tmp/morph-store-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static inline int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static inline struct store *open_store(void)
{
	struct err err = { 0 };
	struct store *s = store_open(dir, &err);

	assert_string_equal(err.text, "");
	assert_non_null(s);
	return s;
}

/* A statement that is left at a row keeps what others delete, and the log from being worked
 * off. */
static inline void close_idle(struct store *s)
{
	for (sqlite3_stmt *q = s ? sqlite3_next_stmt(s->db, NULL) : NULL; q;
	     q = sqlite3_next_stmt(s->db, q))
		if (sqlite3_stmt_busy(q))
			fail_msg("left at a row: %s", sqlite3_sql(q));
	store_close(s);
}
#define store_close close_idle

/* In the database, which no store has open. */
static inline void sql(const char *text)
{
	char path[96];
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static inline struct digest digest_number(uint8_t n)
{
	struct digest d;

	memset(d.b, n, sizeof(d.b));
	return d;
}

static inline struct store_module module_at(const char *path, uint8_t n)
{
	struct store_module m = {
		.original = digest_number(n), .present = digest_number(n),
		.seen = { 1, UINT64_MAX, 3, 4, 5 }, .owner = UINT32_MAX, .text_bytes = 100000,
		.functions = 7, .movable = 6,
	};

	(void)snprintf(m.path, sizeof(m.path), "%s", path);
	return m;
}

static inline bool same_counts(const struct store_profile *p, const struct store_count *c,
			       uint32_t n)
{
	for (uint32_t i = 0; i < n && n == p->ncount; i++)
		if (p->count[i].block != c[i].block || p->count[i].samples != c[i].samples)
			return false;
	return n == p->ncount;
}

static inline struct attribution two_blocks(int64_t module, struct blockcount count[2],
				     struct attribute_module *m)
{
	count[0] = (struct blockcount){ 3, 10 };
	count[1] = (struct blockcount){ 9, 4 };
	static struct edgecounts_edge edge = { 3, 9, 7 };
	static struct edgecounts_call call = { 9, 4, 3, 5 };

	*m = (struct attribute_module){ .module = (uint64_t)module, .samples = 14, .outside = 6,
					.ncount = 2, .count = count, .states = 12,
					.edges = { .nedge = 1, .ncall = 1, .edge = &edge,
						   .call = &call } };
	struct attribution a = { .nmodule = 1, .module = m };
	a.counter[COUNTER_KNOWN] = 14;
	a.counter[COUNTER_OUTSIDE] = 6;
	return a;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
