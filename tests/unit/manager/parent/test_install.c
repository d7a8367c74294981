/* test_install.c - a swap that is killed at any step leaves the old or the new file, never
 * less */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/install.h"
#include "manager/parent/install_journal.h"
#include "tests/unit/place.h"

static void swapping_there_and_back_loses_nothing(void **state)
{
	struct place p = place_new();
	struct install_request r = request_of(&p);
	struct restore_request back = restore_of(&p);
	struct stat before, now;
	struct err err = { 0 };
	char value[8];

	(void)state;
	bool owner = geteuid() == 0 && chown(p.path, 0, 12) == 0;
	assert_int_equal(chmod(p.path, 0751), 0);
	bool xattr = setxattr(p.path, "user.morph", "kept", 4, 0) == 0;
	bool trusted = setxattr(p.path, "trusted.morph", "too", 3, 0) == 0;
	assert_int_equal(stat(p.path, &before), 0);
	for (int round = 0; round < 2; round++) {
		int rc = round ? install_restore(&back, &err) : install_generation(&r, &err);

		assert_string_equal(err.text, "");
		assert_int_equal(rc, 0);
		assert_true(holds(p.path, round ? &p.original : &p.generation));
		assert_int_equal(stat(p.path, &now), 0);
		assert_int_equal(now.st_mode, before.st_mode);
		assert_int_equal(now.st_uid, before.st_uid);
		assert_int_equal(now.st_gid, owner ? 12 : before.st_gid);
		assert_memory_equal(&now.st_mtim, &before.st_mtim, sizeof(now.st_mtim));
		if (xattr) {
			assert_int_equal(getxattr(p.path, "user.morph", value, 8), 4);
			assert_memory_equal(value, "kept", 4);
		}
		if (trusted) {
			assert_int_equal(getxattr(p.path, "trusted.morph", value, 8), 3);
			assert_memory_equal(value, "too", 3);
		}
		assert_int_equal(entries(p.dir), 1);
		assert_int_equal(entries(p.store), 2);
	}
	place_free(&p);
}

/* --- killed at every step --- */

static int kill_at, steps_seen;

static void kill_hook(const char *name)
{
	(void)name;
	if (++steps_seen == kill_at)
		raise(SIGKILL);
}

/* Runs f in a child that dies at step n.  True when it came to its end before. */
static bool run_killed(int n, int (*f)(void *ctx), struct place *p)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		kill_at = n;
		steps_seen = 0;
		install_step_hook = kill_hook;
		_exit(f(p) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return false;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

/* Kills f at every step; after each the path is whole, and recovery (killed itself at
 * `again`, 0: not) leaves one of both contents and nothing else. */
static int kill_everywhere(bool restore, int again)
{
	int n;

	for (n = 1; n < 100; n++) {
		struct place p = place_new();
		struct install_recovered done;
		struct err err;

		if (restore)
			assert_int_equal(do_install(&p), 0);
		bool ended = run_killed(n, restore ? do_restore : do_install, &p);
		assert_true(holds(p.path, &p.original) || holds(p.path, &p.generation));
		if (again)
			(void)run_killed(again, do_recover, &p);
		assert_true(holds(p.path, &p.original) || holds(p.path, &p.generation));
		assert_int_equal(place_recover(&p, &done, &err), 0);
		assert_int_equal(entries(p.dir), 1);
		assert_int_not_equal(done.outcome, INSTALL_OVERTAKEN);
		const struct digest *to = restore ? &p.original : &p.generation;
		if (done.outcome == INSTALL_FINISHED || ended)
			assert_true(holds(p.path, to));
		if (done.outcome == INSTALL_UNDONE)
			assert_false(holds(p.path, to));
		assert_int_equal(place_recover(&p, &done, &err), 0);
		assert_int_equal(done.outcome, INSTALL_NOTHING);

		/* From here everything works as if nothing had been. */
		if (!holds(p.path, to))
			assert_int_equal(restore ? do_restore(&p) : do_install(&p), 0);
		assert_true(holds(p.path, to));
		place_free(&p);
		if (ended)
			break;
	}
	return n - 1;		/* steps killed at */
}

static void an_install_killed_at_any_step_is_finished_or_undone(void **state)
{
	(void)state;
	assert_true(kill_everywhere(false, 0) >= 14);
}

static void a_restore_killed_at_any_step_is_finished_or_undone(void **state)
{
	(void)state;
	assert_true(kill_everywhere(true, 0) >= 11);
}

static void a_recovery_killed_at_any_step_is_repeated(void **state)
{
	(void)state;
	for (int again = 1; again <= 2; again++)
		assert_true(kill_everywhere(false, again) >= 14);
}

/* --- somebody else's hands --- */

static const char *intrude_step;
static void (*intrude)(void);
static struct place *intrude_place;

static bool exchanged;

static void intrude_hook(const char *name)
{
	if (strcmp(name, "exchanged") == 0)
		exchanged = true;
	if (intrude_step && strcmp(name, intrude_step) == 0) {
		intrude_step = NULL;
		intrude();
	}
}

static const char newer_text[] = "#!/bin/sh\necho package upgrade\n";

static void replace_by_newer(void)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/prog.dpkg-new", intrude_place->dir);
	write_file(path, newer_text, 0755);
	assert_int_equal(rename(path, intrude_place->path), 0);
}

