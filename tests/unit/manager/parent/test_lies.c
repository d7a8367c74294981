/* test_lies.c - a manager that was taken over asks the parent for what it must not get
 *
 * In the private root of liescene.h.
 */
#include "tests/unit/manager/parent/liescene.h"

#include <malloc.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "lib/procstat.h"
#include "manager/parent/install_journal.h"

static void another_files_original_is_not_restored(void **state)
{
	struct fixture *f = *state;

	assert_false(f->requests.swap_failed);
	refused(f, restore(f, f->p.path, f->p.original, f->their_original), "morphctl undo");
	assert_true(f->requests.swap_failed);	/* so traces are looked for */
	assert_true(holds(f->p.path, &f->p.original));
}

static void another_files_original_is_not_installed_from(void **state)
{
	struct fixture *f = *state;
	struct digest g;

	refused(f, install(f, f->p.path, f->p.original, f->their_original, "evil", &g),
		"the ledger knows no such generation");
	assert_true(holds(f->p.path, &f->p.original));
	/* nor over a generation that the ledger knows */
	assert_int_equal(install(f, f->p.path, f->p.original, f->p.original, "good", &g), 0);
	struct digest evil;
	refused(f, install(f, f->p.path, g, f->their_original, "evil", &evil), "the ledger");
	refused(f, restore(f, f->p.path, g, f->their_original), "the ledger");
	assert_true(holds(f->p.path, &g));
	assert_int_equal(restore(f, f->p.path, g, f->p.original), ERR_NONE);
	assert_true(holds(f->p.path, &f->p.original));
}

static void a_generation_is_no_original(void **state)
{
	struct fixture *f = *state;
	struct digest g;

	refused(f, install(f, f->theirs, f->their_generation, f->their_generation, "2", &g),
		"a generation, not an original");
	/* but gives way to another one */
	assert_int_equal(install(f, f->theirs, f->their_generation, f->their_original, "2", &g),
			 ERR_NONE);
	assert_int_equal(restore(f, f->theirs, g, f->their_original), ERR_NONE);
	assert_true(holds(f->theirs, &f->their_original));
}

static void a_package_that_was_upgraded_stays(void **state)
{
	struct fixture *f = *state;
	struct digest g;

	assert_int_equal(install(f, f->p.path, f->p.original, f->p.original, "good", &g), 0);
	write_elf(f->p.path, "upgraded", SHARED, 0755);
	struct digest newer = digest_path(f->p.path);
	refused(f, restore(f, f->p.path, newer, f->p.original), "the ledger");
	refused(f, restore(f, f->p.path, g, f->p.original), "changed meanwhile");
	assert_true(holds(f->p.path, &newer));

	/* said to be that generation, edited: another job than the Verifier says no */
	struct msg m = { .type = MSG_RESTORE, .digest = { newer, f->p.original, g } };
	m.num[MSG_RESTORE_memory_mib] = 4096;
	m.num[MSG_RESTORE_cpu_s] = 10;
	(void)snprintf(m.text, sizeof(m.text), "%s", f->p.path);
	m.nfd = 1;
	m.fd[0] = memfd_create("map", MFD_CLOEXEC);
	refused(f, ask(f, &m, NULL), "not shown to be an edited generation");
	assert_true(holds(f->p.path, &newer));
}

/* In a folder of root's, so that it may belong to one or the other. */
static void a_path_that_others_use_now_is_not_restored(void **state)
{
	struct fixture *f = *state;
	char path[160];
	struct digest g;

	if (geteuid() != 0)
		skip();
	(void)snprintf(path, sizeof(path), "%s/theirs", f->p.dir);
	write_elf(path, "their original", SHARED, 0755);
	assert_int_equal(chown(path, USER, USER), 0);
	assert_int_equal(install(f, path, f->their_original, f->their_original, "g", &g), 0);
	/* the generation is there, in another inode: as a backup puts it back */
	assert_int_equal(unlink(path), 0);
	refused(f, restore(f, path, g, f->their_original), "no such file");
	write_elf(path, "g", SHARED, 0755);
	refused(f, restore(f, path, g, f->their_original), "belongs to user 0 now");
	refused(f, install(f, path, g, f->their_original, "g2", &g), "belongs to user 0 now");
	g = digest_path(path);
	assert_int_equal(chown(path, USER, USER), 0);
	assert_int_equal(restore(f, path, g, f->their_original), ERR_NONE);
	assert_true(holds(path, &f->their_original));
}

