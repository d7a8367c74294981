/* test_recover_names.c - the recovery of a swap of several names, from every state that they
 * and what lies beside them can be in
 *
 * A power cut may keep some changes of folders and lose others, and users may have changed what
 * is theirs since.  So all combinations of what three names and their temporaries can hold
 * are made: 14 of each, 2,744 in all.  Afterwards the names that are not somebody's are one
 * file again, somebody's are as they were, nothing is left, and a second recovery
 * finds nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#define PLACE_ROOT "/dev/shm"

#include "manager/parent/install_journal.h"
#include "tests/unit/place.h"

enum { NAMES = 3 };
enum what { NOTHING, OLD, NEW, THEIRS, NWHAT };		/* at a name */
enum beside { NONE, OLD_TOO, NEW_TOO, HALF, NEWER, NBESIDE };

/* What is beside somebody's file or nothing is ours or nothing: else they put it there. */
static bool can_be(enum what name, enum beside beside)
{
	switch (name) {
	case OLD:
		return beside != NEWER && beside != OLD_TOO;
	case NEW:
		return beside != HALF && beside != NEW_TOO;
	default:
		return beside != NEWER;
	}
}

struct scene {
	struct place p;
	char old[96], new[96];		/* the two files, by names that do not count */
	struct install_journal j;
	char path[NAMES][128], beside[NAMES][128];
};

static void scene_new(struct scene *s)
{
	static const char *const temporary[NAMES] = {
		".morph-aaaaaa", ".morph-bbbbbb", ".morph-cccccc"
	};
	struct stat st;

	*s = (struct scene){ .p = place_with_names() };
	(void)snprintf(s->old, sizeof(s->old), "%s/old", s->p.root);
	(void)snprintf(s->new, sizeof(s->new), "%s/new", s->p.root);
	assert_int_equal(link(s->p.path, s->old), 0);
	write_file(s->new, new_text, 0751);
	s->j = (struct install_journal){ .from = s->p.original, .to = s->p.generation,
					 .owner = geteuid() };
	const char *path[NAMES] = { s->p.path, s->p.twin, s->p.third };
	for (int i = 0; i < NAMES; i++) {
		const char *dir = i < 2 ? s->p.dir : s->p.other;

		(void)snprintf(s->path[i], sizeof(s->path[i]), "%s", path[i]);
		(void)snprintf(s->beside[i], sizeof(s->beside[i]), "%s/%s", dir, temporary[i]);
		assert_int_equal(stat(dir, &st), 0);
		if (i == 0) {
			s->j.dev = st.st_dev;
			s->j.inode = st.st_ino;
			memcpy(s->j.temporary, temporary[i], sizeof(s->j.temporary));
			(void)snprintf(s->j.path, sizeof(s->j.path), "%s", path[i]);
			continue;
		}
		struct install_journal_at at = { .dev = st.st_dev, .inode = st.st_ino };
		memcpy(at.temporary, temporary[i], sizeof(at.temporary));
		assert_int_equal(names_add(&s->j.also, path[i]), 0);
		s->j.also_at[i - 1] = at;
	}
}

static void put(const struct scene *s, const char *path, enum what what)
{
	(void)unlink(path);		/* of the scene before */
	if (what == OLD || what == NEW)
		assert_int_equal(link(what == OLD ? s->old : s->new, path), 0);
	else if (what == THEIRS)
		write_file(path, "theirs", 0700);
}

static void set_up(const struct scene *s, int i, enum what name, enum beside beside)
{
	static const enum what same[NBESIDE] = {
		[NONE] = NOTHING, [OLD_TOO] = OLD, [NEW_TOO] = NEW, [NEWER] = THEIRS
	};

	put(s, s->path[i], name);
	put(s, s->beside[i], beside == HALF ? NOTHING : same[beside]);
	if (beside == HALF)
		write_file(s->beside[i], "#!/bin", 0600);
}

static uint64_t inode(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_ino;
}

static bool is_theirs(const char *path)
{
	static const struct bytes text = { (const uint8_t *)"theirs", 6 };
	struct digest theirs = digest_of(text);

	return holds(path, &theirs);
}

