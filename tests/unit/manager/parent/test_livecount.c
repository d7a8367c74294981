/* test_livecount.c - generations that are in a process for a while, or in turns, as the parent
 * has them mapped */
#include "tests/unit/manager/parent/livescene.h"

static struct livework_result count_for(struct fixture *f, unsigned ms)
{
	struct err err = { 0 };

	is_proven(f, &f->e, true);
	if (livework_count(f->l, &f->e, f->generation, ms, &err) < 0)
		fail_msg("%s", err.text);
	return end(f);
}

static void what_counts_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	char want[160], got[16] = "", hex[65];
	struct err err;
	struct stat st;

	struct livework_result r = count_for(f, 2000);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_string_equal(r.said, "counted 2003 ms, CPU time 1990 ms, pause 7 us");
	(void)snprintf(want, sizeof(want), "count %d fd:3 fd:4 fd:5 --for=2000 --pause=5",
		       (int)f->pid);
	assert_true(called(f, want));
	assert_int_equal(pread(r.counters_fd, got, sizeof(got), 0), 8);
	assert_string_equal(got, "counters");
	assert_int_equal(write(r.counters_fd, "x", 1), -1);	/* nobody changes it any more */
	close(r.counters_fd);
	assert_int_equal(count(f), 0);
	digest_hex(&f->e.generation, hex);
	(void)snprintf(want, sizeof(want), "%s/live/%s", f->dir, hex);
	assert_int_equal(stat(want, &st), -1);
	/* what was shown to be fit for that is not fit to stay, nor the other way round */
	assert_int_equal(livework_on(f->l, &f->e, f->generation, &err), -1);
	assert_non_null(strstr(err.text, "not proven"));
	is_proven(f, &f->e, false);
	assert_int_equal(livework_count(f->l, &f->e, f->generation, 2000, &err), -1);
	assert_non_null(strstr(err.text, "not proven"));
}

/* Then the entry says what is to be taken out. */
static void what_goes_on_counting_is_known(void **state)
{
	struct fixture *f = *state;

	says(f, "count", "morph-live: process 5: another tracer is there\n", 3);
	struct livework_result r = count_for(f, 2000);
	assert_int_equal(r.err.kind, ERR_REFUSED);
	assert_int_equal(r.counters_fd, -1);
	assert_int_equal(count(f), 0);
	says(f, "count", "morph-live: process 5: it goes on counting: no moment\n", 1);
	r = count_for(f, 2000);
	assert_int_equal(r.err.kind, ERR_SYS);
	assert_int_equal(r.counters_fd, -1);
	assert_int_equal(count(f), 1);
	says(f, "room", "1f000\n", 0);
	r = count_for(f, 2000);
	assert_string_equal(r.said, "at 1f000");
	assert_int_equal(r.counters_fd, -1);
}

static void what_is_in_turns_stays_known(void **state)
{
	struct fixture *f = *state;
	char want[96];
	struct err err = { 0 };

	(void)map(f);
	says(f, "turns", "off 1 ns, on 2 ns\n", 0);
	assert_int_equal(livework_turns(f->l, &f->e, f->generation, 1000, &err), 0);
	struct livework_result r = end(f);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_string_equal(r.said, "off 1 ns, on 2 ns");
	(void)snprintf(want, sizeof(want), "turns %d fd:3 fd:4 --for=1000 --pause=5",
		       (int)f->pid);
	assert_true(called(f, want));
	assert_int_equal(count(f), 1);
	says(f, "turns", "morph-live: process 5: another tracer is there\n", 3);
	assert_int_equal(livework_turns(f->l, &f->e, f->generation, 1000, &err), 0);
	assert_int_equal(end(f).err.kind, ERR_REFUSED);
	assert_int_equal(count(f), 1);		/* it may have it all the same */
	/* what counts has no turns */
	is_proven(f, &f->e, true);
	assert_int_equal(livework_turns(f->l, &f->e, f->generation, 1000, &err), -1);
}

/* A morph-live that counts until it is told to end. */
static void counting_can_be_cut_short(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	struct livework_result r;
	struct pollfd p[2];

	FILE *program = fopen(f->program, "w");
	(void)fprintf(program, "#!/bin/sh\ncd %s\n[ \"$1\" = room ] && exec echo fits\n"
		      "trap 'echo counted 5 ms; exit 0' TERM\necho >begun\n"
		      "while :; do sleep 0.05; done\n", f->dir);
	assert_int_equal(fclose(program), 0);
	is_proven(f, &f->e, true);
	assert_int_equal(livework_count(f->l, &f->e, f->generation, 60000, &err), 0);
	const struct livebook_entry *e = &f->e;
	assert_int_equal(livework_count(f->l, e, f->generation, 1000, &err), -1);
	assert_non_null(strstr(err.text, "under way"));
	assert_int_equal(livework_turns(f->l, e, f->generation, 1000, &err), -1);
	assert_int_equal(livework_on(f->l, e, f->generation, &err), -1);
	assert_int_equal(livework_off(f->l, e->pid, &e->generation, &err), -1);
	assert_non_null(strstr(err.text, "under way"));
	assert_int_equal(livework_turns(NULL, e, f->generation, 1000, &err), -1);
	assert_non_null(strstr(err.text, "left alone"));
	livework_hurry(f->l);			/* nothing counts yet */
	char begun[80];
	(void)snprintf(begun, sizeof(begun), "%s/begun", f->dir);
	while (!livework_step(f->l, &r) && access(begun, F_OK) < 0) {
		livework_poll(f->l, p);
		(void)poll(p, 2, 50);
	}
	livework_hurry(f->l);
	r = end(f);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_string_equal(r.said, "counted 5 ms");
	close(r.counters_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, make, unmake)
		T(what_counts_leaves_nothing),
		T(what_goes_on_counting_is_known),
		T(counting_can_be_cut_short),
		T(what_is_in_turns_stays_known),
#undef T
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