/* The same file by other names: a hard link, a bind mount, ways around. */
static void another_name_of_it_is_another_path(void **state)
{
	struct fixture *f = *state;
	char name[160];

	(void)snprintf(name, sizeof(name), "%s/hard", f->home);
	assert_int_equal(link(f->theirs, name), 0);
	refused(f, restore(f, name, f->their_generation, f->their_original), "the ledger");
	assert_int_equal(unlink(name), 0);
	(void)snprintf(name, sizeof(name), "%s/link", f->p.root);
	assert_int_equal(symlink(f->home, name), 0);
	(void)strcat(name, "/theirs");
	refused(f, restore(f, name, f->their_generation, f->their_original), "symbolic link");
	(void)snprintf(name, sizeof(name), "%s/../home/theirs", f->home);
	refused(f, restore(f, name, f->their_generation, f->their_original), "not the path");
	(void)snprintf(name, sizeof(name), "%s/./theirs", f->home);
	refused(f, restore(f, name, f->their_generation, f->their_original), "not the path");
	(void)snprintf(name, sizeof(name), "%s//theirs", f->home);
	refused(f, restore(f, name, f->their_generation, f->their_original), "not the path");
	assert_true(holds(f->theirs, &f->their_generation));
}

/* Only the policy can allow what others' names of a file lose, or keep. */
static void a_file_with_two_names_stays_unless_that_is_allowed(void **state)
{
	struct fixture *f = *state;
	char name[160];
	struct digest g;

	(void)snprintf(name, sizeof(name), "%s/hard", f->p.root);
	assert_int_equal(link(f->p.path, name), 0);
	for (int allowed = 0; allowed < 2; allowed++) {
		struct msg m = { .type = MSG_INSTALL, .nfd = 1,
				 .digest = { f->p.original, f->p.original } };

		m.num[MSG_INSTALL_hard_links] = (uint64_t)allowed;
		m.num[MSG_INSTALL_memory_mib] = 4096;
		m.num[MSG_INSTALL_cpu_s] = 10;
		m.fd[0] = sealed("good", &g);
		m.digest[2] = g;
		(void)snprintf(m.text, sizeof(m.text), "%s", f->p.path);
		int status = ask(f, &m, NULL);
		if (allowed)
			assert_int_equal(status, ERR_NONE);
		else
			refused(f, status, "2 hard links");
	}
	assert_true(holds(f->p.path, &g));
	assert_true(holds(name, &f->p.original));
}

