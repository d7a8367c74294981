/* test_hardlinks.c - files with several names: swapped and put back under all of them
 *
 * What faults and kills make of them is in test_faults_names.c, and in test_recover_names.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "manager/parent/install_back.h"
#include "manager/parent/install_journal.h"
#include "tests/unit/manager/parent/onefile.h"
#include "tests/unit/place.h"

enum { NOBODY = 65534 };

static void says(const struct err *err, const char *text)
{
	if (!strstr(err->text, text))
		fail_msg("'%s' does not say '%s'", err->text, text);
}

static void refused(const struct place *p, const char *reason)
{
	struct install_request r = request_of(p);
	struct err err = { 0 };

	assert_int_equal(install_check(p->path, &p->names, false, NULL, &err), -1);
	says(&err, reason);
	assert_int_equal(install_generation(&r, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	says(&err, reason);
	assert_one_file(p, &p->original);
	assert_int_equal(ledger_knows(p->ledger_fd, p->path, NULL), 0);
}

/* In a namespace of mounts of its own; 2: that cannot be had. */
static int check_in_another_mount(const struct place *p)
{
	struct err err = { 0 };

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(p->other, p->other, NULL, MS_BIND, NULL) < 0)
		return 2;
	return install_check(p->path, &p->names, false, NULL, &err) == -1 &&
	       err.kind == ERR_REFUSED && strstr(err.text, "in another mount") ? 0 : 1;
}