static void write_in_place(void)
{
	int fd = open(intrude_place->path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, newer_text, strlen(newer_text)), strlen(newer_text));
	close(fd);
}

static void check_newer_survives(const char *at, void (*how)(void), bool restore)
{
	const struct digest newer = digest_of((struct bytes){ (const uint8_t *)newer_text,
							      sizeof(newer_text) - 1 });
	struct place p = place_new();
	struct install_request r = request_of(&p);
	struct restore_request back = restore_of(&p);
	struct err err = { 0 };

	if (restore)
		assert_int_equal(install_generation(&r, &err), 0);
	intrude_place = &p;
	intrude = how;
	intrude_step = at;
	install_step_hook = intrude_hook;
	exchanged = false;
	assert_int_equal(restore ? install_restore(&back, &err) : install_generation(&r, &err),
			 -1);
	install_step_hook = NULL;
	assert_null(intrude_step);
	assert_int_equal(exchanged, strcmp(at, "looked again") == 0);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "changed meanwhile"));
	assert_true(holds(p.path, &newer));
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

static void a_newer_file_survives_whenever_it_comes(void **state)
{
	static const char *const at[] = {
		"begin", "journal written", "temporary written", "temporary synced",
		"looked again",		/* the last moment before the exchange */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		check_newer_survives(at[i], replace_by_newer, false);
		check_newer_survives(at[i], write_in_place, false);
		check_newer_survives(at[i], replace_by_newer, true);
		check_newer_survives(at[i], write_in_place, true);
	}
}

static void race_then_die(const char *name)
{
	if (strcmp(name, "looked again") == 0)
		replace_by_newer();
	if (strcmp(name, "exchanged") == 0)
		raise(SIGKILL);
}

static void make_set_id(void)
{
	usleep(20000);			/* the clock of file times ticks */
	assert_int_equal(chmod(intrude_place->path, 04755), 0);
}

static void attributes_set_meanwhile_are_not_lost(void **state)
{
	struct place p = place_new();
	struct install_request r = request_of(&p);
	struct stat st;
	struct err err;

	(void)state;
	intrude_place = &p;
	intrude = make_set_id;
	intrude_step = "attributes copied";
	install_step_hook = intrude_hook;
	assert_int_equal(install_generation(&r, &err), -1);
	install_step_hook = NULL;
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 04755);
	assert_true(holds(p.path, &p.original));
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