/* By what was there before. */
static void check(const struct scene *s, const enum what *name, const enum beside *beside)
{
	bool any_old = false;

	for (int i = 0; i < NAMES; i++)
		any_old |= name[i] == OLD;
	for (int i = 0; i < NAMES; i++) {
		assert_int_equal(access(s->beside[i], F_OK), -1);
		if (name[i] == NOTHING)
			assert_int_equal(access(s->path[i], F_OK), -1);
		else if (name[i] == THEIRS || beside[i] == NEWER)
			assert_true(is_theirs(s->path[i]));
		else
			assert_int_equal(inode(s->path[i]), inode(any_old ? s->old : s->new));
	}
}

static void recover(struct scene *s, const enum what *name, const enum beside *beside)
{
	struct install_recovered r;
	struct err err = { 0 };
	bool any_old = false, any_new = false;

	for (int i = 0; i < NAMES; i++) {
		set_up(s, i, name[i], beside[i]);
		any_old |= name[i] == OLD;
		any_new |= name[i] == NEW && beside[i] != NEWER;
	}
	assert_int_equal(install_journal_write(s->p.originals_fd, &s->j, &err), 0);
	if (place_recover(&s->p, &r, &err) != 0)
		fail_msg("%s %s", err.text, r.reason);
	assert_int_equal(r.outcome, any_old ? INSTALL_UNDONE : any_new ? INSTALL_FINISHED
								       : INSTALL_OVERTAKEN);
	check(s, name, beside);
	assert_int_equal(place_recover(&s->p, &r, &err), 0);
	assert_int_equal(r.outcome, INSTALL_NOTHING);
}

static void every_state_becomes_one_of_two(void **state)
{
	struct scene s;
	enum what name[NAMES];
	enum beside beside[NAMES];
	unsigned tried = 0;
	const unsigned pairs = NWHAT * NBESIDE, all = pairs * pairs * pairs;

	(void)state;
	scene_new(&s);
	for (unsigned n = 0; n < all; n++) {
		bool can = true;
		unsigned left = n;

		for (int i = 0; i < NAMES; i++, left /= pairs) {
			name[i] = (enum what)(left % pairs / NBESIDE);
			beside[i] = (enum beside)(left % NBESIDE);
			can = can && can_be(name[i], beside[i]);
		}
		if (!can)
			continue;
		recover(&s, name, beside);
		tried++;
	}
	print_message("# %u states\n", tried);
	assert_true(tried > 2000);
	place_free(&s.p);
}

/* What is in a folder that was moved away is out of reach; the rest is settled all the same. */
static void a_folder_that_is_gone_is_left_out(void **state)
{
	struct install_recovered r;
	struct scene s;
	struct err err = { 0 };
	char away[128];

	(void)state;
	scene_new(&s);
	set_up(&s, 0, NEW, OLD_TOO);
	set_up(&s, 1, OLD, NEW_TOO);
	set_up(&s, 2, NEW, OLD_TOO);
	assert_int_equal(install_journal_write(s.p.originals_fd, &s.j, &err), 0);
	(void)snprintf(away, sizeof(away), "%s/away", s.p.root);
	assert_int_equal(rename(s.p.other, away), 0);
	assert_int_equal(mkdir(s.p.other, 0755), 0);
	assert_int_equal(link(s.new, s.path[2]), 0);	/* of another folder in its place */
	assert_int_equal(place_recover(&s.p, &r, &err), 0);
	assert_int_equal(r.outcome, INSTALL_UNDONE);
	assert_int_equal(inode(s.path[0]), inode(s.old));
	assert_int_equal(inode(s.path[1]), inode(s.old));
	assert_int_equal(entries(s.p.dir), 2);
	assert_int_equal(inode(s.path[2]), inode(s.new));
	assert_int_equal(entries(away), 2);		/* in another folder by now: not ours */
	place_free(&s.p);
}

static const struct scene *here;
static enum what late;

static void hook_late(const char *step)
{
	if (strcmp(step, "recovery took back") != 0 || late == NOTHING)
		return;
	put(here, here->path[2], late);
	late = NOTHING;
}

