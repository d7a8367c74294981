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
#include <sys/xattr.h>

#include "manager/parent/install_back.h"
#include "manager/parent/install_file.h"
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

/* --- whoever comes in between --- */

static struct place *at;
static const char *at_step;
static int times;

static struct back_request back_of(const struct place *p)
{
	return (struct back_request){
		.path = p->path, .expected = p->generation, .original = p->original,
		.originals_fd = p->originals_fd, .ledger_fd = p->ledger_fd,
	};
}

static struct place rewritten(void)
{
	struct place p = place_new();
	struct install_request i = request_of(&p);
	struct err err = { 0 };

	assert_int_equal(install_generation(&i, &err), 0);
	return p;
}

static void package_comes(const char *step)
{
	char new[128];

	if (strcmp(step, at_step) != 0)
		return;
	times++;
	(void)snprintf(new, sizeof(new), "%s.new", at->path);
	write_file(new, "newer", 0755);
	assert_int_equal(rename(new, at->path), 0);
}

static void a_package_that_comes_in_between_stays(void **state)
{
	static const char *const step[] = { "not yet locked", "begin", "temporary made",
					    "temporary written", "attributes copied",
					    "temporary synced", "looked again" };
	struct digest newer = digest_of((struct bytes){ (const uint8_t *)"newer", 5 });

	(void)state;
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		struct place p = rewritten();
		struct back_request r = back_of(&p);
		enum back_how how;
		struct err err = { 0 };

		at = &p;
		at_step = step[i];
		times = 0;
		install_step_hook = package_comes;
		int rc = install_back(&r, &how, &err);
		install_step_hook = NULL;
		if (times != 1)
			fail_msg("%s: %d times, %s", step[i], times, err.text);
		assert_int_equal(rc, -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		assert_true(holds(p.path, &newer));
		assert_int_equal(entries(p.dir), 1);
		place_free(&p);
	}
}

static void owner_gives_it_away(const char *step)
{
	if (strcmp(step, "attributes copied") != 0)
		return;
	if (times++ == 0)
		assert_int_equal(chmod(at->path, 0700), 0);
	else
		assert_int_equal(setxattr(at->path, "user.who", "me", 2, 0), 0);
}

static void what_is_set_in_between_is_not_lost(void **state)
{
	struct place p = rewritten();
	struct back_request r = back_of(&p);
	enum back_how how;
	struct stat st;
	struct err err = { 0 };
	char who[2];

	(void)state;
	at = &p;
	times = 0;
	install_step_hook = owner_gives_it_away;
	assert_int_equal(install_back(&r, &how, &err), -1);
	assert_int_equal(install_back(&r, &how, &err), -1);
	install_step_hook = NULL;
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_true(holds(p.path, &p.generation));
	assert_int_equal(install_back(&r, &how, &err), 0);
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(getxattr(p.path, "user.who", who, 2), 2);
	assert_true(holds(p.path, &p.original));
	place_free(&p);
}

static void original_spoils(const char *step)
{
	char hex[65];

	if (strcmp(step, "temporary made") != 0)
		return;
	digest_hex(&at->original, hex);
	assert_int_equal(fchmodat(at->originals_fd, hex, 0600, 0), 0);
	int fd = openat(at->originals_fd, hex, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "spoilt", 6), 6);
	close(fd);
}

static void an_original_that_spoils_meanwhile_is_not_put_there(void **state)
{
	struct place p = rewritten();
	struct back_request r = back_of(&p);
	enum back_how how;
	struct err err = { 0 };

	(void)state;
	at = &p;
	install_step_hook = original_spoils;
	int rc = install_back(&r, &how, &err);
	install_step_hook = NULL;
	assert_int_equal(rc, -1);
	assert_non_null(strstr(err.text, "damaged"));
	assert_true(holds(p.path, &p.generation));
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

/* It was when the generation came; since then somebody has made it so. */
static void what_has_become_set_id_comes_back_as_that(void **state)
{
	struct place p = rewritten();
	struct back_request r = back_of(&p);
	struct stat st;
	enum back_how how;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(chmod(p.path, 06755), 0);
	assert_int_equal(install_back(&r, &how, &err), 0);
	assert_true(holds(p.path, &p.original));
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 06755);
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

static void what_must_not_be_touched_is_refused(void **state)
{
	struct place p = rewritten();
	struct back_request r = back_of(&p), wrong = r;
	enum back_how how;
	struct err err = { 0 };

	(void)state;
	wrong.expected.b[0] ^= 1;
	assert_int_equal(install_back(&wrong, &how, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(chmod(p.dir, 0777), 0);
	assert_int_equal(install_back(&r, &how, &err), -1);
	assert_non_null(strstr(err.text, "others can write"));
	assert_int_equal(chmod(p.dir, 0755), 0);
	assert_true(holds(p.path, &p.generation));
	assert_int_equal(install_back(&r, &how, &err), 0);
	assert_int_equal(how, BACK_COPIED);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_any_room_the_original_itself_comes_back),
		cmocka_unit_test(what_others_need_stays_kept),
		cmocka_unit_test(a_package_that_comes_in_between_stays),
		cmocka_unit_test(what_is_set_in_between_is_not_lost),
		cmocka_unit_test(an_original_that_spoils_meanwhile_is_not_put_there),
		cmocka_unit_test(what_has_become_set_id_comes_back_as_that),
		cmocka_unit_test(what_must_not_be_touched_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
