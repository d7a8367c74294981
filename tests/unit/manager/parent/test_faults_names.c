/* test_faults_names.c - every system call of a swap of several names, of a restore, of an undo
 * and of their recovery fails, is cut short or is the last one before a kill
 *
 * Afterwards each name is whole, and as a new start would find it all are one file again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>

/* In memory: thousands of operations that each wait for a disk would take minutes. */
#define PLACE_ROOT "/dev/shm"

#include "manager/parent/install_back.h"
#include "tests/unit/inject.h"
#include "tests/unit/manager/parent/onefile.h"
#include "tests/unit/place.h"

enum { MANY = 5000 };		/* no operation has so many system calls */

/* As `morphctl undo`, without a journal. */
static int do_back(void *ctx)
{
	struct place *p = ctx;
	struct names all = p->names;
	enum back_how how;

	assert_int_equal(names_add(&all, p->twin), 0);
	assert_int_equal(names_add(&all, p->path), 0);
	for (unsigned i = 0; i < all.n; i++) {	/* each name, as --all does */
		struct back_request r = {
			.path = names_at(&all, i), .names = &all, .expected = p->generation,
			.original = p->original, .originals_fd = p->originals_fd,
			.ledger_fd = p->ledger_fd,
		};

		struct install_file f;
		struct digest d;
		int rc = install_file_open(r.path, &f, NULL) < 0 || f.fd < 0 ? -1 :
			 digest_fd(f.fd, &d, NULL);

		/* what a killed one has left */
		if (rc == 0 && digest_equal(&d, &p->original))
			rc = back_clear_left(&f, false, NULL);
		else if (rc == 0)
			rc = install_back(&r, &how, NULL);
		install_file_close(&f);
		if (rc < 0)
			return -1;
	}
	return 0;
}

struct kind {
	const char *what;
	int (*before)(void *ctx), (*run)(void *ctx);
	bool to_generation;		/* what it is to lead to */
};

static bool is_one_file(const struct place *p)
{
	return inode(p->path, NULL) == inode(p->twin, NULL) &&
	       inode(p->path, NULL) == inode(p->third, NULL);
}

static bool is_whole(const struct place *p, const char *path)
{
	return holds(path, &p->original) || holds(path, &p->generation);
}

/* Each name has the whole of one or the other; after the recovery all have the same. */
static void check_faults(const struct kind *k, struct place *p, const struct injected *i)
{
	const struct digest *to = k->to_generation ? &p->generation : &p->original;
	bool all_new = holds(p->path, to) && holds(p->twin, to) && holds(p->third, to);

	assert_true(is_whole(p, p->path) && is_whole(p, p->twin) && is_whole(p, p->third));
	assert_int_equal(do_recover(p), 0);
	if (k->run == do_back && i->exit_code)	/* whoever comes next */
		assert_int_equal(do_back(p), 0);
	assert_true(is_one_file(p));
	assert_nothing_beside(p);
	if (i->exit_code == 0 || all_new)
		assert_true(holds(p->path, to));
	if (k->to_generation && holds(p->path, &p->original))
		assert_int_equal(do_install(p), 0);
	if (holds(p->path, &p->generation))
		assert_int_equal(do_restore(p), 0);
	assert_one_file(p, &p->original);
	assert_nothing_beside(p);
}

static void every_fault(const struct kind *k)
{
	unsigned points = 0, killed = 0, failed = 0, mixed = 0;

	for (int fault = 0; fault < NFAULT; fault++) {
		struct injected i = { 0 };

		do {
			struct place p = place_with_names();

			if (k->before)
				(void)k->before(&p);
			i = inject((enum fault)fault, i.n + 1, k->run, &p);
			if (i.reached) {
				assert_int_equal(i.leaked, 0);
				points++;
				killed += i.exit_code == -1;
				failed += i.exit_code > 0;
				mixed += !is_one_file(&p);
				check_faults(k, &p, &i);
			}
			place_free(&p);
		} while (i.reached && i.n < MANY);
		assert_in_range(i.n, 10, MANY - 1);
	}
	print_message("# %s: %u points; %u failed, %u killed, %u left to the recovery between "
		      "two names\n", k->what, points, failed, killed, mixed);
	assert_true(points > 100 && killed > 40 && failed > 40 && mixed > 4);
}

static void a_swap_survives_every_fault(void **state)
{
	(void)state;
	every_fault(&(struct kind){ "swap", NULL, do_install, true });
}

static void a_restore_survives_every_fault(void **state)
{
	(void)state;
	every_fault(&(struct kind){ "restore", do_install, do_restore, false });
}

static void an_undo_survives_every_fault(void **state)
{
	(void)state;
	every_fault(&(struct kind){ "undo", do_install, do_back, false });
}

static void die_at_second(const char *step)
{
	static int exchanges;

	if (strcmp(step, "exchanged") == 0 && ++exchanges == 2)
		raise(SIGKILL);
}

static int do_half(void *ctx)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		install_step_hook = die_at_second;
		(void)do_install(ctx);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 0 : -1;
}

static void a_recovery_survives_every_fault(void **state)
{
	(void)state;
	every_fault(&(struct kind){ "recovery", do_half, do_recover, false });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_swap_survives_every_fault),
		cmocka_unit_test(a_restore_survives_every_fault),
		cmocka_unit_test(an_undo_survives_every_fault),
		cmocka_unit_test(a_recovery_survives_every_fault),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