/* A package comes while names are taken back: the one that is its file by then stays that. */
static void a_name_that_is_replaced_meanwhile_stays_theirs(void **state)
{
	struct install_recovered r;
	struct scene s;
	struct err err = { 0 };

	(void)state;
	scene_new(&s);
	set_up(&s, 0, NEW, OLD_TOO);
	set_up(&s, 1, OLD, NEW_TOO);
	set_up(&s, 2, NEW, OLD_TOO);
	assert_int_equal(install_journal_write(s.p.originals_fd, &s.j, &err), 0);
	here = &s;
	late = THEIRS;
	install_step_hook = hook_late;
	assert_int_equal(place_recover(&s.p, &r, &err), 0);
	install_step_hook = NULL;
	assert_int_equal(late, NOTHING);
	assert_int_equal(r.outcome, INSTALL_UNDONE);
	assert_int_equal(inode(s.path[0]), inode(s.old));
	assert_true(is_theirs(s.path[2]));
	assert_int_equal(entries(s.p.dir), 2);
	assert_int_equal(entries(s.p.other), 1);
	place_free(&s.p);
}

/* Somebody's folder is where the old file was: nothing else happens until it is gone. */
static void what_cannot_be_taken_back_yet_waits(void **state)
{
	struct install_recovered r;
	struct scene s;
	struct err err = { 0 };

	(void)state;
	scene_new(&s);
	set_up(&s, 0, OLD, NEW_TOO);
	set_up(&s, 1, NEW, NONE);
	set_up(&s, 2, NEW, OLD_TOO);
	assert_int_equal(mkdir(s.beside[1], 0755), 0);
	assert_int_equal(install_journal_write(s.p.originals_fd, &s.j, &err), 0);
	assert_int_equal(place_recover(&s.p, &r, &err), 1);
	assert_int_equal(r.outcome, INSTALL_STUCK);
	assert_non_null(strstr(r.reason, "File exists"));
	assert_int_equal(inode(s.path[1]), inode(s.new));
	assert_int_equal(install_recover_path(s.p.originals_fd, s.p.third, &err), -1);
	assert_int_equal(rmdir(s.beside[1]), 0);
	assert_int_equal(place_recover(&s.p, &r, &err), 0);
	assert_int_equal(r.outcome, INSTALL_UNDONE);
	for (int i = 0; i < NAMES; i++)
		assert_int_equal(inode(s.path[i]), inode(s.old));
	assert_int_equal(entries(s.p.dir), 2);
	place_free(&s.p);
}

static void a_journal_of_names_comes_back_as_it_was(void **state)
{
	struct install_journal back;
	struct scene s;
	char name[JOURNAL_LEN + 1];
	struct err err = { 0 };

	(void)state;
	scene_new(&s);
	assert_int_equal(install_journal_write(s.p.originals_fd, &s.j, &err), 0);
	install_journal_name(&s.j, name);
	assert_int_equal(install_journal_read(s.p.originals_fd, name, &back, &err), 1);
	for (unsigned i = 0; i <= s.j.also.n; i++) {
		struct install_journal_name x = install_journal_nth(&s.j, i),
					    y = install_journal_nth(&back, i);

		assert_string_equal(x.path, y.path);
		assert_string_equal(x.at.temporary, y.at.temporary);
		assert_int_equal(x.at.dev, y.at.dev);
		assert_int_equal(x.at.inode, y.at.inode);
		assert_true(install_journal_is_of(&back, x.path));
	}
	assert_false(install_journal_is_of(&back, s.old));
	/* one of them stuck is in the way of all */
	assert_int_equal(install_recover_path(s.p.originals_fd, s.p.third, &err), 0);
	assert_int_equal(install_journal_read(s.p.originals_fd, name, &back, &err), 0);
	memset(s.j.also.text, 'x', 1);			/* no absolute path */
	assert_int_equal(install_journal_write(s.p.originals_fd, &s.j, &err), 0);
	assert_int_equal(install_journal_read(s.p.originals_fd, name, &back, &err), -1);
	assert_int_equal(err.kind, ERR_INPUT);
	place_free(&s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_becomes_one_of_two),
		cmocka_unit_test(a_folder_that_is_gone_is_left_out),
		cmocka_unit_test(a_name_that_is_replaced_meanwhile_stays_theirs),
		cmocka_unit_test(what_cannot_be_taken_back_yet_waits),
		cmocka_unit_test(a_journal_of_names_comes_back_as_it_was),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