/* The same folder twice: the second of two names, then the third of three. */
static void names_in_another_mount_are_a_reason(void **state)
{
	(void)state;
	for (int n = 2; n <= 3; n++) {
		struct place p = place_with_names();
		int status;

		if (n == 2)
			assert_int_equal(unlink(p.twin), 0);
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			_exit(check_in_another_mount(&p));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		place_free(&p);
		if (WEXITSTATUS(status) == 2)
			skip();
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void a_second_name_in_the_folder_of_another_user_is_a_reason(void **state)
{
	struct place p = place_with_names();
	struct err err = { 0 };

	(void)state;
	assert_int_equal(unlink(p.twin), 0);
	bool can = chown(p.other, NOBODY, NOBODY) == 0;
	if (can) {
		assert_int_equal(install_check(p.path, &p.names, false, NULL, &err), -1);
		says(&err, "another user than that of the first");
	}
	place_free(&p);
	if (!can)
		skip();
}

/* --- what is done --- */

static void all_names_are_swapped_and_come_back(void **state)
{
	struct place p = place_with_names();
	struct install_done done;
	struct install_request r = request_of(&p);
	struct restore_request back = restore_of(&p);
	const char *name[] = { p.path, p.twin, p.third };
	struct err err = { 0 };
	char text[1024];

	(void)state;
	r.done = back.done = &done;
	assert_int_equal(install_check(p.path, &p.names, false, &done, &err), 0);
	assert_true(names_have(&done.also, p.twin) && names_have(&done.also, p.third));
	assert_int_equal(done.also.n, 2);
	for (int i = 0; i < 3; i++) {		/* by whichever name */
		struct ledger_entry e;

		if (install_generation(&r, &err) < 0)
			fail_msg("%s", err.text);
		assert_one_file(&p, &p.generation);
		assert_nothing_beside(&p);
		for (int k = 0; k < 3; k++) {
			assert_int_equal(ledger_find(p.ledger_fd, name[k], &p.generation, &e,
						     &err), 1);
			assert_int_equal(e.also.n, 2);
			assert_false(names_have(&e.also, name[k]));
			assert_int_equal(e.inode, inode(name[k], NULL));
		}
		back.path = name[i];
		if (install_restore(&back, &err) < 0)
			fail_msg("%s", err.text);
		assert_one_file(&p, &p.original);
		assert_nothing_beside(&p);
		assert_int_equal(done.also.n, 2);
		assert_int_equal(done.others, 0);
	}
	install_done_text(&done, text, sizeof(text));
	assert_non_null(strstr(text, p.path));
	assert_non_null(strstr(text, p.twin));
	place_free(&p);
}

static void what_was_done_is_told_as_far_as_there_is_room(void **state)
{
	static const char whole[] = ", also as /a/first, /b/second; under 2 other names the "
				    "file stays as it is";
	struct install_done done = { .others = 2 };
	char text[2 * sizeof(whole)];

	(void)state;
	assert_int_equal(names_add(&done.also, "/a/first"), 0);
	assert_int_equal(names_add(&done.also, "/b/second"), 0);
	for (size_t size = 1; size <= sizeof(whole); size++) {
		memset(text, '#', sizeof(text));
		install_done_text(&done, text, size);
		assert_int_equal(strlen(text), size - 1);
		assert_int_equal(strncmp(text, whole, strlen(text)), 0);
		for (size_t i = size; i < sizeof(text); i++)
			assert_int_equal(text[i], '#');
	}
}

static void one_generation_after_another(void **state)
{
	struct place p = place_with_names();
	struct install_request r = request_of(&p);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(install_generation(&r, &err), 0);
	write_file(p.gen, "#!/bin/sh\necho newest\n", 0600);
	struct digest first = p.generation;
	p.generation = digest_path(p.gen);
	r.expected = first;
	r.generation = p.generation;
	assert_int_equal(install_generation(&r, &err), 0);
	assert_one_file(&p, &p.generation);
	assert_int_equal(do_restore(&p), 0);
	assert_one_file(&p, &p.original);
	place_free(&p);
}

/* A swap at the one name alone was killed before it exchanged the files. */
static void leave_half(const struct place *p, const char *path, const char *dir)
{
	struct install_journal j = { .from = p->original, .to = p->generation,
				     .owner = geteuid(), .temporary = ".morph-aaaaaa" };
	struct err err = { 0 };
	struct stat st;
	char beside[128];

	assert_int_equal(stat(dir, &st), 0);
	j.dev = st.st_dev;
	j.inode = st.st_ino;
	(void)snprintf(j.path, sizeof(j.path), "%s", path);
	(void)snprintf(beside, sizeof(beside), "%s/%s", dir, j.temporary);
	write_file(beside, new_text, 0751);
	if (install_journal_write(p->originals_fd, &j, &err) < 0)
		fail_msg("%s", err.text);
}

static void what_was_interrupted_at_any_name_is_settled_first(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct place p = place_with_names();
		struct install_recovered r;

		leave_half(&p, i == 0 ? p.path : i == 1 ? p.twin : p.third,
			   i < 2 ? p.dir : p.other);
		assert_int_equal(do_install(&p), 0);
		assert_one_file(&p, &p.generation);
		assert_nothing_beside(&p);
		assert_int_equal(place_recover(&p, &r, &(struct err){ 0 }), 0);
		assert_int_equal(r.outcome, INSTALL_NOTHING);
		place_free(&p);
	}
}

static void a_name_that_is_not_found_is_a_reason(void **state)
{
	struct place p = place_with_names();
	struct install_done done;
	struct install_request r = request_of(&p);
	struct names none = { 0 };
	struct err err = { 0 };

	(void)state;
	r.names = &none;
	assert_int_equal(install_generation(&r, &err), -1);
	says(&err, "3 hard links, of which 2 were found");
	says(&err, "modules.hard_links");
	assert_one_file(&p, &p.original);
	/* ... unless that is allowed: then it keeps the old content */
	r.allow_hard_links = true;
	r.done = &done;
	assert_int_equal(install_generation(&r, &err), 0);
	assert_int_equal(done.others, 1);
	assert_true(holds(p.path, &p.generation) && holds(p.twin, &p.generation));
	assert_true(holds(p.third, &p.original));
	assert_int_equal(do_restore(&p), 0);
	assert_true(holds(p.path, &p.original) && holds(p.twin, &p.original));
	assert_int_equal(inode(p.path, NULL), inode(p.twin, NULL));
	assert_nothing_beside(&p);
	place_free(&p);
}

static void names_that_are_none(void **state)
{
	struct place p = place_with_names();
	char path[128], folder[80];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/away", p.root);	/* not told of */
	assert_int_equal(rename(p.third, path), 0);
	struct names told = p.names;
	assert_int_equal(symlink(path, p.third), 0);
	assert_int_equal(install_check(p.path, &told, false, NULL, &(struct err){ 0 }), -1);
	assert_int_equal(unlink(p.third), 0);
	write_file(p.third, old_text, 0751);		/* the same content, another file */
	assert_int_equal(install_check(p.path, &told, false, NULL, &(struct err){ 0 }), -1);
	assert_int_equal(unlink(p.third), 0);
	assert_int_equal(rename(path, p.third), 0);
	/* the folder of a name by another path is the same name */
	(void)snprintf(folder, sizeof(folder), "%s/link", p.root);
	assert_int_equal(symlink("other", folder), 0);
	(void)snprintf(path, sizeof(path), "%s/third", folder);
	told.n = told.bytes = 0;
	assert_int_equal(names_add(&told, path), 0);
	assert_int_equal(install_check(p.path, &told, false, NULL, &(struct err){ 0 }), -1);
	assert_int_equal(names_add(&told, p.third), 0);
	assert_int_equal(install_check(p.path, &told, false, NULL, &(struct err){ 0 }), 0);
	place_free(&p);
}

static void folders_that_others_can_write_are_a_reason(void **state)
{
	struct place p = place_with_names();

	(void)state;
	assert_int_equal(chmod(p.other, 0777), 0);
	refused(&p, "/other/third': others can write its directory");
	assert_int_equal(chmod(p.other, 01777), 0);
	refused(&p, "/other/third': others can write its directory");
	assert_int_equal(chmod(p.other, 0755), 0);
	if (geteuid() == 0) {
		/* the file's owner could choose what root's folder gets */
		assert_int_equal(chown(p.other, NOBODY, NOBODY), 0);
		refused(&p, "the folder of that name belongs to another user");
		assert_int_equal(chown(p.path, NOBODY, NOBODY), 0);
		refused(&p, "the folder of that name belongs to another user");
		assert_int_equal(chown(p.dir, NOBODY, NOBODY), 0);
		assert_int_equal(install_check(p.path, &p.names, false, NULL, NULL), 0);
	}
	place_free(&p);
}

static void there_are_limits(void **state)
{
	struct place p = place_with_names();
	char path[128];

	(void)state;
	for (int i = 4; i <= NAMES_MOST; i++) {
		(void)snprintf(path, sizeof(path), "%s/n%d", p.dir, i);
		assert_int_equal(link(p.path, path), 0);
	}
	assert_int_equal(install_check(p.path, &p.names, false, NULL, NULL), 0);
	assert_int_equal(do_install(&p), 0);
	assert_true(holds(path, &p.generation) && holds(p.third, &p.generation));
	assert_int_equal(do_restore(&p), 0);
	assert_int_equal(inode(path, NULL), inode(p.third, NULL));
	(void)snprintf(path, sizeof(path), "%s/more", p.dir);
	assert_int_equal(link(p.path, path), 0);
	struct err err = { 0 };
	assert_int_equal(install_check(p.path, &p.names, false, NULL, &err), -1);
	says(&err, "17 hard links, more than can be swapped together (16");
	place_free(&p);
}

/* --- what happens meanwhile --- */

static const struct place *here;
static const char *at_step;

static void at(const char *step, void (*f)(void))
{
	if (at_step && strcmp(step, at_step) == 0) {
		at_step = NULL;
		f();
	}
}

static void add_link(void)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/elsewhere", here->root);
	assert_int_equal(link(here->path, path), 0);
}

