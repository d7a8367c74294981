/* test_store.c - what the store is told it tells again, exactly once, or says what is wrong */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/storefixture.h"

static const struct store_fading still = { .span_s = 0, .half_life_s = 7 * 86400 };

static void modules_survive_closing(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1), got;
	struct err err;

	(void)state;
	assert_int_equal(store_module_by_path(s, m.path, &got, &err), 0);
	assert_int_equal(store_module_put(s, &m, &err), 0);
	assert_true(m.id > 0);
	m.generation = 2;
	m.present = digest_number(9);
	(void)snprintf(m.refusal, sizeof(m.refusal), "no");
	assert_int_equal(store_module_put(s, &m, &err), 0);
	store_close(s);
	s = open_store();
	assert_int_equal(store_module_by_path(s, m.path, &got, &err), 1);
	assert_memory_equal(&got, &m, sizeof(m));
	assert_int_equal(store_module_by_id(s, m.id, &got, &err), 1);
	assert_string_equal(got.path, m.path);
	assert_int_equal(store_module_delete(s, m.id, &err), 0);
	assert_int_equal(store_module_by_path(s, m.path, &got, &err), 0);
	store_close(s);
}

static bool count_generations(void *ctx, const struct store_generation *g)
{
	unsigned *n = ctx;

	assert_int_equal(g->number, ++*n);
	return true;
}

static void who_is_left_alone_is_known_by_boot_and_module(void **state)
{
	struct store *s = open_store();
	struct store_left left = { .boot = "this", .pid = 7, .start = 70, .module = 3,
				   .until_ns = STORE_LEFT_FOREVER };
	struct err err;

	(void)state;
	assert_int_equal(store_left_get(s, &left, &err), 0);
	assert_int_equal(store_left_put(s, &left, &err), 0);
	struct store_left got = left;
	got.until_ns = 0;
	assert_int_equal(store_left_get(s, &got, &err), 1);
	assert_true(got.until_ns == STORE_LEFT_FOREVER);
	for (int i = 0; i < 4; i++) {
		got = left;
		strcpy(got.boot, i == 0 ? "that" : "this");
		got.start += i == 1;
		got.module += i == 2;
		got.generation += i == 3;
		assert_int_equal(store_left_get(s, &got, &err), 0);
	}
	got = left;
	got.generation = 9;
	got.until_ns = 5;
	assert_int_equal(store_left_put(s, &got, &err), 0);
	assert_int_equal(store_left_get(s, &got, &err), 1);
	assert_true(got.until_ns == 5);
	assert_int_equal(store_left_get(s, &left, &err), 1);
	strcpy(got.boot, "next");
	assert_int_equal(store_left_put(s, &got, &err), 0);
	assert_int_equal(store_left_get(s, &left, &err), 0);	/* of a boot that is over */
	store_close(s);
}

static void a_verdict_by_turns_is_of_one_generation(void **state)
{
	struct store *s = open_store();
	struct store_turns t = { .module = 7, .generation = 3, .verdict = SPEEDTEST_FASTER,
				 .text = "in turns" }, got;
	struct err err;

	(void)state;
	assert_int_equal(store_turns_get(s, 7, 3, &got, &err), 0);
	assert_int_equal(store_turns_put(s, &t, &err), 0);
	assert_int_equal(store_turns_get(s, 7, 3, &got, &err), 1);
	assert_int_equal(got.verdict, SPEEDTEST_FASTER);
	assert_string_equal(got.text, "in turns");
	assert_int_equal(store_turns_get(s, 7, 2, &got, &err), 0);
	assert_int_equal(store_turns_get(s, 8, 3, &got, &err), 0);
	t.generation = 4;
	assert_int_equal(store_turns_put(s, &t, &err), 0);
	assert_int_equal(store_turns_get(s, 7, 3, &got, &err), 0);
	assert_int_equal(store_module_discard(s, 7, &err), 0);
	assert_int_equal(store_turns_get(s, 7, 4, &got, &err), 0);
	store_close(s);
}

/* One that only counted in a process is the newest, but no layout; the profile of the one
 * before it stays. */
