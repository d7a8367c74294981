/* test_upgrade.c - what package managers and administrators do to a file, at every step of a
 * swap
 *
 * Whatever is done at whichever step: what they put there is there afterwards, whole, with the
 * mode they gave it; the swap succeeds only if they had not changed what it was about; nothing
 * of ours is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install.h"
#include "tests/unit/place.h"

static const char newer_text[] = "#!/bin/sh\necho package upgrade\n";

/* The file beside prog with this ending. */
static const char *beside(const struct place *p, const char *ending)
{
	static char path[2][128];
	static int turn;

	turn = !turn;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s%s", p->path, ending);
	return path[turn];
}

/* --- what they do --- */

static void by_dpkg(const struct place *p)
{
	assert_int_equal(link(p->path, beside(p, ".dpkg-tmp")), 0);
	write_file(beside(p, ".dpkg-new"), newer_text, 0755);
	assert_int_equal(rename(beside(p, ".dpkg-new"), p->path), 0);
	assert_int_equal(unlink(beside(p, ".dpkg-tmp")), 0);
}

/* Another file of the package could not be unpacked: everything goes back. */
static void by_dpkg_aborted(const struct place *p)
{
	assert_int_equal(link(p->path, beside(p, ".dpkg-tmp")), 0);
	write_file(beside(p, ".dpkg-new"), newer_text, 0755);
	assert_int_equal(rename(beside(p, ".dpkg-new"), p->path), 0);
	assert_int_equal(rename(beside(p, ".dpkg-tmp"), p->path), 0);
}

static void by_rpm(const struct place *p)
{
	write_file(beside(p, ";65f1a2b3"), newer_text, 0755);
	assert_int_equal(rename(beside(p, ";65f1a2b3"), p->path), 0);
}

static void in_place(const struct place *p)
{
	int fd = open(p->path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, newer_text, strlen(newer_text)), strlen(newer_text));
	close(fd);
}

/* As tar and many restore programs do it. */
static void by_backup(const struct place *p)
{
	assert_int_equal(unlink(p->path), 0);
	write_file(p->path, newer_text, 0755);
}

static void remove_it(const struct place *p)
{
	assert_int_equal(unlink(p->path), 0);
}

static void to_a_link(const struct place *p)
{
	assert_int_equal(unlink(p->path), 0);
	assert_int_equal(symlink("elsewhere", p->path), 0);
}

static void set_id(const struct place *p)
{
	usleep(20000);			/* the clock of file times ticks */
	assert_int_equal(chmod(p->path, 04755), 0);
}

/* --- what must be there then --- */

static bool is_newer(const struct place *p)
{
	const struct digest newer = digest_of((struct bytes){ (const uint8_t *)newer_text,
							      sizeof(newer_text) - 1 });

	return holds(p->path, &newer);
}

static bool is_gone(const struct place *p)
{
	return access(p->path, F_OK) < 0 && errno == ENOENT;
}

static bool is_link(const struct place *p)
{
	char to[16];

	return readlink(p->path, to, sizeof(to)) == 9 && memcmp(to, "elsewhere", 9) == 0;
}

static bool is_set_id(const struct place *p)
{
	struct stat st;

	return stat(p->path, &st) == 0 && (st.st_mode & 07777) == 04755;
}

static const struct manner {
	const char *name;
	void (*act)(const struct place *p);
	bool (*kept)(const struct place *p);	/* NULL: they want what was there */
	int entries;
} manners[] = {
	{ "dpkg",            by_dpkg,         is_newer,  1 },
	{ "dpkg, aborted",   by_dpkg_aborted, NULL,      1 },
	{ "rpm",             by_rpm,          is_newer,  1 },
	{ "in place",        in_place,        is_newer,  1 },
	{ "from a backup",   by_backup,       is_newer,  1 },
	{ "removed",         remove_it,       is_gone,   0 },
	{ "a symbolic link", to_a_link,       is_link,   1 },
	{ "set-id",          set_id,          is_set_id, 1 },
};

static const struct manner *manner;
static struct place *where;
static int act_at, steps;
static const char *acted_at;
static bool after_exchange, exchanged;

static void hook(const char *name)
{
	exchanged |= strcmp(name, "exchanged") == 0;
	if (++steps != act_at)
		return;
	acted_at = name;
	after_exchange = exchanged;
	manner->act(where);
}

/* The operation with `manner` at its step n; false when it has fewer. */
static bool at_step(int n, bool restore)
{
	struct place p = place_new();
	struct install_request r = request_of(&p);
	struct restore_request back = restore_of(&p);
	struct err err = { 0 };

	if (restore)
		assert_int_equal(install_generation(&r, &err), 0);
	where = &p;
	act_at = n;
	steps = 0;
	exchanged = after_exchange = false;
	install_step_hook = hook;
	int rc = restore ? install_restore(&back, &err) : install_generation(&r, &err);
	install_step_hook = NULL;
	bool acted = steps >= n;

	if (acted && manner->kept && !manner->kept(&p))
		fail_msg("%s at '%s' of %s is lost", manner->name, acted_at,
			 restore ? "a restore" : "an install");
	if (acted && manner->kept && !after_exchange && rc == 0)
		fail_msg("%s at '%s' went unseen", manner->name, acted_at);
	/* a link more is no change; with the file away for a moment, it is one */
	if (!manner->kept)
		assert_true(holds(p.path, restore == (rc == 0) ? &p.original : &p.generation));
	assert_int_equal(entries(p.dir), acted ? manner->entries : 1);
	assert_true(entries(p.store) == 2);
	place_free(&p);
	return acted;
}

static void every_step(const struct manner *m)
{
	manner = m;
	for (int restore = 0; restore < 2; restore++) {
		int n = 1;

		while (at_step(n, restore != 0))
			n++;
		assert_true(n > 11);
	}
}

static void packages_of_dpkg_win_at_every_step(void **state)
{
	(void)state;
	every_step(&manners[0]);
	every_step(&manners[1]);
}

static void packages_of_rpm_win_at_every_step(void **state)
{
	(void)state;
	every_step(&manners[2]);
}

static void writers_in_place_and_backups_win_at_every_step(void **state)
{
	(void)state;
	every_step(&manners[3]);
	every_step(&manners[4]);
}

static void a_file_that_goes_stays_away(void **state)
{
	(void)state;
	every_step(&manners[5]);
	every_step(&manners[6]);
}

static void a_mode_set_meanwhile_is_kept(void **state)
{
	(void)state;
	every_step(&manners[7]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_of_dpkg_win_at_every_step),
		cmocka_unit_test(packages_of_rpm_win_at_every_step),
		cmocka_unit_test(writers_in_place_and_backups_win_at_every_step),
		cmocka_unit_test(a_file_that_goes_stays_away),
		cmocka_unit_test(a_mode_set_meanwhile_is_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
