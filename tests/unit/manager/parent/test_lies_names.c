/* test_lies_names.c - a manager that was taken over tells names that a file does not have, or
 * must not be swapped under
 *
 * In the private root of liescene.h.
 */
#include "tests/unit/manager/parent/liescene.h"

/* A further name of the file of the next request; no answer. */
static int tell_name(struct fixture *f, const char *path, struct err *err)
{
	struct msg m = { .type = MSG_NAME };

	(void)snprintf(m.text, sizeof(m.text), "%s", path);
	return requests_take(&f->requests, &m, err);
}

static int check(struct fixture *f, const char *path)
{
	return ask_path(f, MSG_CHECK, path, NULL);
}

/* Names that the manager tells count as far as they are the file's, in folders for programs, of
 * the owner of its folder. */
static void names_that_are_told_are_looked_at(void **state)
{
	struct fixture *f = *state;
	char bin[160], home[160], away[160];
	struct digest g;
	struct err err = { 0 };

	(void)snprintf(bin, sizeof(bin), "%s/bin/named", f->p.root);
	(void)snprintf(home, sizeof(home), "%s/named", f->home);
	(void)snprintf(away, sizeof(away), "%s/away", f->p.root);
	write_elf(bin, "named", SHARED, 0755);
	struct digest original = digest_path(bin);
	assert_int_equal(check(f, bin), ERR_NONE);
	/* a user has given it another name, where he can */
	assert_int_equal(link(bin, home), 0);
	refused(f, check(f, bin), "2 hard links, of which 1 was found");
	assert_int_equal(tell_name(f, home, &err), 0);
	refused(f, check(f, bin), "belongs to another user");
	assert_int_equal(tell_name(f, f->theirs, &err), 0);	/* another file */
	refused(f, check(f, bin), "of which 1 was found");
	/* they are forgotten with the answer, and no name is one outside of the folders */
	assert_int_equal(rename(home, away), 0);
	assert_int_equal(tell_name(f, away, &err), 0);
	const char *folders = f->options.folders;
	f->options.folders = f->p.dir;
	refused(f, check(f, bin), "not in a folder for programs");
	assert_int_equal(tell_name(f, away, &err), 0);
	refused(f, install(f, bin, original, original, "g", &g), "not in a folder for");
	f->options.folders = folders;
	/* told, it is swapped with the others: its folder is root's */
	assert_int_equal(tell_name(f, away, &err), 0);
	assert_int_equal(install(f, bin, original, original, "g", &g), ERR_NONE);
	assert_true(holds(bin, &g) && holds(away, &g));
	assert_non_null(strstr(f->reason, away));
	/* what comes back does so under the names that the ledger has, whatever is told */
	assert_int_equal(tell_name(f, f->theirs, &err), 0);
	assert_int_equal(restore(f, bin, g, original), ERR_NONE);
	assert_true(holds(bin, &original) && holds(away, &original));
	assert_true(holds(f->theirs, &f->their_generation));
}

static void more_names_than_a_file_may_have_are_a_lie(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	char name[32];

	for (int i = 1; i < NAMES_MOST; i++) {
		(void)snprintf(name, sizeof(name), "/usr/bin/%d", i);
		assert_int_equal(tell_name(f, name, &err), 0);
	}
	assert_int_equal(tell_name(f, "/usr/bin/more", &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	requests_abort(&f->requests);
	assert_int_equal(tell_name(f, "/usr/bin/more", &err), 0);
	f->requests.busy = true;		/* while a request is under way */
	assert_int_equal(tell_name(f, "/usr/bin/too", &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIE(names_that_are_told_are_looked_at),
		LIE(more_names_than_a_file_may_have_are_a_lie),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
