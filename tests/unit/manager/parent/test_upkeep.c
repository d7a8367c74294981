/* test_upkeep.c - what could not be settled is tried again, ever later; old originals go */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "manager/parent/install_journal.h"
#include "manager/parent/role.h"
#include "manager/parent/upkeep.h"
#include "tests/unit/place.h"

static void die(const char *step)
{
	if (strcmp(step, "temporary synced") == 0)
		raise(SIGKILL);
}

static void interrupt(const struct place *p)
{
	struct install_request r = request_of(p);
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		install_step_hook = die;
		(void)install_generation(&r, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static bool due_in(const struct upkeep *u, uint64_t ms)
{
	uint64_t now = role_now_ms();

	return u->recover_ms > now + ms - 5000 && u->recover_ms <= now + ms &&
	       u->next_ms <= u->recover_ms;
}

static void what_was_interrupted_is_settled_at_the_start(void **state)
{
	struct place p = place_new();
	static struct upkeep u;

	(void)state;
	interrupt(&p);
	upkeep_begin(&u, p.originals_fd, p.ledger_fd);
	assert_int_equal(u.nrecovered, 1);
	assert_int_equal(u.recovered[0].outcome, INSTALL_UNDONE);
	assert_string_equal(u.recovered[0].path, p.path);
	assert_true(u.recover_ms == UINT64_MAX && u.next_ms == u.sweep_ms);
	assert_false(upkeep_step(&u));
	/* while it runs: of a swap that failed, and could not be cleaned up at once */
	interrupt(&p);
	upkeep_soon(&u);
	assert_true(due_in(&u, 60000));
	u.recover_ms = 0;
	u.nrecovered = 0;
	assert_true(upkeep_step(&u));
	assert_int_equal(u.recovered[0].outcome, INSTALL_UNDONE);
	place_free(&p);
}

/* Who waited for it during a request would look for it again and again. */
static void what_may_not_be_done_yet_is_not_waited_for(void **state)
{
	struct upkeep u = { .next_ms = role_now_ms() + 5000 };

	(void)state;
	assert_in_range(upkeep_poll(&u, true), 1, 5000);
	assert_int_equal(upkeep_poll(&u, false), -1);
	u.next_ms = role_now_ms() - 1;
	assert_int_equal(upkeep_poll(&u, true), 0);
	assert_int_equal(upkeep_poll(&u, false), -1);
	u.next_ms = UINT64_MAX;
	assert_in_range(upkeep_poll(&u, true), 60000, INT_MAX);
}

static void what_is_stuck_is_tried_again(void **state)
{
	struct place p = place_new();
	static struct upkeep u;
	struct stat st;

	(void)state;
	if (geteuid() != 0 || mount("tmpfs", p.dir, "tmpfs", 0, "mode=755") < 0) {
		place_free(&p);
		skip();
	}
	write_file(p.path, old_text, 0751);
	interrupt(&p);
	assert_int_equal(mount(NULL, p.dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	upkeep_begin(&u, p.originals_fd, p.ledger_fd);
	assert_int_equal(u.nrecovered, 1);
	assert_int_equal(u.recovered[0].outcome, INSTALL_STUCK);
	assert_true(due_in(&u, 60000));
	assert_false(upkeep_step(&u));		/* too early */
	for (uint64_t ms = 120000; ms < 8000000; ms *= 2) {
		u.recover_ms = 0;
		assert_false(upkeep_step(&u));	/* the manager knows */
		assert_true(due_in(&u, ms < 3600000 ? ms : 3600000));
	}
	assert_int_equal(mount(NULL, p.dir, NULL, MS_REMOUNT, NULL), 0);
	u.recover_ms = 0;
	assert_true(upkeep_step(&u));
	assert_int_equal(u.nrecovered, 2);
	assert_int_equal(u.recovered[1].outcome, INSTALL_UNDONE);
	assert_true(u.recover_ms == UINT64_MAX);
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(umount(p.dir), 0);
	place_free(&p);
}

static void more_than_fit_are_not_lost_silently(void **state)
{
	struct place p = place_new();
	static struct upkeep u;

	(void)state;
	for (int i = 0; i < UPKEEP_MOST_TOLD + 4; i++) {
		struct install_journal j = { .owner = 0 };

		(void)snprintf(j.temporary, sizeof(j.temporary), ".morph-0000%02u", i % 100u);
		(void)snprintf(j.path, sizeof(j.path), "%s/gone/%d", p.root, i);
		assert_int_equal(install_journal_write(p.originals_fd, &j, NULL), 0);
	}
	upkeep_begin(&u, p.originals_fd, p.ledger_fd);
	assert_int_equal(u.nrecovered, UPKEEP_MOST_TOLD);
	char **name;
	assert_int_equal(install_journal_list(p.originals_fd, &name, NULL), 0);
	free(name);
	place_free(&p);
}

static void old_originals_go_once_a_day(void **state)
{
	struct place p = place_new();
	struct install_request r = request_of(&p);
	struct restore_request back = restore_of(&p);
	static struct upkeep u;
	char command[160], dir[128];

	(void)state;
	assert_int_equal(install_generation(&r, NULL), 0);
	assert_int_equal(install_restore(&back, NULL), 0);
	(void)snprintf(command, sizeof(command), "touch -d '40 days ago' '%s/ledger/'*",
		       p.store);
	assert_int_equal(system(command), 0);
	(void)snprintf(dir, sizeof(dir), "%s/originals", p.store);
	upkeep_begin(&u, p.originals_fd, p.ledger_fd);
	assert_false(upkeep_step(&u));
	assert_int_equal(entries(dir), 1);
	assert_in_range(u.sweep_ms - role_now_ms(), 1, 600000);
	u.sweep_ms = 0;
	assert_false(upkeep_step(&u));
	assert_int_equal(entries(dir), 0);
	assert_in_range(u.sweep_ms - role_now_ms(), 86000000, 86400000);
	place_free(&p);
}

static void originals_that_the_ledger_does_not_name_are_told_at_the_start(void **state)
{
	struct place p = place_new();
	FILE *caught = tmpfile();
	static struct upkeep u;
	char command[160], said[512];

	(void)state;
	assert_int_equal(do_install(&p), 0);
	int before = dup(STDERR_FILENO);
	assert_true(caught && before >= 0 && dup2(fileno(caught), STDERR_FILENO) >= 0);
	upkeep_begin(&u, p.originals_fd, p.ledger_fd);
	assert_int_equal(lseek(fileno(caught), 0, SEEK_END), 0);
	(void)snprintf(command, sizeof(command), "rm '%s/ledger/'*", p.store);
	assert_int_equal(system(command), 0);
	upkeep_begin(&u, p.originals_fd, p.ledger_fd);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	rewind(caught);
	said[fread(said, 1, sizeof(said) - 1, caught)] = '\0';
	(void)fclose(caught);
	if (!strstr(said, "1 original is kept that the ledger does not name: `morphctl undo "
			  "--all --search` finds generations of it"))
		fail_msg("%s", said);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: what was said is not said again within a minute */
		cmocka_unit_test(originals_that_the_ledger_does_not_name_are_told_at_the_start),
		cmocka_unit_test(what_was_interrupted_is_settled_at_the_start),
		cmocka_unit_test(what_may_not_be_done_yet_is_not_waited_for),
		cmocka_unit_test(what_is_stuck_is_tried_again),
		cmocka_unit_test(more_than_fit_are_not_lost_silently),
		cmocka_unit_test(old_originals_go_once_a_day),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