static void a_newer_file_caught_in_the_exchange_goes_back_after_a_kill(void **state)
{
	const struct digest newer = digest_of((struct bytes){ (const uint8_t *)newer_text,
							      sizeof(newer_text) - 1 });
	struct place p = place_new();
	struct install_recovered done;
	struct err err;
	int status;

	(void)state;
	intrude_place = &p;
	pid_t pid = fork();
	if (pid == 0) {
		install_step_hook = race_then_die;
		_exit(do_install(&p) + 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_true(holds(p.path, &p.generation));	/* theirs is in the temporary */
	assert_int_equal(place_recover(&p, &done, &err), 0);
	assert_int_equal(done.outcome, INSTALL_OVERTAKEN);
	assert_true(holds(p.path, &newer));
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

static void restore_never_overwrites_anything_but_its_generation(void **state)
{
	struct place p = place_new();
	struct restore_request back = restore_of(&p);
	struct err err;

	(void)state;
	assert_int_equal(do_install(&p), 0);
	write_file(p.path, newer_text, 0755);
	assert_int_equal(install_restore(&back, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(install_restore(&back, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_int_equal(entries(p.dir), 0);
	place_free(&p);
}

static void a_damaged_original_is_not_put_back(void **state)
{
	struct place p = place_new();
	struct restore_request back = restore_of(&p);
	struct err err;
	char hex[65];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	digest_hex(&p.original, hex);
	assert_int_equal(fchmodat(p.originals_fd, hex, 0600, 0), 0);
	int fd = openat(p.originals_fd, hex, O_WRONLY);
	assert_int_equal(pwrite(fd, "X", 1, 3), 1);
	close(fd);
	assert_int_equal(install_restore(&back, &err), -1);
	assert_non_null(strstr(err.text, "damaged"));
	assert_true(holds(p.path, &p.generation));
	place_free(&p);
}

static void content_other_than_verified_is_not_installed(void **state)
{
	struct place p = place_new();
	struct install_request r = request_of(&p);
	struct err err;

	(void)state;
	r.generation.b[0] ^= 1;
	assert_int_equal(install_generation(&r, &err), -1);
	assert_true(holds(p.path, &p.original));
	assert_int_equal(entries(p.dir), 1);
	r = request_of(&p);
	r.expected.b[0] ^= 1;
	assert_int_equal(install_generation(&r, &err), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_true(holds(p.path, &p.original));
	place_free(&p);
}

/* One byte of the journal that is there becomes another; false: there is none. */
static bool damage_journal(const struct place *p)
{
	char **name;
	int n = install_journal_list(p->originals_fd, &name, NULL);

	assert_in_range(n, 0, 1);
	if (n == 1) {
		int fd = openat(p->originals_fd, name[0], O_RDWR);

		assert_true(fd >= 0);
		assert_int_equal(pwrite(fd, "#", 1, 30), 1);
		close(fd);
		free(name[0]);
	}
	free(name);
	return n == 1;
}

/* At every step where there is a journal: programs stay whole, nothing is done by what it
 * says, and it is in nobody's way. */
static void a_damaged_journal_is_set_aside(void **state)
{
	int damaged = 0;

	(void)state;
	for (int n = 1; n < 100; n++) {
		struct place p = place_new();
		struct install_recovered done;
		struct err err = { 0 };

		bool ended = run_killed(n, do_install, &p);
		if (!ended && damage_journal(&p)) {
			bool was_new = holds(p.path, &p.generation);
			int before = entries(p.dir);

			damaged++;
			assert_int_equal(place_recover(&p, &done, &err), 0);
			assert_int_equal(done.outcome, INSTALL_SET_ASIDE);
			assert_string_equal(done.path, "journal.damaged-1");
			assert_int_equal(faccessat(p.originals_fd, done.path, F_OK, 0), 0);
			assert_true(holds(p.path, was_new ? &p.generation : &p.original));
			assert_int_equal(entries(p.dir), before);
			assert_int_equal(was_new ? do_restore(&p) : do_install(&p), 0);
			assert_true(holds(p.path, was_new ? &p.original : &p.generation));
		}
		place_free(&p);
		if (ended)
			break;
	}
	assert_true(damaged >= 8);
}

/* It holds nobody up; each is kept. */
static void a_swap_goes_on_beside_a_damaged_journal(void **state)
{
	struct place p = place_new();
	struct install_recovered done;
	char name[32];

	(void)state;
	for (int i = 1; i <= 11; i++) {
		struct err err = { 0 };

		(void)run_killed(6, do_install, &p);
		assert_true(damage_journal(&p));
		assert_int_equal(do_install(&p), 0);
		assert_int_equal(do_restore(&p), 0);
		assert_int_equal(place_recover(&p, &done, &err), 0);
		assert_int_equal(done.outcome, INSTALL_SET_ASIDE);
		(void)snprintf(name, sizeof(name), "journal.damaged-%d", i < 9 ? i : 9);
		assert_string_equal(done.path, name);
		assert_int_equal(faccessat(p.originals_fd, name, F_OK, 0), 0);
		assert_true(holds(p.path, &p.original));
		assert_int_equal(place_recover(&p, &done, &err), 0);
		assert_int_equal(done.outcome, INSTALL_NOTHING);
	}
	place_free(&p);
}

/* --- refusals --- */

static void says(const struct err *err, const char *what, const char *reason)
{
	if (!strstr(err->text, reason))
		fail_msg("%s: '%s' does not say '%s'", what, err->text, reason);
	assert_int_equal(err->kind, ERR_REFUSED);
}

/* What comes back does so under all names that are found, and with what its file was given. */
static bool stops_swaps_alone(const char *reason)
{
	static const char *const alone[] = {
		"hard link", "hard_links", "set-id", "capabilities"
	};

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (strstr(reason, alone[i]))
			return true;
	return false;
}

/* Whoever asks, and for what: a question, a swap, a restore. */
static void refused(const struct place *p, const char *path, const char *reason)
{
	struct install_request r = request_of(p);
	struct restore_request back = restore_of(p);
	struct err err = { 0 };

	assert_int_equal(install_check(path, NULL, false, NULL, &err), -1);
	says(&err, "check", reason);
	if (!strstr(reason, "hard")) {
		assert_int_equal(install_check(path, NULL, true, NULL, &err), -1);
		says(&err, "check with any names", reason);
	}
	r.path = back.path = path;
	assert_int_equal(install_generation(&r, &err), -1);
	says(&err, "swap", reason);
	assert_int_equal(install_restore(&back, &err), -1);
	if (!stops_swaps_alone(reason))
		says(&err, "restore", reason);
}

static void what_must_not_be_touched_is_refused_with_its_reason(void **state)
{
	struct place p = place_new();
	char other[128], twin[128];
	struct err err;

	(void)state;
	assert_int_equal(install_check(p.path, NULL, false, NULL, &err), 0);

	assert_int_equal(chmod(p.path, 04755), 0);
	refused(&p, p.path, "set-id");
	assert_int_equal(chmod(p.path, 02755), 0);
	refused(&p, p.path, "set-id");
	assert_int_equal(chmod(p.path, 0755), 0);

	(void)snprintf(other, sizeof(other), "%s/second", p.root);
	assert_int_equal(link(p.path, other), 0);
	refused(&p, p.path, "2 hard links, of which 1 was found; others");
	(void)snprintf(twin, sizeof(twin), "%s/twin", p.dir);
	assert_int_equal(link(p.path, twin), 0);
	refused(&p, p.path, "3 hard links, of which 2 were found; others");
	assert_int_equal(unlink(twin), 0);
	refused(&p, p.path, "modules.hard_links");
	assert_int_equal(install_check(p.path, NULL, true, NULL, &err), 0);
	assert_int_equal(unlink(other), 0);

	assert_int_equal(symlink(p.path, other), 0);
	refused(&p, other, "symbolic link");
	assert_int_equal(unlink(other), 0);
	assert_int_equal(symlink(p.dir, other), 0);
	(void)strcat(other, "/prog");
	refused(&p, other, "symbolic link");

	assert_int_equal(chmod(p.dir, 0757), 0);
	refused(&p, p.path, "others can write");
	assert_int_equal(chmod(p.dir, 0755), 0);

	refused(&p, p.dir, "not a regular file");
	(void)snprintf(other, sizeof(other), "%s/fifo", p.root);
	assert_int_equal(mkfifo(other, 0600), 0);
	refused(&p, other, "not a regular file");
	(void)snprintf(other, sizeof(other), "%s/none", p.dir);
	refused(&p, other, "no such file");
	refused(&p, "prog", "absolute");
	refused(&p, "/", "not the path of a file");
	place_free(&p);
}

/* Where the file system has them. */
static void refused_with_flag(const struct place *p, const char *path, int flag,
			      const char *reason)
{
	int fd = open(path, O_RDONLY), none = 0;

	if (ioctl(fd, FS_IOC_SETFLAGS, &flag) == 0) {
		refused(p, p->path, reason);
		assert_int_equal(ioctl(fd, FS_IOC_SETFLAGS, &none), 0);
	}
	close(fd);
}

static void what_only_root_can_make_is_refused_too(void **state)
{
	struct place p = place_new();
	struct err err;

	(void)state;
	if (geteuid() != 0) {
		place_free(&p);
		skip();
	}
	assert_int_equal(chown(p.dir, 12345, 0), 0);
	refused(&p, p.path, "another user");
	assert_int_equal(chown(p.dir, 0, 12345), 0);
	assert_int_equal(chmod(p.dir, 0775), 0);
	refused(&p, p.path, "a group can write");
	assert_int_equal(chmod(p.dir, 0755), 0);

	assert_int_equal(chown(p.dir, 0, 0), 0);
	assert_int_equal(chmod(p.dir, 0775), 0);	/* root's group is root */
	assert_int_equal(install_check(p.path, NULL, false, NULL, &err), 0);
	assert_int_equal(chown(p.root, 12345, 0), 0);
	refused(&p, p.path, "a directory above it belongs to another user");
	assert_int_equal(chown(p.path, 12345, 0), 0);	/* who is the file's owner */
	assert_int_equal(install_check(p.path, NULL, false, NULL, &err), 0);
	assert_int_equal(chown(p.path, 0, 0), 0);
	assert_int_equal(chown(p.root, 0, 12345), 0);
	assert_int_equal(chmod(p.root, 0775), 0);
	refused(&p, p.path, "a group can write a directory above it");
	assert_int_equal(chmod(p.root, 0757), 0);
	refused(&p, p.path, "others can write a directory above it");
	assert_int_equal(chmod(p.root, 01777), 0);
	assert_int_equal(install_check(p.path, NULL, false, NULL, &err), 0);
	assert_int_equal(chmod(p.root, 0755), 0);
	/* version, then entries: owner rwx, user 12345 rwx, group r-x, mask rwx, others r-x */
	static const uint8_t list[] = { 2, 0, 0, 0,
		1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 0x39, 0x30, 0, 0,
		4, 0, 5, 0, 255, 255, 255, 255, 16, 0, 7, 0, 255, 255, 255, 255,
		32, 0, 5, 0, 255, 255, 255, 255 };
	if (setxattr(p.dir, "system.posix_acl_access", list, sizeof(list), 0) == 0) {
		refused(&p, p.path, "a group can write its directory");
		assert_int_equal(removexattr(p.dir, "system.posix_acl_access"), 0);
	}
	assert_int_equal(chmod(p.dir, 0755), 0);

	cap_t cap = cap_from_text("cap_net_raw+ep");
	if (cap_set_file(p.path, cap) == 0) {
		refused(&p, p.path, "capabilities");
		assert_int_equal(removexattr(p.path, "security.capability"), 0);
	}
	cap_free(cap);

	refused_with_flag(&p, p.path, FS_IMMUTABLE_FL, "it is immutable");
	refused_with_flag(&p, p.dir, FS_APPEND_FL, "its directory is append-only");
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

static void a_full_disk_leaves_the_file_and_no_traces(void **state)
{
	struct place p = { .root = "/var/tmp/morph-install-XXXXXX" };
	char filler[128], big[128];
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(p.root));
	if (geteuid() != 0 || mount("tmpfs", p.root, "tmpfs", 0, "size=256k,mode=755") < 0) {
		print_message("needs to mount a tmpfs\n");
		assert_int_equal(rmdir(p.root), 0);
		skip();
	}
	place_fill(&p);
	(void)snprintf(filler, sizeof(filler),
		       "head -c 300000 /dev/zero > %s/filler 2>/dev/null", p.root);
	(void)system(filler);
	struct install_request r = request_of(&p);
	assert_int_equal(install_generation(&r, &err), -1);
	assert_int_equal(err.kind, ERR_SYS);
	assert_non_null(strstr(err.text, "No space left"));
	assert_true(holds(p.path, &p.original));
	assert_int_equal(entries(p.dir), 1);

	/* With room again it goes on. */
	(void)snprintf(big, sizeof(big), "%s/filler", p.root);
	assert_int_equal(unlink(big), 0);
	assert_int_equal(install_generation(&r, &err), 0);
	assert_true(holds(p.path, &p.generation));
	close(p.originals_fd);
	close(p.ledger_fd);
	close(p.generation_fd);
	assert_int_equal(umount(p.root), 0);
	assert_int_equal(rmdir(p.root), 0);
}

static void the_second_generation_needs_the_kept_original(void **state)
{
	struct place p = place_new();
	struct install_request r = request_of(&p);
	struct restore_request back = restore_of(&p);
	char path[128];
	struct err err = { 0 };

	(void)state;
	assert_int_equal(install_generation(&r, &err), 0);
	(void)snprintf(path, sizeof(path), "%s/gen2", p.root);
	write_file(path, "generation two\n", 0600);
	r.expected = p.generation;
	r.generation = digest_path(path);
	close(p.generation_fd);
	r.generation_fd = p.generation_fd = open(path, O_RDONLY);
	back.expected = r.generation;

	/* Without the original nothing may be installed that could not be taken back. */
	char hex[65];
	digest_hex(&p.original, hex);
	assert_int_equal(unlinkat(p.originals_fd, hex, 0), 0);
	assert_int_equal(install_generation(&r, &err), -1);
	assert_true(holds(p.path, &p.generation));

	int fd = openat(p.originals_fd, hex, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, old_text, strlen(old_text)), strlen(old_text));
	close(fd);
	assert_int_equal(install_generation(&r, &err), 0);
	assert_true(holds(p.path, &r.generation));
	assert_int_equal(install_restore(&back, &err), 0);
	assert_true(holds(p.path, &p.original));
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swapping_there_and_back_loses_nothing),
		cmocka_unit_test(an_install_killed_at_any_step_is_finished_or_undone),
		cmocka_unit_test(a_restore_killed_at_any_step_is_finished_or_undone),
		cmocka_unit_test(a_recovery_killed_at_any_step_is_repeated),
		cmocka_unit_test(a_newer_file_survives_whenever_it_comes),
		cmocka_unit_test(attributes_set_meanwhile_are_not_lost),
		cmocka_unit_test(a_newer_file_caught_in_the_exchange_goes_back_after_a_kill),
		cmocka_unit_test(restore_never_overwrites_anything_but_its_generation),
		cmocka_unit_test(a_damaged_original_is_not_put_back),
		cmocka_unit_test(content_other_than_verified_is_not_installed),
		cmocka_unit_test(a_damaged_journal_is_set_aside),
		cmocka_unit_test(a_swap_goes_on_beside_a_damaged_journal),
		cmocka_unit_test(what_must_not_be_touched_is_refused_with_its_reason),
		cmocka_unit_test(what_only_root_can_make_is_refused_too),
		cmocka_unit_test(a_full_disk_leaves_the_file_and_no_traces),
		cmocka_unit_test(the_second_generation_needs_the_kept_original),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