static void what_only_counted_is_no_layout(void **state)
{
	struct store *s = open_store();
	struct store_generation *g = calloc(2, sizeof(*g));
	struct store_count count[] = { { 2, 700 } };
	struct store_profile made_from = { .ncount = 1, .count = count }, got;
	struct err err;

	(void)state;
	*g = (struct store_generation){ .module = 5, .number = 1, .digest = digest_number(1),
					.state = STATE_INSTALLED };
	assert_int_equal(store_generation_add(s, g, (struct bytes){ 0 }, &made_from, &err), 0);
	int64_t layout = g->id;
	*g = (struct store_generation){ .module = 5, .number = 2, .digest = digest_number(2),
					.state = STATE_BURST };
	assert_int_equal(store_generation_newest_layout(s, 5, &g->original, &g[1], &err), 1);
	assert_int_equal(store_generation_add(s, g, (struct bytes){ 0 }, NULL, &err), 0);
	assert_int_equal(store_generation_newest(s, 5, &g->original, &g[1], &err), 1);
	assert_int_equal(g[1].number, 2);
	assert_int_equal(store_generation_newest_layout(s, 5, &g->original, &g[1], &err), 1);
	assert_int_equal(g[1].number, 1);
	assert_int_equal(store_generation_made_from(s, layout, &got, &err), 1);
	assert_true(same_counts(&got, count, 1));
	store_profile_free(&got);
	free(g);
	store_close(s);
}

static void generations_are_found_by_digest_and_number(void **state)
{
	struct store *s = open_store();
	struct store_generation *g = calloc(2, sizeof(*g));
	struct store_count count[] = { { 2, 700 }, { 9, 3 << 8 } };
	struct store_profile made_from = { .outside = 256, .ncount = 2, .count = count }, got;
	double cpu_s, bytes;
	struct wr map = { 0 };
	struct err err;
	uint32_t next;

	(void)state;
	for (uint8_t i = 1; i <= 2; i++) {
		assert_int_equal(store_generation_next(s, 5, &next, &err), 0);
		assert_int_equal(next, i);
		*g = (struct store_generation){
			.module = 5, .number = next, .digest = digest_number(i),
			.original = digest_number(0), .state = STATE_MADE, .passes = "align",
			.stats = "moved 7\n", .samples = 12.5, .size_bytes = 99,
			.made_ns = 1000 * i, .cpu_s = 1.5,
		};
		struct bytes one = { &i, 1 };
		assert_int_equal(store_generation_add(s, g, one, &made_from, &err), 0);
	}
	assert_int_equal(store_generation_state(s, g->id, STATE_REFUSED, "why not", &err), 0);
	struct digest d = digest_number(2), none = digest_number(8);
	assert_int_equal(store_generation_by_digest(s, &d, &g[1], &err), 1);
	assert_int_equal(g[1].number, 2);
	assert_int_equal(g[1].state, STATE_REFUSED);
	assert_string_equal(g[1].reason, "why not");
	assert_string_equal(g[1].stats, "moved 7\n");
	assert_int_equal(store_generation_by_digest(s, &none, &g[1], &err), 0);
	assert_int_equal(store_generation_by_number(s, 5, 1, &g[1], &err), 1);
	assert_int_equal(store_generation_map(s, &d, &map, &err), 1);
	assert_int_equal(map.n, 1);
	assert_int_equal(map.p[0], 2);
	unsigned n = 0;
	assert_int_equal(store_generation_each(s, 5, count_generations, &n, &err), 0);
	assert_int_equal(n, 2);
	/* The newest of an original, and only of that one the profile. */
	struct digest original = digest_number(0);
	assert_int_equal(store_generation_newest(s, 5, &original, &g[1], &err), 1);
	assert_int_equal(g[1].number, 2);
	assert_int_equal(store_generation_newest(s, 5, &none, &g[1], &err), 0);
	assert_int_equal(store_generation_made_from(s, g->id, &got, &err), 1);
	assert_true(same_counts(&got, count, 2));
	store_profile_free(&got);
	assert_int_equal(store_generation_by_number(s, 5, 1, &g[1], &err), 1);
	assert_int_equal(store_generation_made_from(s, g[1].id, &got, &err), 1);
	assert_int_equal(got.ncount, 0);
	assert_int_equal(store_spent(s, 0, 1001, &cpu_s, &bytes, &err), 0);
	assert_true(cpu_s == 0 && bytes == 99);
	assert_int_equal(store_spent(s, 0, 0, &cpu_s, &bytes, &err), 0);
	assert_true(bytes == 198);
	assert_int_equal(store_spent(s, 5, 1001, &cpu_s, &bytes, &err), 0);
	assert_true(bytes == 99);
	assert_int_equal(store_spent(s, 6, 0, &cpu_s, &bytes, &err), 0);
	assert_true(bytes == 0);
	wr_free(&map);
	free(g);
	store_close(s);
}

