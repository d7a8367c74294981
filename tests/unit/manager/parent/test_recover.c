/* test_recover.c - interrupted swaps whose traces somebody has changed, and journals that are
 * not ours
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "manager/parent/install_journal.h"
#include "manager/parent/sumtext.h"
#include "tests/unit/place.h"

enum { USER = 12345 };

static const char *die_at;

static void die(const char *step)
{
	if (strcmp(step, die_at) == 0)
		raise(SIGKILL);
}

/* A swap of the place that is killed at that step; its journal. */
static struct install_journal killed_at(const struct place *p, const char *step)
{
	struct install_request r = request_of(p);
	struct install_journal j;
	char **name;
	int status;

	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		die_at = step;
		install_step_hook = die;
		(void)install_generation(&r, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(install_journal_list(p->originals_fd, &name, NULL), 1);
	assert_int_equal(install_journal_read(p->originals_fd, name[0], &j, NULL), 1);
	free(name[0]);
	free(name);
	return j;
}

static int journals(const struct place *p)
{
	char **name;
	int n = install_journal_list(p->originals_fd, &name, NULL);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++)
		free(name[i]);
	free(name);
	return n;
}

static void swap_there_and_back(const struct place *p)
{
	struct install_request r = request_of(p);
	struct restore_request back = restore_of(p);
	struct err err = { 0 };

	if (install_generation(&r, &err) < 0 || install_restore(&back, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(holds(p->path, &p->original));
}

/* --- what is at the temporary's name --- */

static const char *at;			/* the temporary */

static void folder(void)
{
	assert_int_equal(mkdir(at, 0755), 0);
}

static void full_folder(void)
{
	char in[256];

	folder();
	(void)snprintf(in, sizeof(in), "%s/file", at);
	write_file(in, "something", 0600);
}

static void fifo(void)
{
	assert_int_equal(mkfifo(at, 0600), 0);
}

static void a_link(void)
{
	assert_int_equal(symlink("/etc/passwd", at), 0);
}

static void others_file(void)
{
	write_file(at, "somebody's", 0600);
	assert_int_equal(chown(at, USER + 1, USER + 1), 0);
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void what_is_not_ours_is_left_and_holds_nobody_up(void **state)
{
	static const struct {
		void (*make)(void);
		const char *step;
	} kind[] = {
		{ folder, "temporary made" },	 { full_folder, "temporary written" },
		{ fifo, "temporary synced" },	 { a_link, "temporary made" },
		{ others_file, "looked again" }, { folder, "journal written" },
		{ folder, "exchanged" },	 { full_folder, "directory synced" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		struct place p = place_new();
		struct install_recovered done;
		struct err err = { 0 };
		char path[256];

		if (kind[i].make == others_file && geteuid() != 0) {
			place_free(&p);
			continue;
		}
		struct install_journal j = killed_at(&p, kind[i].step);
		(void)snprintf(path, sizeof(path), "%s/%s", p.dir, j.temporary);
		(void)unlink(path);		/* it may not be made yet */
		at = path;
		kind[i].make();
		int rc = place_recover(&p, &done, &err);
		if (rc)
			fail_msg("case %zu: %s", i, done.reason);
		assert_string_equal(done.path, p.path);
		assert_true(digest_equal(&done.from, &p.original));
		assert_true(digest_equal(&done.to, &p.generation));
		assert_int_equal(journals(&p), 0);
		assert_true(is_there(path));
		assert_int_equal(entries(p.dir), 2);
		if (holds(p.path, &p.generation)) {
			struct restore_request back = restore_of(&p);

			assert_int_equal(done.outcome, INSTALL_FINISHED);
			assert_int_equal(install_restore(&back, &err), 0);
		}
		swap_there_and_back(&p);
		place_free(&p);
	}
}

/* A link that was at the path came out of the exchange before the kill. */
static void a_link_that_came_out_of_the_exchange_goes_back(void **state)
{
	struct place p = place_new();
	struct install_recovered done;
	char path[256], to[32];
	struct err err;

	(void)state;
	struct install_journal j = killed_at(&p, "exchanged");
	(void)snprintf(path, sizeof(path), "%s/%s", p.dir, j.temporary);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("newer", path), 0);
	assert_int_equal(place_recover(&p, &done, &err), 0);
	assert_int_equal(done.outcome, INSTALL_OVERTAKEN);
	assert_int_equal(readlink(p.path, to, sizeof(to)), 5);
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

/* --- one that cannot be settled --- */

/* Its folder has become read-only; the place's other program is elsewhere. */
static void a_stuck_one_holds_up_its_own_path_only(void **state)
{
	struct place p = place_new(), other;
	struct install_recovered done;
	struct err err = { 0 };

	(void)state;
	if (geteuid() != 0 || mount("tmpfs", p.dir, "tmpfs", 0, "mode=755") < 0) {
		place_free(&p);
		skip();
	}
	write_file(p.path, old_text, 0751);
	other = p;
	(void)snprintf(other.path, sizeof(other.path), "%s/other", p.root);
	write_file(other.path, old_text, 0751);
	(void)killed_at(&p, "temporary synced");
	assert_int_equal(mount(NULL, p.dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(place_recover(&p, &done, &err), 1);
		assert_int_equal(done.outcome, INSTALL_STUCK);
		assert_string_equal(done.path, p.path);
		assert_non_null(strstr(done.reason, "Read-only"));
		assert_int_equal(journals(&p), 1);
	}
	struct install_request r = request_of(&p);
	assert_int_equal(install_generation(&r, &err), -1);
	assert_non_null(strstr(err.text, "recovery of"));
	swap_there_and_back(&other);
	assert_int_equal(journals(&p), 1);

	assert_int_equal(mount(NULL, p.dir, NULL, MS_REMOUNT, NULL), 0);
	assert_int_equal(place_recover(&p, &done, &err), 0);
	assert_int_equal(done.outcome, INSTALL_UNDONE);
	assert_int_equal(entries(p.dir), 1);
	swap_there_and_back(&p);
	assert_int_equal(journals(&p), 0);
	assert_int_equal(umount(p.dir), 0);
	place_free(&p);
}

/* Whether it is the old one or the new one nobody knows: nothing is removed. */
static void a_path_that_cannot_be_looked_at_is_not_settled(void **state)
{
	enum { TOO_LONG = 300 };		/* for a name */
	struct place p = place_new();
	struct install_recovered done;
	char name[JOURNAL_LEN + 1], last[TOO_LONG + 1];
	struct err err = { 0 };

	(void)state;
	struct install_journal j = killed_at(&p, "temporary synced");
	install_journal_name(&j, name);
	assert_int_equal(install_journal_remove(p.originals_fd, name, &err), 0);
	memset(last, 'x', TOO_LONG);
	last[TOO_LONG] = '\0';
	(void)snprintf(j.path, sizeof(j.path), "%s/%s", p.dir, last);
	assert_int_equal(install_journal_write(p.originals_fd, &j, &err), 0);
	assert_int_equal(place_recover(&p, &done, &err), 1);
	assert_int_equal(done.outcome, INSTALL_STUCK);
	assert_non_null(strstr(done.reason, "too long"));
	assert_int_equal(journals(&p), 1);
	assert_int_equal(entries(p.dir), 2);
	place_free(&p);
}

/* --- many --- */

struct told {
	unsigned n[INSTALL_STUCK + 1];
};

static void count(void *ctx, const struct install_recovered *r)
{
	struct told *t = ctx;

	t->n[r->outcome]++;
}

static void write_summed(const struct place *p, const char *name, const char *text)
{
	struct sumtext s = { .n = 0 };

	sumtext_add(&s, "%s", text);
	sumtext_close(&s);
	assert_int_equal(sumtext_write(p->originals_fd, name, "journal.new", &s, NULL), 0);
}

static void all_are_settled_and_all_are_told(void **state)
{
	struct place p = place_new();
	struct told t = { { 0 } };
	struct err err;

	(void)state;
	struct install_journal j = killed_at(&p, "temporary synced");
	for (int i = 0; i < 20; i++) {
		struct install_journal more = j;

		(void)snprintf(more.temporary, sizeof(more.temporary), ".morph-0000%02u",
			       i % 100u);
		(void)snprintf(more.path, sizeof(more.path), "%s/gone/%d", p.root, i);
		assert_int_equal(install_journal_write(p.originals_fd, &more, &err), 0);
	}
	write_summed(&p, "journal-damage", "morph-journal 2\n");
	assert_int_equal(install_recover(p.originals_fd, count, &t, &err), 0);
	assert_int_equal(t.n[INSTALL_UNDONE], 1);
	assert_int_equal(t.n[INSTALL_OVERTAKEN], 20);
	assert_int_equal(t.n[INSTALL_SET_ASIDE], 1);
	assert_int_equal(t.n[INSTALL_STUCK] + t.n[INSTALL_FINISHED] + t.n[INSTALL_NOTHING], 0);
	assert_int_equal(journals(&p), 0);
	place_free(&p);
}

/* What an older version left: one file, without an owner. */
static void a_journal_of_version_1_is_settled(void **state)
{
	struct place p = place_new();
	struct install_recovered done;
	struct err err;
	char name[JOURNAL_LEN + 1];

	(void)state;
	struct install_journal j = killed_at(&p, "temporary synced");
	install_journal_name(&j, name);
	struct sumtext s;
	assert_int_equal(sumtext_read(p.originals_fd, name, &s, &err), 1);
	char text[sizeof(s.text)], *owner = strstr(s.text, "owner "), *sum;
	assert_int_equal(unlinkat(p.originals_fd, name, 0), 0);
	sum = strstr(s.text, "sum ");
	*sum = '\0';
	(void)snprintf(text, sizeof(text), "morph-journal 1%.*s%s",
		       (int)(owner - s.text - 15), s.text + 15, strchr(owner, '\n') + 1);
	write_summed(&p, "journal", text);
	assert_int_equal(entries(p.dir), 2);
	assert_int_equal(place_recover(&p, &done, &err), 0);
	assert_int_equal(done.outcome, INSTALL_UNDONE);
	assert_int_equal(entries(p.dir), 1);
	assert_int_equal(journals(&p), 0);
	place_free(&p);
}

/* --- well summed, and wrong --- */

/* The first `from` in the text becomes `to`. */
static void put(char *text, size_t size, const char *from, const char *to)
{
	char *where = strstr(text, from), rest[SUMTEXT_MAX + 1];

	assert_non_null(where);
	(void)snprintf(rest, sizeof(rest), "%s", where + strlen(from));
	(void)snprintf(where, size - (size_t)(where - text), "%s%s", to, rest);
}

static const struct {
	const char *from, *to;
} edit[] = {
	{ "morph-journal 2", "morph-journal 3" },
	{ "morph-journal 2", "morph-journal 1" },
	{ "morph-journal 2", "morph-journal 02" },
	{ "from ", "From " },
	{ "from ", "from  " },
	{ "to ", "to x" },
	{ "owner ", "owner -" },
	{ "owner ", "owner 0" },
	{ "owner ", "owner  " },
	{ "owner ", "owner 99999999999999999999" },
	{ "directory ", "directory +" },
	{ "directory ", "directory 0" },
	{ "directory ", "directory 1 2 " },
	{ "directory ", "folder " },
	{ "temporary .morph-", "temporary ./orph-" },
	{ "temporary .morph-", "temporary morph-" },
	{ "temporary .morph-", "temporary .morph--" },
	{ "path /", "path " },
	{ "path /", "path //" },
	{ "path /", "path /../" },
	{ "path /", "path /./" },
	{ "/prog\n", "/prog/\n" },
	{ "/prog\n", "/prog\nmore\n" },
	{ "/prog\n", "/prog\n\n" },
	{ "/prog\n", "\001" },
};

static void malformed_ones_with_a_right_sum_do_nothing(void **state)
{
	char text[SUMTEXT_MAX + 1], name[JOURNAL_LEN + 1];
	struct place p = place_new();
	struct sumtext s;
	struct err err;

	(void)state;
	struct install_journal j = killed_at(&p, "temporary synced");
	install_journal_name(&j, name);
	assert_int_equal(sumtext_read(p.originals_fd, name, &s, &err), 1);
	*strstr(s.text, "sum ") = '\0';
	for (size_t i = 0; i < sizeof(edit) / sizeof(edit[0]); i++) {
		struct install_recovered done;

		memcpy(text, s.text, sizeof(text));
		put(text, sizeof(text), edit[i].from, edit[i].to);
		write_summed(&p, name, text);
		assert_int_equal(place_recover(&p, &done, &err), 0);
		if (done.outcome != INSTALL_SET_ASIDE)
			fail_msg("'%s' is believed", text);
		assert_int_equal(entries(p.dir), 2);	/* the temporary is left */
	}
	/* of another operation, by its name */
	write_summed(&p, "journal-000000", s.text);
	struct install_recovered done;
	assert_int_equal(place_recover(&p, &done, &err), 0);
	assert_int_equal(done.outcome, INSTALL_SET_ASIDE);
	/* and the right one */
	write_summed(&p, name, s.text);
	assert_int_equal(place_recover(&p, &done, &err), 0);
	assert_int_equal(done.outcome, INSTALL_UNDONE);
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_ours_is_left_and_holds_nobody_up),
		cmocka_unit_test(a_link_that_came_out_of_the_exchange_goes_back),
		cmocka_unit_test(a_stuck_one_holds_up_its_own_path_only),
		cmocka_unit_test(a_path_that_cannot_be_looked_at_is_not_settled),
		cmocka_unit_test(all_are_settled_and_all_are_told),
		cmocka_unit_test(a_journal_of_version_1_is_settled),
		cmocka_unit_test(malformed_ones_with_a_right_sum_do_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