static void a_bind_mount_of_it_is_another_path(void **state)
{
	struct fixture *f = *state;
	char name[160];
	int status;

	(void)snprintf(name, sizeof(name), "%s/mounted", f->p.root);
	assert_int_equal(mkdir(name, 0755), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount(f->home, name, NULL, MS_BIND, NULL) < 0)
			_exit(77);
		(void)strcat(name, "/theirs");
		int rc = restore(f, name, f->their_generation, f->their_original);
		_exit(rc == ERR_REFUSED && strstr(f->reason, "the ledger") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void one_original_of_two_paths_comes_back_to_both(void **state)
{
	struct fixture *f = *state;
	char path[2][160];
	struct digest g[2];

	for (int i = 0; i < 2; i++) {
		(void)snprintf(path[i], sizeof(path[i]), "%s/copy%d", f->p.dir, i);
		write_elf(path[i], "root's original", SHARED, 0755);
		assert_int_equal(install(f, path[i], f->p.original, f->p.original,
					 i ? "one" : "two", &g[i]), ERR_NONE);
	}
	/* not each other's generation */
	refused(f, install(f, path[0], g[1], f->p.original, "three", &g[1]), "the ledger");
	for (int i = 0; i < 2; i++) {
		struct digest now = digest_path(path[i]);

		assert_int_equal(restore(f, path[i], now, f->p.original), ERR_NONE);
		assert_true(holds(path[i], &f->p.original));
	}
}

static void what_was_installed_before_the_ledger_is_left_to_undo(void **state)
{
	struct fixture *f = *state;
	char command[160];

	(void)snprintf(command, sizeof(command), "rm '%s/ledger/'*", f->p.store);
	assert_int_equal(system(command), 0);
	refused(f, restore(f, f->theirs, f->their_generation, f->their_original),
		"`morphctl undo` puts its original back");
	/* which needs none */
	struct restore_request r = {
		.path = f->theirs, .expected = f->their_generation,
		.original = f->their_original, .originals_fd = f->p.originals_fd,
		.ledger_fd = -1,
	};
	assert_int_equal(install_restore(&r, NULL), 0);
	assert_true(holds(f->theirs, &f->their_original));
}

/* What a dry run says is what would come of it, and it does nothing. */
static void a_dry_run_promises_what_would_be_done(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ask_back(f, f->theirs, f->their_generation, f->their_original, true),
			 ERR_NONE);
	assert_true(holds(f->theirs, &f->their_generation));
	refused(f, ask_back(f, f->theirs, f->their_generation, f->p.original, true),
		"root's `morphctl undo` puts its original back");
	refused(f, ask_back(f, f->p.path, f->p.original, f->their_original, true),
		"the ledger knows no such generation");
	assert_false(f->requests.swap_failed);
	assert_true(holds(f->p.path, &f->p.original));
	assert_int_equal(restore(f, f->theirs, f->their_generation, f->their_original),
			 ERR_NONE);
	assert_true(holds(f->theirs, &f->their_original));
}

static void a_damaged_entry_binds_nothing(void **state)
{
	struct fixture *f = *state;
	char command[160];

	(void)snprintf(command, sizeof(command), "sed -i 's/^owner .*/owner 0/' '%s/ledger/'*",
		       f->p.store);
	assert_int_equal(system(command), 0);
	assert_int_not_equal(restore(f, f->theirs, f->their_generation, f->their_original),
			     ERR_NONE);
	assert_non_null(strstr(f->reason, "damaged"));
	assert_true(holds(f->theirs, &f->their_generation));
}

static void elsewhere_nothing_is_opened_or_replaced(void **state)
{
	struct fixture *f = *state;
	struct digest g;
	char beside[160];
	int nfd;

	f->options.folders = "";
	refused(f, ask_path(f, MSG_OPEN_FILE, f->p.path, NULL), "not in a folder for programs");
	refused(f, ask_path(f, MSG_CHECK, f->p.path, NULL), "not in a folder for programs");
	refused(f, install(f, f->p.path, f->p.original, f->p.original, "g", &g),
		"not in a folder for programs");
	refused(f, install(f, f->theirs, f->their_generation, f->their_original, "g", &g),
		"not in a folder for programs");
	assert_true(holds(f->p.path, &f->p.original));
	/* a folder whose name begins alike is another one */
	(void)snprintf(beside, sizeof(beside), "/elsewhere:%.*s", (int)strlen(f->p.root) - 1,
		       f->p.root);
	f->options.folders = beside;
	refused(f, ask_path(f, MSG_OPEN_FILE, f->p.path, NULL), "not in a folder for programs");
	/* what is there already can be looked at, and taken back */
	assert_int_equal(ask_path(f, MSG_OPEN_FILE, f->theirs, &nfd), ERR_NONE);
	assert_int_equal(nfd, 1);
	refused(f, ask_path(f, MSG_CHECK, f->theirs, NULL), "not in a folder for programs");
	assert_int_equal(restore(f, f->theirs, f->their_generation, f->their_original), 0);
}

static void core_files_are_not_opened(void **state)
{
	static const unsigned type[] = { 0, RELOCATABLE, CORE, 5, 0x102, 0xfe02 };
	struct fixture *f = *state;
	char path[160];
	int nfd;

	(void)snprintf(path, sizeof(path), "%s/core", f->p.dir);
	for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		write_elf(path, "root's secrets", type[i], 0600);
		refused(f, ask_path(f, MSG_OPEN_FILE, path, NULL),
			"neither a program nor a shared library");
	}
	for (unsigned ok = EXECUTABLE; ok <= SHARED; ok++) {
		write_elf(path, "a program", ok, 0600);
		assert_int_equal(ask_path(f, MSG_OPEN_FILE, path, &nfd), ERR_NONE);
		assert_int_equal(nfd, 1);
	}
	assert_int_equal(truncate(path, 17), 0);
	refused(f, ask_path(f, MSG_OPEN_FILE, path, NULL), "not an ELF file");
}

/* Neither opened nor proven, and the reason is the file's. */
static void what_is_gone_is_said_to_be_gone(void **state)
{
	struct fixture *f = *state;
	struct digest g;

	assert_int_equal(unlink(f->p.path), 0);
	assert_int_not_equal(install(f, f->p.path, f->p.original, f->p.original, "good", &g),
			     ERR_NONE);
	if (!strstr(f->reason, "No such file or directory"))
		fail_msg("'%s'", f->reason);
	assert_int_not_equal(ask_path(f, MSG_OPEN_FILE, f->p.path, NULL), ERR_NONE);
	if (!strstr(f->reason, "No such file or directory"))
		fail_msg("'%s'", f->reason);
}