/* Another file, and the same generation; the last few are kept, and none of what is gone. */
static void forms_of_generations_are_found(void **state)
{
	struct store *s = open_store();
	struct store_generation *g = calloc(2, sizeof(*g));
	struct store_profile none = { 0 };
	struct digest d = digest_number(9);
	struct wr map = { 0 };
	struct err err;
	uint8_t byte = 7;

	(void)state;
	*g = (struct store_generation){ .module = 5, .number = 3, .digest = digest_number(1),
					.state = STATE_INSTALLED };
	assert_int_equal(store_generation_add(s, g, (struct bytes){ NULL, 0 }, &none, &err), 0);
	assert_int_equal(store_live_generation(s, &d, &g[1], &err), 0);
	assert_int_equal(store_live_map(s, &d, &map, &err), 0);
	for (uint8_t i = 9; i < 9 + 64; i++) {
		const struct digest form = digest_number(i);

		assert_int_equal(store_live_put(s, &form, g->id, (struct bytes){ &byte, 1 },
						&err), 0);
	}
	assert_int_equal(store_live_generation(s, &d, &g[1], &err), 1);
	assert_int_equal(g[1].number, 3);
	assert_int_equal(g[1].module, 5);
	assert_int_equal(store_live_map(s, &d, &map, &err), 1);
	assert_int_equal(map.n, 1);
	assert_int_equal(map.p[0], 7);
	/* put again it is the newest; the one after it goes first */
	assert_int_equal(store_live_put(s, &d, g->id, (struct bytes){ &byte, 1 }, &err), 0);
	struct digest other = digest_number(200), second = digest_number(10);
	assert_int_equal(store_live_put(s, &other, g->id, (struct bytes){ &byte, 1 }, &err), 0);
	assert_int_equal(store_live_generation(s, &d, &g[1], &err), 1);
	assert_int_equal(store_live_generation(s, &second, &g[1], &err), 0);
	/* of no generation that there is */
	assert_int_equal(store_live_put(s, &other, g->id + 1, (struct bytes){ &byte, 1 }, &err),
			 0);
	assert_int_equal(store_live_generation(s, &other, &g[1], &err), 0);
	wr_free(&map);
	free(g);
	store_close(s);
}

static bool first_intent(void *ctx, const struct store_intent *i)
{
	*(struct store_intent *)ctx = *i;
	return false;
}

static bool add_event(void *ctx, const struct store_event *e)
{
	(void)strcat(ctx, e->event);
	return true;
}

static void intents_and_history_are_kept(void **state)
{
	struct store *s = open_store();
	struct store_intent i = { .what = "install", .path = "/p", .from = digest_number(1) };
	struct store_intent got;
	char events[64] = "";
	struct err err;

	(void)state;
	assert_int_equal(store_intent_begin(s, &i, &err), 0);
	memset(&got, 0, sizeof(got));
	assert_int_equal(store_intent_each(s, first_intent, &got, &err), 0);
	assert_int_equal(got.id, i.id);
	assert_string_equal(got.path, "/p");
	assert_int_equal(store_intent_end(s, i.id, &err), 0);
	memset(&got, 0, sizeof(got));
	assert_int_equal(store_intent_each(s, first_intent, &got, &err), 0);
	assert_int_equal(got.id, 0);

	assert_int_equal(store_history_add(s, "/a", "A", "detail", &err), 0);
	assert_int_equal(store_history_add(s, "/b", "B", "detail", &err), 0);
	assert_int_equal(store_history_add(s, "/a", "C", "detail", &err), 0);
	assert_int_equal(store_history_each(s, NULL, 10, add_event, events, &err), 0);
	assert_string_equal(events, "CBA");
	events[0] = '\0';
	assert_int_equal(store_history_each(s, "/a", 1, add_event, events, &err), 0);
	assert_string_equal(events, "C");
	store_close(s);
}

