/* test_work_module.c - what is proven anew of a module, and by which job */
#include "tests/unit/manager/work/workscene.h"

static uint64_t counts;			/* the job was told that the generation counts */
static unsigned jobs;

static void prove(const struct msg *q, struct msg *r)
{
	assert_int_equal(q->num[MSG_RUN_JOB_kind], JOB_VERIFY);
	assert_int_equal(q->nfd, 2);
	counts = q->num[MSG_RUN_JOB_a];
	jobs++;
	r->fd[r->nfd++] = text_file("proven: all of it\n");
}

static void verify(struct work_proof *out)
{
	struct err err = { 0 };

	run_job = prove;
	jobs = 0;
	if (work_verify(&w, path, out, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(jobs, 1);
}

static void a_generation_is_proven_as_what_it_is(void **state)
{
	struct store_counting c = { .module = m.id, .generation = m.present,
				    .original = m.original, .begun_ns = 1 };
	struct work_proof proof;
	struct err err;

	(void)state;
	verify(&proof);
	assert_int_equal(counts, 0);
	assert_int_equal(proof.generation, 1);
	assert_string_equal(proof.detail, "proven: all of it");
	c.generation.b[3] ^= 1;		/* another one counts, or did */
	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
	verify(&proof);
	assert_int_equal(counts, 0);
	c.generation = m.present;
	assert_int_equal(store_counting_put(w.store, &c, &err), 0);
	verify(&proof);
	assert_int_equal(counts, 1);
}

static void no_proof_is_an_error(void **state)
{
	struct work_proof proof;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(work_verify(&w, path, &proof, &err), -1);
	assert_non_null(strstr(err.text, "no"));
	assert_string_equal(proof.detail, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_generation_is_proven_as_what_it_is, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_proof_is_an_error, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
