/* test_back.c - a restore by the parent when the disk takes nothing any more
 *
 * What `morphctl undo` does by the same way is in tests/unit/manager/ctl/test_undo.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/place.h"

/* No file of ours can be longer than nothing: neither journal nor copy. */
static void without_any_room_the_original_itself_comes_back(void **state)
{
	const struct rlimit none = { 0, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
	struct place p = place_new();
	struct install_request i = request_of(&p);
	struct restore_request r = restore_of(&p);
	struct stat st;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(install_generation(&i, &err), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	int rc = install_restore(&r, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	if (rc < 0)
		fail_msg("%s", err.text);
	assert_true(holds(p.path, &p.original));
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0751);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(entries(p.dir), 1);
	/* it is kept anew when it goes again */
	assert_int_equal(install_generation(&i, &err), 0);
	assert_int_equal(install_restore(&r, &err), 0);
	assert_true(holds(p.path, &p.original));
	place_free(&p);
}

/* Nobody else's original is given away, and nothing is left beside the file. */
static void what_others_need_stays_kept(void **state)
{
	const struct rlimit none = { 0, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
	struct place p = place_new();
	struct install_request i = request_of(&p);
	struct restore_request r = restore_of(&p);
	struct ledger_entry e = { .original = p.original, .generation = p.generation };
	char hex[65];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(install_generation(&i, &err), 0);
	strcpy(e.path, "/usr/bin/another");
	assert_int_equal(ledger_put(p.ledger_fd, &e, &err), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	int rc = install_restore(&r, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	if (rc < 0)
		fail_msg("%s", err.text);
	assert_true(holds(p.path, &p.original));
	digest_hex(&p.original, hex);
	assert_int_equal(faccessat(p.originals_fd, hex, F_OK, 0), 0);
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_any_room_the_original_itself_comes_back),
		cmocka_unit_test(what_others_need_stays_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