static void a_new_block_table_discards_the_profiles_of_the_old(void **state)
{
	struct store *s = open_store();
	struct store_module m = module_at("/usr/bin/perl", 1);
	struct blockcount count[2];
	struct attribute_module am;
	struct store_profile p;
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	struct attribution a = two_blocks(m.id, count, &am);
	struct bytes one = { (const uint8_t *)"one", 3 }, two = { (const uint8_t *)"two", 3 };
	assert_int_equal(store_table_has(s, &m.original, &err), 0);
	assert_int_equal(store_table_put(s, &m.original, one, &err), 0);
	assert_int_equal(store_table_has(s, &m.original, &err), 1);
	assert_int_equal(store_add_attribution(s, "1", &a, one, &still, &err), 0);
	assert_int_equal(store_table_put(s, &m.original, one, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 1);
	store_profile_free(&p);
	assert_int_equal(store_table_put(s, &m.original, two, &err), 0);
	assert_int_equal(store_profile_get(s, m.id, &p, &err), 0);
	assert_int_equal(store_table_has(s, &m.original, &err), 1);
	store_close(s);
}

static void a_rollback_inside_takes_the_whole_back(void **state)
{
	struct store *s = open_store();
	char events[64] = "";
	struct err err;

	(void)state;
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_history_add(s, "/a", "A", "", &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	store_rollback(s);
	assert_int_equal(store_commit(s, &err), -1);
	assert_int_equal(store_history_each(s, NULL, 10, add_event, events, &err), 0);
	assert_string_equal(events, "");
	assert_int_equal(store_history_add(s, "/a", "B", "", &err), 0);
	assert_int_equal(store_history_each(s, NULL, 10, add_event, events, &err), 0);
	assert_string_equal(events, "B");
	store_close(s);
}

/* --- what is wrong with the database is said, and its name --- */

static void refused(const char *what)
{
	struct err err = { 0 };

	assert_null(store_open(dir, &err));
	assert_non_null(strstr(err.text, "morph.db"));
	if (!strstr(err.text, what))
		fail_msg("'%s' does not say '%s'", err.text, what);
}

static void others_cannot_read_the_database(void **state)
{
	char path[96];
	struct stat st;

	(void)state;
	store_close(open_store());
	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_null(store_open(dir, NULL));
}

/* Version 11 had profiles in another form: they are begun anew, all else is kept. */
static void a_database_before_edges_is_brought_up_to_date(void **state)
{
	struct store_module m = module_at("/usr/bin/perl", 1), got;
	struct store *s = open_store();
	struct err err;

	(void)state;
	assert_int_equal(store_module_put(s, &m, &err), 0);
	store_close(s);
	sql("ALTER TABLE module DROP COLUMN owner; ALTER TABLE habit DROP COLUMN known_ns;"
	    "DROP TABLE spent; DROP TABLE contributor; DROP TABLE space;"
	    "DROP TABLE signature; DROP TABLE legacy; DROP TABLE inherited; DROP TABLE turns;"
	    "DROP TABLE left_alone;"
	    "ALTER TABLE generation DROP COLUMN inherited; DROP TABLE counting;"
	    "DROP TABLE counted; DROP TABLE count_spent; DROP TABLE live;"
	    "DROP TABLE pace; DROP TABLE crash; ALTER TABLE profile DROP COLUMN states;"
	    "DROP TABLE epoch; DROP TABLE fleet;"
	    "DROP TABLE used; DROP TABLE measured; DROP TABLE own;"
	    "DROP TABLE program; DROP TABLE ran; DROP TABLE place; DROP TABLE made;"
	    "PRAGMA user_version = 11;"
	    "INSERT INTO profile(module, samples, outside, updated_ns, data)"
	    " VALUES(1, 5, 0, 7, x'01')");
	s = open_store();
	assert_int_equal(store_module_by_path(s, "/usr/bin/perl", &got, &err), 1);
	assert_true(got.samples == 0 && got.states == 0);
	store_close(s);
}

static void a_newer_database_is_refused(void **state)
{
	char text[64];
	(void)state;
	store_close(open_store());
	(void)sprintf(text, "PRAGMA user_version = %d", store_schema_version() + 1);
	sql(text);
	refused("newer Morph");
}

static void a_damaged_database_is_refused(void **state)
{
	char path[96];

	(void)state;
	struct store *s = open_store();
	assert_int_equal(store_begin(s, NULL), 0);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(store_history_add(s, "/some/path", "e", "detail", NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
	(void)snprintf(path, sizeof(path), "%s/morph.db", dir);
	int fd = open(path, O_RDWR);
	char junk[8192];
	memset(junk, 0x5a, sizeof(junk));
	for (off_t at = 40960; at < 90000; at += 16384)
		assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
	refused("damaged");
	fd = open(path, O_RDWR | O_TRUNC);
	assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	refused("damaged");
}

static void impossible_rows_are_refused(void **state)
{
	static const char *const change[] = {
		"UPDATE module SET original = x'00'", "UPDATE module SET generation = -1",
		"UPDATE module SET path = CAST(zeroblob(5000) AS TEXT)",
		"UPDATE module SET functions = 4294967296",
		"UPDATE module SET text_bytes = -5",
		"UPDATE profile SET samples = -1",
		"UPDATE profile SET samples = 9e999",
	};
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		struct store *s = open_store();
		struct store_module m = module_at("/m", 1);
		struct store_profile p = { 0 };

		assert_int_equal(store_module_put(s, &m, &err), 0);
		assert_int_equal(store_profile_put(s, m.id, &p, 0, &err), 0);
		store_close(s);
		sql(change[i]);
		s = open_store();
		assert_int_equal(store_module_by_id(s, m.id, &m, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_non_null(strstr(err.text, "morph.db"));
		store_close(s);
		sql("DELETE FROM module; DELETE FROM profile");
	}
	struct store *s = open_store();
	struct store_profile p;
	sql("INSERT INTO profile VALUES(77, 1, 0, 0, x'02000000ffffffffffffffff', 0)");
	assert_int_equal(store_profile_get(s, 77, &p, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	struct speedtest pace = { .nkind = 1 };
	assert_int_equal(store_speed_put(s, 5, &pace, &err), 0);
	assert_int_equal(store_speed_get(s, 5, &pace, &err), 0);
	sql("INSERT INTO pace SELECT 10, substr(data, 1, length(data) - 1) FROM pace;"
	    "INSERT INTO pace SELECT 11, data || x'00' FROM pace WHERE module = 5;"
	    "INSERT INTO pace SELECT 12, x'03' || substr(data, 2) FROM pace WHERE module = 5;"
	    "INSERT INTO pace SELECT 13, substr(data, 1, 4) || x'04' || substr(data, 6) "
	    "FROM pace WHERE module = 5;"
	    "INSERT INTO pace SELECT 14, substr(data, 1, 30) || x'05' || substr(data, 32) "
	    "FROM pace WHERE module = 5;"
	    "INSERT INTO pace SELECT 15, substr(data, 1, 5) || x'03' || substr(data, 7) "
	    "FROM pace WHERE module = 5");
	for (int64_t id = 10; id <= 15; id++) {
		assert_int_equal(store_speed_get(s, id, &pace, &err), -1);
		assert_int_equal(err.kind, ERR_INPUT);
	}
	/* as it was kept before it said which number was compared */
	sql("INSERT INTO pace SELECT 16, x'01' || substr(data, 2, 4) || substr(data, 7) "
	    "FROM pace WHERE module = 5");
	assert_int_equal(store_speed_get(s, 16, &pace, &err), 0);
	assert_int_equal(pace.nkind, 1);
	assert_int_equal(pace.by, SPEEDTEST_BY_NOTHING);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(modules_survive_closing),
		TEST(what_only_counted_is_no_layout),
		TEST(a_verdict_by_turns_is_of_one_generation),
		TEST(who_is_left_alone_is_known_by_boot_and_module),
		TEST(generations_are_found_by_digest_and_number),
		TEST(forms_of_generations_are_found),
		TEST(intents_and_history_are_kept),
		TEST(a_new_block_table_discards_the_profiles_of_the_old),
		TEST(a_rollback_inside_takes_the_whole_back),
		TEST(others_cannot_read_the_database),
		TEST(a_database_before_edges_is_brought_up_to_date),
		TEST(a_newer_database_is_refused),
		TEST(a_damaged_database_is_refused),
		TEST(impossible_rows_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