/* A generation for a process, ourselves, by what the manager says of path and digests. */
static struct msg live_on(const char *path, struct digest installed, struct digest original,
			  pid_t pid)
{
	struct msg m = { .type = MSG_LIVE_ON, .digest = { installed, original }, .nfd = 1 };
	struct procstat process;

	m.num[MSG_LIVE_ON_pid] = (uint64_t)pid;
	if (procstat_read(pid, &process))
		m.num[MSG_LIVE_ON_start] = process.start;
	m.num[MSG_LIVE_ON_memory_mib] = 4096;
	m.num[MSG_LIVE_ON_cpu_s] = 10;
	m.fd[0] = sealed("for a process", &m.digest[2]);
	(void)snprintf(m.text, sizeof(m.text), "%s", path);
	return m;
}

static void a_process_gets_only_what_the_ledger_binds_to_the_original(void **state)
{
	struct fixture *f = *state;
	struct digest g;

	struct msg m = live_on(f->p.path, f->p.original, f->p.original, 1);
	refused(f, ask(f, &m, NULL), "the ledger knows no such generation");
	m = live_on(f->p.path, f->their_generation, f->their_original, 1);
	refused(f, ask(f, &m, NULL), "the ledger knows no such generation");
	assert_int_equal(install(f, f->p.path, f->p.original, f->p.original, "good", &g), 0);
	m = live_on(f->p.path, g, f->their_original, 1);
	refused(f, ask(f, &m, NULL), "the ledger knows no such generation");
	m = live_on("/nowhere/prog", g, f->p.original, 1);
	refused(f, ask(f, &m, NULL), "not in a folder for programs");
	m = live_on(f->p.path, g, f->p.original, INT32_MAX);
	refused(f, ask(f, &m, NULL), "is not there any more");
	/* nor has somebody who has its number now what it had */
	m = live_on(f->p.path, g, f->p.original, 1);
	m.num[MSG_LIVE_ON_start]++;
	refused(f, ask(f, &m, NULL), "is not there any more");
	f->options.morph_verify = "/bin/cat";
	m = live_on(f->p.path, g, f->p.original, 1);
	refused(f, ask(f, &m, NULL), "not proven to be fit for running processes");
}

/* The same of one that counts: it needs no generation at the path, but then that very file. */
static struct msg live_count(const char *path, struct digest present, struct digest original,
			     pid_t pid)
{
	struct msg m = live_on(path, present, original, pid);

	m.type = MSG_LIVE_COUNT;
	m.num[MSG_LIVE_COUNT_ms] = 1000;
	return m;
}

static void a_process_counts_only_by_what_is_proven_of_its_program(void **state)
{
	struct fixture *f = *state;

	struct msg m = live_count(f->p.path, f->p.original, f->their_original, 1);
	refused(f, ask(f, &m, NULL), "the ledger knows no such generation");
	m = live_count(f->p.path, f->their_original, f->their_original, 1);
	refused(f, ask(f, &m, NULL), "changed meanwhile");
	m = live_count("/nowhere/prog", f->p.original, f->p.original, 1);
	refused(f, ask(f, &m, NULL), "not in a folder for programs");
	m = live_count(f->p.path, f->p.original, f->p.original, INT32_MAX);
	refused(f, ask(f, &m, NULL), "is not there any more");
	/* nor has somebody who has its number now what it had */
	m = live_count(f->p.path, f->p.original, f->p.original, 1);
	m.num[MSG_LIVE_ON_start]++;
	refused(f, ask(f, &m, NULL), "is not there any more");
	f->options.morph_verify = "/bin/cat";
	m = live_count(f->p.path, f->p.original, f->p.original, 1);
	refused(f, ask(f, &m, NULL), "not proven to be fit for running processes");
}

/* Turns are of what root has of it: there is no such file here. */
static void turns_are_of_what_root_has(void **state)
{
	struct fixture *f = *state;
	struct digest g;

	assert_int_equal(install(f, f->p.path, f->p.original, f->p.original, "good", &g), 0);
	struct msg m = { .type = MSG_LIVE_TURNS, .digest = { g, f->p.original, g } };
	m.num[MSG_LIVE_TURNS_pid] = 1;
	m.num[MSG_LIVE_TURNS_memory_mib] = 4096;
	m.num[MSG_LIVE_TURNS_cpu_s] = 10;
	m.num[MSG_LIVE_TURNS_ms] = 1000;
	(void)snprintf(m.text, sizeof(m.text), "%s", f->p.path);
	assert_int_not_equal(ask(f, &m, NULL), ERR_NONE);
	assert_int_equal(f->fds, open_fds());
}

