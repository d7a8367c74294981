/* test_show_explained.c - one program in sentences */
#include "tests/unit/manager/work/workscene.h"

#include <math.h>

#include "lib/table.h"
#include "manager/control/show.h"
#include "manager/store/store_saved.h"

static const uint64_t noon = UINT64_C(1795694400) * 1000000000;

static struct table *reasons(uint64_t movable, uint64_t plt, uint64_t data)
{
	static const struct table_column col[] = {
		{ "reason", TABLE_TEXT }, { "functions", TABLE_UINT }, { "bytes", TABLE_BYTES },
	};
	struct table *t = NEW_TABLE("reasons", col);

	table_row(t, "movable", movable, (uint64_t)1000);
	table_row(t, "procedure linkage table", plt, (uint64_t)10);
	table_row(t, "data holds the address", data, (uint64_t)10);
	return t;
}

/* The sentence about that, "" without one; code_of it in *code. */
static const char *sentence(const char *about, const char *misplaced, struct table *r,
			    char code[32])
{
	static char text[1024];
	struct table *t;
	struct err err = { 0 };

	m = now();
	if (show_explained(&w, &m, misplaced, r, &t, &err) < 0)
		fail_msg("%s", err.text);
	text[0] = code[0] = '\0';
	for (int row = 0; row < table_nrow(t); row++)
		if (strcmp(table_cell(t, row, 0), about) == 0) {
			(void)snprintf(code, 32, "%s", table_cell(t, row, 1));
			(void)snprintf(text, sizeof(text), "%s", table_cell(t, row, 2));
		}
	table_free(t);
	return text;
}

static void says(const char *about, const char *misplaced, const char *code, const char *what)
{
	struct table *r = reasons(90, 8, 2);
	char got[32];
	const char *text = sentence(about, misplaced, r, got);

	if (strcmp(got, code) != 0 || !strstr(text, what))
		fail_msg("%s: %s: %s", about, got, text);
	table_free(r);
}

static void what_runs_and_how_fast_it_is(void **state)
{
	const struct store_measured s = { m.id, 1, 0, STORE_BY_RUNS, 0,
					  { log(0.8), log(0.75), log(0.9) } };
	const struct store_used used = { 1, false, STORE_KIND_OBSERVED, 10, 30, 0 },
				other = { 1, false, STORE_KIND_OTHER, 1, 1, 0 };
	struct err err;

	(void)state;
	says("now", "", "generation", "Generation 1 runs, made ");
	says("speed", "", "open",
	     "Compared with what was there before: not known yet, not observed so far.");
	says("saved", "", "", "");
	assert_int_equal(store_used_add(w.store, m.id, noon, &used, &err), 0);
	says("saved", "", "open", "is not measured: not observed often enough so far.");
	assert_int_equal(store_measured_put(w.store, &s, &err), 0);
	says("speed", "", "open", "; times as fast: 1.25 (1.11 .. 1.33).");
	says("saved", "", "measured", "have saved 10.0 s of CPU time (4.4 to 13.3).");
	assert_int_equal(store_used_add(w.store, m.id, noon, &other, &err), 0);
	says("saved", "", "measured", "(4.4 to 13.3), as far as it is measured.");
	m.generation = 0;
	m.present = m.original;
	assert_int_equal(store_module_put(w.store, &m, &err), 0);
	says("now", "", "original", "Its original runs; 0 samples are known of it.");
	says("speed", "", "", "");
	/* said by the analysis just now, or kept since */
	says("now", "it is a generation made by Morph", "stray",
	     "A generation runs whose original is not known.");
	strcpy(m.refusal, "it is a generation made by Morph");
	assert_int_equal(store_module_put(w.store, &m, &err), 0);
	says("now", "", "stray", "A generation runs whose original is not known.");
	m.refusal[0] = '\0';
	assert_int_equal(store_module_put(w.store, &m, &err), 0);
}

static void what_is_next_and_what_would_change_it(void **state)
{
	struct err err;

	(void)state;
	says("next", "", "excluded", "Next: left: not in the policy.");
	says("change", "", "excluded", "modules.include and modules.exclude of the policy");
	/* the place does not matter of what is not allowed at all */
	says("next", "it is set-user-id", "excluded", "not in the policy");
	strcpy(m.refusal, "generation 1 crashed");
	assert_int_equal(store_module_put(w.store, &m, &err), 0);
	says("next", "", "refused", "Next: left: generation 1 crashed.");
	says("next", "it is set-user-id", "place", "Next: left: it is set-user-id.");
	says("change", "it is set-user-id", "place",
	     "What lies at its path, or at another name of it, would have to change");
}

static void what_is_left_is_counted(void **state)
{
	char code[32];

	(void)state;
	says("left", "", "functions",
	     "Of its 100 functions 90 can be moved; 10 are left as they "
	     "are, 8 of them: procedure linkage table.");
	struct table *r = reasons(90, 0, 0);
	assert_string_equal(sentence("left", "", r, code),
			    "All of its 90 functions can be moved.");
	table_free(r);
	r = reasons(0, 5, 0);
	assert_string_equal(sentence("left", "", r, code), "");
	table_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_runs_and_how_fast_it_is),
		TEST(what_is_next_and_what_would_change_it),
		TEST(what_is_left_is_counted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
