/* test_originals.c - originals stay as long as somebody may want them, and go after that */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "manager/parent/originals.h"
#include "tests/unit/place.h"

enum { DAY = 86400, USER = 12345 };

static bool kept(const struct place *p, const struct digest *original)
{
	char hex[65];

	digest_hex(original, hex);
	return faccessat(p->originals_fd, hex, F_OK, 0) == 0;
}

static int ledger_entries(const struct place *p)
{
	char dir[128];

	(void)snprintf(dir, sizeof(dir), "%s/ledger", p->store);
	return entries(dir);
}

/* So many days from now; the numbers of entries and originals that went. */
static void sweep(const struct place *p, int days, unsigned nentry, unsigned noriginal)
{
	struct originals_swept swept;
	struct err err = { 0 };

	if (originals_sweep(p->originals_fd, p->ledger_fd, time(NULL) + days * DAY, &swept,
			    &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(swept.entries, nentry);
	assert_int_equal(swept.originals, noriginal);
}

/* Opening a pipe would wait for who writes it. */
static void what_is_no_regular_file_is_no_original(void **state)
{
	struct place p = place_new();
	struct err err = { 0 };
	char hex[65];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	digest_hex(&p.original, hex);
	assert_int_equal(unlinkat(p.originals_fd, hex, 0), 0);
	assert_int_equal(mkfifoat(p.originals_fd, hex, 0400), 0);
	(void)alarm(60);
	assert_int_equal(install_open_original(p.originals_fd, &p.original, &err), -1);
	(void)alarm(0);
	assert_non_null(strstr(err.text, "not a regular file"));
	place_free(&p);
}

static void an_installed_ones_original_stays_for_ever(void **state)
{
	struct place p = place_new();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	for (int days = 0; days < 4000; days += 500)
		sweep(&p, days, 0, 0);
	assert_int_equal(do_restore(&p), 0);
	place_free(&p);
}

static void a_restored_ones_original_stays_for_thirty_days(void **state)
{
	struct place p = place_new();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(do_restore(&p), 0);
	sweep(&p, 0, 0, 0);
	sweep(&p, ORIGINALS_KEPT_DAYS - 1, 0, 0);
	assert_true(kept(&p, &p.original));
	sweep(&p, ORIGINALS_KEPT_DAYS + 1, 1, 1);
	assert_false(kept(&p, &p.original));
	assert_int_equal(ledger_entries(&p), 0);
	sweep(&p, 1000, 0, 0);
	/* and all begins anew */
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(do_restore(&p), 0);
	/* a clock that goes back takes nothing */
	sweep(&p, -4000, 0, 0);
	place_free(&p);
}

static void seen_at_the_path_the_time_begins_anew(void **state)
{
	const struct timespec old[2] = { { time(NULL) - 100 * DAY, 0 },
					 { time(NULL) - 100 * DAY, 0 } };
	struct place p = place_new();
	char command[160], backup[128];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	(void)snprintf(command, sizeof(command), "touch -d '100 days ago' '%s/ledger/'*",
		       p.store);
	assert_int_equal(system(command), 0);
	sweep(&p, 0, 0, 0);
	assert_int_equal(do_restore(&p), 0);
	sweep(&p, 1, 0, 0);
	/* From a backup: another inode, the same content; what its times say does not count. */
	(void)snprintf(backup, sizeof(backup), "%s.new", p.path);
	write_file(backup, new_text, 0751);
	assert_int_equal(utimensat(AT_FDCWD, backup, old, 0), 0);
	assert_int_equal(rename(backup, p.path), 0);
	assert_int_equal(system(command), 0);
	sweep(&p, 0, 0, 0);
	assert_true(kept(&p, &p.original));
	assert_int_equal(do_restore(&p), 0);
	place_free(&p);
}

/* The daemon had not run for long when it was restored. */
static void restored_the_time_begins_anew(void **state)
{
	struct place p = place_new();
	char command[160];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	(void)snprintf(command, sizeof(command), "touch -d '100 days ago' '%s/ledger/'*",
		       p.store);
	assert_int_equal(system(command), 0);
	assert_int_equal(do_restore(&p), 0);
	sweep(&p, ORIGINALS_KEPT_DAYS - 1, 0, 0);
	sweep(&p, ORIGINALS_KEPT_DAYS + 1, 1, 1);
	place_free(&p);
}

static void a_deleted_programs_original_goes_in_time(void **state)
{
	struct place p = place_new();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(unlink(p.path), 0);
	sweep(&p, ORIGINALS_KEPT_DAYS - 1, 0, 0);
	sweep(&p, ORIGINALS_KEPT_DAYS + 1, 1, 1);
	place_free(&p);
}

/* A disk that is not mounted, or another one mounted there. */
static void a_folder_that_is_not_there_tells_nothing(void **state)
{
	struct place p = place_new();
	char away[128];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	(void)snprintf(away, sizeof(away), "%s/away", p.root);
	assert_int_equal(rename(p.dir, away), 0);
	sweep(&p, 1000, 0, 0);
	assert_int_equal(mkdir(p.dir, 0755), 0);
	sweep(&p, 1000, 0, 0);
	assert_int_equal(rmdir(p.dir), 0);
	assert_int_equal(rename(away, p.dir), 0);
	sweep(&p, 1000, 0, 0);
	assert_int_equal(do_restore(&p), 0);
	place_free(&p);
}

static void an_original_of_two_paths_goes_with_the_second(void **state)
{
	struct place p = place_new(), two = p;

	(void)state;
	(void)snprintf(two.path, sizeof(two.path), "%s/two", p.dir);
	write_file(two.path, old_text, 0755);
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(do_install(&two), 0);
	assert_int_equal(do_restore(&p), 0);
	sweep(&p, 1000, 1, 0);
	assert_true(kept(&p, &p.original));
	assert_int_equal(do_restore(&two), 0);
	sweep(&p, 1000, 1, 1);
	assert_false(kept(&p, &p.original));
	place_free(&p);
}

static void an_original_from_before_the_ledger_stays(void **state)
{
	struct place p = place_new();
	char command[160], hex[65];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	(void)snprintf(command, sizeof(command), "rm '%s/ledger/'*", p.store);
	assert_int_equal(system(command), 0);
	digest_hex(&p.original, hex);
	assert_int_equal(fchmodat(p.originals_fd, hex, 0600, 0), 0);
	sweep(&p, 4000, 0, 0);
	assert_true(kept(&p, &p.original));
	place_free(&p);
}

static void other_files_in_originals_stay(void **state)
{
	struct place p = place_new();
	char path[160];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/originals/journal.damaged-1", p.store);
	write_file(path, "x", ORIGINALS_MODE);
	(void)snprintf(path, sizeof(path), "%s/originals/note", p.store);
	write_file(path, "x", ORIGINALS_MODE);
	sweep(&p, 4000, 0, 0);
	(void)snprintf(path, sizeof(path), "%s/originals", p.store);
	assert_int_equal(entries(path), 2);
	place_free(&p);
}

static const char *die_at;

static void die(const char *step)
{
	if (strcmp(step, die_at) == 0)
		raise(SIGKILL);
}

static void killed_at(struct place *p, const char *step)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		die_at = step;
		install_step_hook = die;
		(void)do_install(p);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void an_operation_under_way_names_its_original(void **state)
{
	struct place p = place_new();
	struct install_recovered done;

	(void)state;
	killed_at(&p, "journal written");
	sweep(&p, 1000, 0, 0);
	assert_true(kept(&p, &p.original));
	assert_int_equal(place_recover(&p, &done, NULL), 0);
	/* undone: no entry has ever named it, and what a kill leaves stays */
	sweep(&p, 1000, 0, 0);
	assert_true(kept(&p, &p.original));
	place_free(&p);
}

/* An entry that goes takes no original that a swap under way needs. */
static void an_operation_under_way_keeps_what_an_entry_has_named(void **state)
{
	struct place p = place_new();

	(void)state;
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(do_restore(&p), 0);
	killed_at(&p, "journal written");
	sweep(&p, 1000, 1, 0);
	assert_true(kept(&p, &p.original));
	place_free(&p);
}

/* --- a ledger that was lost --- */

static void lose_entries(const struct place *p)
{
	char command[160];

	(void)snprintf(command, sizeof(command), "rm '%s/ledger/'*", p->store);
	assert_int_equal(system(command), 0);
}

static void lose_ledger(const struct place *p)
{
	char dir[128];

	(void)snprintf(dir, sizeof(dir), "%s/ledger", p->store);
	remove_all(dir);
}

static unsigned unnamed(const struct place *p)
{
	unsigned n = 0;

	assert_int_equal(originals_unnamed(p->originals_fd, p->ledger_fd, &n, NULL), 0);
	return n;
}

/* A swap that fails once its original is kept. */
static void a_swap_fails(const struct place *p)
{
	struct install_request r = request_of(p);

	r.generation.b[0] ^= 1;		/* not what was proven */
	assert_int_equal(install_generation(&r, NULL), -1);
}

/* A generation stands, its ledger is lost in that way, and then all that removes originals has
 * its turn. */
static void originals_stay_without(void (*lose)(const struct place *p))
{
	struct place p = place_new(), two = p;

	(void)snprintf(two.path, sizeof(two.path), "%s/two", p.dir);
	write_file(two.path, two.path, 0755);
	two.original = digest_path(two.path);
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(unnamed(&p), 0);
	lose(&p);
	assert_int_equal(unnamed(&p), 1);
	sweep(&p, 4000, 0, 0);
	assert_true(kept(&p, &p.original));
	a_swap_fails(&two);
	assert_true(kept(&p, &p.original));
	assert_false(kept(&p, &two.original));
	/* one that was there before stays, though nothing names it */
	write_file(two.path, old_text, 0755);
	two.original = p.original;
	a_swap_fails(&two);
	assert_true(kept(&p, &p.original));
	assert_int_equal(unnamed(&p), 1);
	place_free(&p);
}

static void originals_stay_when_the_ledger_has_lost_its_entries(void **state)
{
	(void)state;
	originals_stay_without(lose_entries);
}

static void originals_stay_when_the_ledger_is_deleted_meanwhile(void **state)
{
	(void)state;
	originals_stay_without(lose_ledger);
}

static void an_original_under_way_is_not_unnamed(void **state)
{
	struct place p = place_new();

	(void)state;
	killed_at(&p, "journal written");
	assert_int_equal(unnamed(&p), 0);
	place_free(&p);
}

static void a_damaged_entry_stops_it(void **state)
{
	struct place p = place_new();
	struct originals_swept swept;
	struct err err = { 0 };
	char command[160];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(do_restore(&p), 0);
	(void)snprintf(command, sizeof(command), "sed -i 's/^bytes 1/bytes 2/' '%s/ledger/'*",
		       p.store);
	assert_int_equal(system(command), 0);
	assert_int_equal(originals_sweep(p.originals_fd, p.ledger_fd, time(NULL) + 1000 * DAY,
					 &swept, &err), -1);
	assert_non_null(strstr(err.text, "damaged"));
	assert_true(kept(&p, &p.original));
	assert_int_equal(ledger_entries(&p), 1);
	place_free(&p);
}

/* Another generation of one original again and again, as a Manager that was taken over might
 * have them made. */
static void a_path_has_a_bounded_number_of_entries(void **state)
{
	struct place p = place_new();
	struct digest first = p.generation, expected = p.original;
	struct ledger_entry e;
	char text[64];

	(void)state;
	for (int i = 0; i < ORIGINALS_PATH_ENTRIES + 10; i++) {
		struct install_request r;

		(void)snprintf(text, sizeof(text), "generation %d\n", i);
		write_file(p.gen, i ? text : new_text, 0600);
		p.generation = digest_path(p.gen);
		r = request_of(&p);
		r.expected = expected;
		assert_int_equal(install_generation(&r, NULL), 0);
		expected = p.generation;
		if (i % 8 == 0 && i < 16)	/* times are of seconds */
			sleep(1);
	}
	assert_int_equal(ledger_entries(&p), ORIGINALS_PATH_ENTRIES);
	assert_int_equal(ledger_find(p.ledger_fd, p.path, &first, &e, NULL), 0);
	assert_int_equal(do_restore(&p), 0);
	place_free(&p);
}

/* --- one user's part --- */

/* Half of what one user may have, and some more. */
static const off_t large = ((off_t)ORIGINALS_OWNER_MIB << 20) / 2 + 4096;

/* Large, sparse, and another one each time; so is its generation. */
static void their_program(struct place *p)
{
	static int n;
	char text[64];
	int fd = open(p->path, O_RDWR | O_CREAT | O_TRUNC, 0755);

	assert_true(fd >= 0 && ftruncate(fd, large) == 0);
	n++;
	assert_int_equal(pwrite(fd, &n, sizeof(n), 0), sizeof(n));
	assert_int_equal(fchown(fd, USER, USER), 0);
	assert_int_equal(digest_fd(fd, &p->original, NULL), 0);
	close(fd);
	(void)snprintf(text, sizeof(text), "generation %d\n", n);
	write_file(p->gen, text, 0600);
	p->generation = digest_path(p->gen);
}

/* Over and over: reoptimize, restore, flip a byte. */
static void a_users_originals_take_a_bounded_part(void **state)
{
	struct place p = place_new();
	struct digest before;

	(void)state;
	if (geteuid() != 0) {
		place_free(&p);
		skip();
	}
	/* one whose entry was lost is in nobody's way, and stays */
	assert_int_equal(do_install(&p), 0);
	lose_entries(&p);
	struct digest lost = p.original;
	for (int i = 0; i < 3; i++) {
		before = p.original;
		their_program(&p);
		assert_int_equal(do_install(&p), 0);
		assert_int_equal(do_restore(&p), 0);
		assert_int_equal(ledger_entries(&p), 1);
		assert_true(kept(&p, &lost));
		if (i == 0)
			continue;
		assert_false(kept(&p, &before));
		assert_true(kept(&p, &p.original));
	}
	place_free(&p);
}

static void a_swap_that_fails_leaves_no_original(void **state)
{
	struct place p = place_new();

	(void)state;
	a_swap_fails(&p);
	assert_int_equal(ledger_entries(&p), 0);
	assert_false(kept(&p, &p.original));
	/* one that something names stays */
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(do_restore(&p), 0);
	a_swap_fails(&p);
	assert_true(kept(&p, &p.original));
	place_free(&p);
}

static void when_all_are_in_use_the_swap_is_refused(void **state)
{
	struct place p = place_new(), two = p;
	struct err err = { 0 };

	(void)state;
	if (geteuid() != 0) {
		place_free(&p);
		skip();
	}
	their_program(&p);
	assert_int_equal(do_install(&p), 0);
	(void)snprintf(two.path, sizeof(two.path), "%s/two", p.dir);
	their_program(&two);
	struct install_request r = request_of(&two);
	assert_int_equal(install_generation(&r, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "originals of user 12345 take 256 MiB already"));
	assert_true(holds(two.path, &two.original));
	assert_false(kept(&p, &two.original));
	/* root's are not counted, and not refused */
	assert_int_equal(chown(two.path, 0, 0), 0);
	assert_int_equal(do_install(&two), 0);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_regular_file_is_no_original),
		cmocka_unit_test(an_installed_ones_original_stays_for_ever),
		cmocka_unit_test(a_restored_ones_original_stays_for_thirty_days),
		cmocka_unit_test(seen_at_the_path_the_time_begins_anew),
		cmocka_unit_test(restored_the_time_begins_anew),
		cmocka_unit_test(a_deleted_programs_original_goes_in_time),
		cmocka_unit_test(a_folder_that_is_not_there_tells_nothing),
		cmocka_unit_test(an_original_of_two_paths_goes_with_the_second),
		cmocka_unit_test(an_original_from_before_the_ledger_stays),
		cmocka_unit_test(other_files_in_originals_stay),
		cmocka_unit_test(an_operation_under_way_names_its_original),
		cmocka_unit_test(an_operation_under_way_keeps_what_an_entry_has_named),
		cmocka_unit_test(originals_stay_when_the_ledger_has_lost_its_entries),
		cmocka_unit_test(originals_stay_when_the_ledger_is_deleted_meanwhile),
		cmocka_unit_test(an_original_under_way_is_not_unnamed),
		cmocka_unit_test(a_damaged_entry_stops_it),
		cmocka_unit_test(a_path_has_a_bounded_number_of_entries),
		cmocka_unit_test(a_users_originals_take_a_bounded_part),
		cmocka_unit_test(a_swap_that_fails_leaves_no_original),
		cmocka_unit_test(when_all_are_in_use_the_swap_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