/* What another user runs is not his, whoever's file that is. */
static void a_users_program_is_mapped_only_for_him(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	struct msg m = live_on(f->theirs, f->their_generation, f->their_original, 1);
	refused(f, ask(f, &m, NULL), "no process of his");
	m = live_count(f->theirs, f->their_generation, f->their_original, 1);
	refused(f, ask(f, &m, NULL), "no process of his");
}

static void a_process_gets_no_file_that_can_still_change(void **state)
{
	struct fixture *f = *state;
	struct msg m = live_on(f->theirs, f->their_generation, f->their_original, getpid());
	struct err err = { 0 };

	close(m.fd[0]);
	m.fd[0] = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(requests_take(&f->requests, &m, &err), -1);
	assert_non_null(strstr(err.text, "could still change"));
	requests_abort(&f->requests);
	/* another one than it says; root's file, so that it is looked at */
	struct digest g;
	assert_int_equal(install(f, f->p.path, f->p.original, f->p.original, "good", &g), 0);
	m = live_on(f->p.path, g, f->p.original, 1);
	m.digest[2].b[0]++;
	assert_int_equal(requests_take(&f->requests, &m, &err), -1);
	assert_non_null(strstr(err.text, "another file than it says"));
	requests_abort(&f->requests);
}

/* Only generations that are there for processes, by their digests. */
static void nothing_else_of_the_store_is_opened(void **state)
{
	struct fixture *f = *state;
	struct msg m = { .type = MSG_LIVE_OPEN, .digest = { f->their_original } };

	assert_int_not_equal(ask(f, &m, NULL), ERR_NONE);
	assert_int_equal(f->fds, open_fds());
}

/* Descriptors are counted after each test; memory after requests of every kind. */
static void requests_leave_no_memory(void **state)
{
	struct fixture *f = *state;
	const struct install_journal other = { .temporary = ".morph-000000", .path = "/gone" };
	size_t before = 0;

	assert_int_equal(install_journal_write(f->p.originals_fd, &other, NULL), 0);
	for (int i = 0; i < 12; i++) {
		struct digest g, now = i % 2 ? f->p.original : f->their_original;

		refused(f, restore(f, f->p.path, f->p.original, f->their_original), "ledger");
		refused(f, install(f, f->p.path, now, f->their_original, "x", &g), "");
		assert_int_equal(install(f, f->p.path, f->p.original, f->p.original, "good",
					 &g), ERR_NONE);
		assert_int_equal(restore(f, f->p.path, g, f->p.original), ERR_NONE);
		refused(f, ask_path(f, MSG_OPEN_FILE, "/etc/passwd", NULL), "");
		refused(f, ask_path(f, MSG_CHECK, f->home, NULL), "not a regular file");
		if (i == 3)		/* libraries keep something of their first uses */
			before = mallinfo2().uordblks;
	}
	assert_in_range(mallinfo2().uordblks, 0, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIE(another_files_original_is_not_restored),
		LIE(another_files_original_is_not_installed_from),
		LIE(a_generation_is_no_original),
		LIE(a_package_that_was_upgraded_stays),
		LIE(a_path_that_others_use_now_is_not_restored),
		LIE(another_name_of_it_is_another_path),
		LIE(a_file_with_two_names_stays_unless_that_is_allowed),
		LIE(a_bind_mount_of_it_is_another_path),
		LIE(one_original_of_two_paths_comes_back_to_both),
		LIE(what_was_installed_before_the_ledger_is_left_to_undo),
		LIE(a_dry_run_promises_what_would_be_done),
		LIE(a_damaged_entry_binds_nothing),
		LIE(elsewhere_nothing_is_opened_or_replaced),
		LIE(core_files_are_not_opened),
		LIE(what_is_gone_is_said_to_be_gone),
		LIE(a_process_gets_only_what_the_ledger_binds_to_the_original),
		LIE(turns_are_of_what_root_has),
		LIE(a_process_counts_only_by_what_is_proven_of_its_program),
		LIE(a_users_program_is_mapped_only_for_him),
		LIE(a_process_gets_no_file_that_can_still_change),
		LIE(nothing_else_of_the_store_is_opened),
		LIE(requests_leave_no_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