/* Of the old file too, when that is at the temporary's name. */
static void add_link_to_old(void)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/elsewhere", here->root);
	assert_int_equal(link(here->third, path), 0);
}

static void replace(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/new", here->root);
	write_file(path, "theirs", 0700);
	assert_int_equal(rename(path, name), 0);
}

static bool is_theirs(const char *path)
{
	const struct bytes text = { (const uint8_t *)"theirs", 6 };
	struct digest theirs = digest_of(text);

	return holds(path, &theirs);
}

static void replace_third(void)
{
	replace(here->third);
}

/* As a package does that comes when the first name is exchanged already: the others are not
 * the file any more, so what was exchanged is taken back. */
static void replace_first_and_third(void)
{
	replace(here->path);
	replace(here->third);
}

static void hook_link(const char *step) { at(step, add_link); }
static void hook_link_to_old(const char *step) { at(step, add_link_to_old); }
static void hook_replace(const char *step) { at(step, replace_third); }
static void hook_replace_two(const char *step) { at(step, replace_first_and_third); }

static void a_name_that_comes_meanwhile_stops_the_swap(void **state)
{
	static const struct {
		const char *step;
		void (*hook)(const char *step);
		const char *says;
	} when[] = {
		{ "temporary synced", hook_link, "changed meanwhile" },
		{ "looked again", hook_link, "it got another name meanwhile" },
		{ "exchanged", hook_link_to_old, "it got another name meanwhile" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(when) / sizeof(when[0]); i++) {
		struct place p = place_with_names();
		struct install_request r = request_of(&p);
		struct err err = { 0 };
		char path[128];
		nlink_t links;

		here = &p;
		at_step = when[i].step;
		install_step_hook = when[i].hook;
		int rc = install_generation(&r, &err);
		install_step_hook = NULL;
		assert_int_equal(rc, -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		says(&err, when[i].says);
		(void)snprintf(path, sizeof(path), "%s/elsewhere", p.root);
		assert_int_equal(inode(path, &links), inode(p.path, NULL));
		assert_int_equal(links, 4);
		assert_int_equal(unlink(path), 0);
		assert_one_file(&p, &p.original);
		assert_nothing_beside(&p);
		place_free(&p);
	}
}

/* Of one name, and so of all, once. */
static int do_back_once(void *ctx)
{
	struct place *p = ctx;
	struct back_request r = {
		.path = p->path, .names = &p->names, .expected = p->generation,
		.original = p->original, .originals_fd = p->originals_fd, .ledger_fd = -1,
	};
	enum back_how how;

	return install_back(&r, &how, NULL);
}

static void a_name_that_is_replaced_meanwhile_stays_theirs(void **state)
{
	static const char *const step[] = { "temporary synced", "looked again", "exchanged" };
	static int (*const run[])(void *ctx) = { do_install, do_restore, do_back_once };

	(void)state;
	for (int i = 0; i < 9; i++) {
		struct place p = place_with_names();
		bool restore = i >= 3;
		const struct digest *before = restore ? &p.generation : &p.original;

		if (restore)
			assert_int_equal(do_install(&p), 0);
		here = &p;
		at_step = step[i % 3];
		install_step_hook = hook_replace;
		int rc = run[i / 3](&p);
		install_step_hook = NULL;
		assert_int_equal(rc, -1);
		assert_true(is_theirs(p.third));
		assert_true(holds(p.path, before) && holds(p.twin, before));
		assert_int_equal(inode(p.path, NULL), inode(p.twin, NULL));
		assert_nothing_beside(&p);
		place_free(&p);
	}
}

static void a_name_that_is_replaced_behind_its_exchange_stays_theirs(void **state)
{
	static int (*const run[])(void *ctx) = { do_install, do_restore, do_back_once };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct place p = place_with_names();

		if (i > 0)
			assert_int_equal(do_install(&p), 0);
		here = &p;
		at_step = "exchanged";
		install_step_hook = hook_replace_two;
		int rc = run[i](&p);
		install_step_hook = NULL;
		assert_int_equal(rc, -1);
		assert_true(is_theirs(p.path) && is_theirs(p.third));
		assert_true(holds(p.twin, i > 0 ? &p.generation : &p.original));
		assert_nothing_beside(&p);
		place_free(&p);
	}
}

static void what_became_of_names_does_not_keep_the_original_back(void **state)
{
	struct place p = place_with_names();
	struct restore_request back = restore_of(&p);
	struct install_done done;
	char added[128], away[128];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(do_install(&p), 0);
	here = &p;
	replace_third();			/* as a package does */
	(void)snprintf(added, sizeof(added), "%s/added", p.dir);
	(void)snprintf(away, sizeof(away), "%s/elsewhere", p.root);
	assert_int_equal(link(p.path, added), 0);
	assert_int_equal(link(p.path, away), 0);
	back.done = &done;
	if (install_restore(&back, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(holds(p.path, &p.original) && holds(p.twin, &p.original) &&
		    holds(added, &p.original));
	assert_int_equal(inode(p.path, NULL), inode(added, NULL));
	assert_true(holds(away, &p.generation));
	assert_int_equal(done.also.n, 2);
	assert_int_equal(done.others, 1);
	assert_int_equal(entries(p.dir), 3);
	place_free(&p);
}

static void a_folder_that_is_not_to_be_touched_does_not_either(void **state)
{
	struct place p = place_with_names();
	struct restore_request back = restore_of(&p);
	struct install_done done;
	char added[128];
	struct err err = { 0 };

	(void)state;
	(void)snprintf(added, sizeof(added), "%s/zadded", p.dir);	/* comes after it */
	assert_int_equal(link(p.path, added), 0);
	assert_int_equal(do_install(&p), 0);
	assert_int_equal(chmod(p.other, 0777), 0);
	back.done = &done;
	if (install_restore(&back, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(holds(p.path, &p.original) && holds(p.twin, &p.original) &&
		    holds(added, &p.original));
	assert_true(holds(p.third, &p.generation));
	assert_int_equal(done.also.n, 2);
	assert_int_equal(done.others, 1);
	/* which is whole, and comes back as well when it may */
	assert_int_equal(chmod(p.other, 0755), 0);
	back.path = p.third;
	assert_int_equal(install_restore(&back, &err), 0);
	assert_true(holds(p.third, &p.original));
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_in_another_mount_are_a_reason),
		cmocka_unit_test(a_second_name_in_the_folder_of_another_user_is_a_reason),
		cmocka_unit_test(all_names_are_swapped_and_come_back),
		cmocka_unit_test(what_was_done_is_told_as_far_as_there_is_room),
		cmocka_unit_test(one_generation_after_another),
		cmocka_unit_test(what_was_interrupted_at_any_name_is_settled_first),
		cmocka_unit_test(a_name_that_is_not_found_is_a_reason),
		cmocka_unit_test(names_that_are_none),
		cmocka_unit_test(folders_that_others_can_write_are_a_reason),
		cmocka_unit_test(there_are_limits),
		cmocka_unit_test(a_name_that_comes_meanwhile_stops_the_swap),
		cmocka_unit_test(a_name_that_is_replaced_meanwhile_stays_theirs),
		cmocka_unit_test(a_name_that_is_replaced_behind_its_exchange_stays_theirs),
		cmocka_unit_test(what_became_of_names_does_not_keep_the_original_back),
		cmocka_unit_test(a_folder_that_is_not_to_be_touched_does_not_either),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
