/* test_undo_links.c - the original back at a file with more names than are put back at once */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* In memory: thousands of names on a disk would take minutes. */
#define PLACE_ROOT "/dev/shm"

#include <elf.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/wr.h"
#include "manager/ctl/undo_file.h"
#include "tests/unit/elfnaming.h"
#include "tests/unit/place.h"

enum { MANY = 2000, BYTES = 40000 };

static const char *name_of(const struct place *p, unsigned i)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/name%u", p->dir, i);
	return path;
}

/* A generation with so many names besides, which the ledger knows by the first one. */
static struct place linked(unsigned n, struct undo_store *s)
{
	struct place p = place_new();
	uint8_t *text = malloc(BYTES);
	char hex[65], path[192];
	struct stat st;

	memset(text, '#', BYTES);
	p.original = digest_of((struct bytes){ text, BYTES });
	digest_hex(&p.original, hex);
	(void)snprintf(path, sizeof(path), "%s/originals/%s", p.store, hex);
	write_bytes(path, (struct bytes){ text, BYTES }, 0600);
	free(text);
	struct wr w = elf_naming(&p.original, 2);
	write_bytes(p.path, wr_bytes(&w), 0755);
	wr_free(&w);
	p.generation = digest_path(p.path);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(link(p.path, name_of(&p, i)), 0);
	assert_int_equal(stat(p.path, &st), 0);
	struct ledger_entry e = { .original = p.original, .generation = p.generation,
				  .owner = getuid(), .inode = st.st_ino };
	(void)snprintf(e.path, sizeof(e.path), "%s", p.path);
	assert_int_equal(ledger_put(p.ledger_fd, &e, NULL), 0);
	*s = (struct undo_store){ .root = "", .folder = p.store,
				  .originals_fd = p.originals_fd, .ledger_fd = p.ledger_fd };
	return p;
}

static enum undo_result undo(const struct undo_store *s, const char *path,
			     char said[UNDO_SAID])
{
	enum undo_result result;
	struct err err = { 0 };

	if (undo_file(s, path, &result, said, &err) < 0)
		fail_msg("%s", err.text);
	return result;
}

/* How many names are names of the original, which is one file. */
static unsigned restored(const struct place *p, unsigned n)
{
	struct stat first, st;
	unsigned k = 0;

	assert_int_equal(stat(p->path, &first), 0);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(stat(name_of(p, i), &st), 0);
		k += st.st_ino == first.st_ino;
	}
	return k;
}

static void assert_all(const struct place *p, unsigned n)
{
	struct stat st;

	assert_true(holds(p->path, &p->original));
	assert_int_equal(restored(p, n), n);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_nlink, n + 1);
	assert_int_equal(entries(p->dir), (int)n + 1);	/* nothing beside them */
}

static void all_names_come_back_however_many_there_are(void **state)
{
	static const unsigned n[] = { 15, 16, 40, MANY };

	(void)state;
	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		struct undo_store s;
		struct place p = linked(n[i], &s);
		char said[UNDO_SAID], expected[64];

		assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
		(void)snprintf(expected, sizeof(expected), "restored, and under %u more names,"
			       " also as /", n[i] - 15);
		assert_memory_equal(said, n[i] == 15 ? "restored, also as /" : expected,
				    n[i] == 15 ? 19 : strlen(expected));
		assert_null(strstr(said, "stays as it is"));
		assert_all(&p, n[i]);
		assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
		assert_string_equal(said, "is the original already");
		place_free(&p);
	}
}

static void without_a_ledger_they_do_as_well(void **state)
{
	struct undo_store s;
	struct place p = linked(40, &s);
	char said[UNDO_SAID];

	(void)state;
	s.ledger_fd = -1;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_all(&p, 40);
	place_free(&p);
}

static void names_elsewhere_stay_and_are_counted(void **state)
{
	struct undo_store s;
	struct place p = linked(40, &s);
	char said[UNDO_SAID], path[96];

	(void)state;
	for (int i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/elsewhere%d", p.root, i);
		assert_int_equal(link(p.path, path), 0);
	}
	(void)snprintf(path, sizeof(path), "%s/elsewhere1", p.root);
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_memory_equal(said, "restored, and under 25 more names,", 34);
	assert_non_null(strstr(said, "; under 2 other names the file stays as it is"));
	assert_all(&p, 40);
	assert_true(holds(path, &p.generation));
	/* they have no names in common any more */
	assert_int_equal(undo(&s, path, said), UNDO_RESTORED);
	assert_non_null(strstr(said, "/elsewhere0"));
	assert_null(strstr(said, "stays as it is"));
	place_free(&p);
}

static unsigned batches;

static void die_in_the_second(const char *step)
{
	if (strcmp(step, "put back") == 0 && ++batches == 2)
		_exit(7);
}

static void what_a_killed_one_left_comes_back_with_the_next(void **state)
{
	struct undo_store s;
	struct place p = linked(60, &s);
	char said[UNDO_SAID];
	int status;

	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		enum undo_result result;
		struct err err;

		install_step_hook = die_in_the_second;
		(void)undo_file(&s, p.path, &result, said, &err);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_in_range(restored(&p, 60), 16, 59);
	s.dry_run = true;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_non_null(strstr(said, "would get it back"));
	assert_in_range(restored(&p, 60), 16, 59);
	s.dry_run = false;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_non_null(strstr(said, "is the original already; "));
	assert_non_null(strstr(said, "other names of it got it back"));
	assert_all(&p, 60);
	place_free(&p);
}

/* The inode that the ledger has is somebody else's by now. */
static void another_file_is_left_alone(void **state)
{
	struct undo_store s;
	struct place p = linked(0, &s);
	char said[UNDO_SAID];
	struct stat st;

	(void)state;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	write_file(name_of(&p, 0), "a script", 0755);
	const struct digest script = digest_path(name_of(&p, 0));
	assert_int_equal(stat(name_of(&p, 0), &st), 0);
	struct ledger_entry e = { .original = p.original, .generation = p.generation,
				  .owner = getuid(), .inode = st.st_ino };
	(void)snprintf(e.path, sizeof(e.path), "%s", p.path);
	assert_int_equal(ledger_put(p.ledger_fd, &e, NULL), 0);
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	assert_string_equal(said, "is the original already");
	assert_true(holds(name_of(&p, 0), &script));
	place_free(&p);
}

/* Where the original itself takes the generation's place, the names that are left need it. */
/* Or a folder's: the one that the file is in, that above it, or one beside it. */
static void a_folder_is_no_name(void **state)
{
	struct undo_store s;
	char said[UNDO_SAID], beside[96], folder[3][96];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct place p = linked(0, &s);
		struct stat st;

		(void)snprintf(beside, sizeof(beside), "%s/beside", p.dir);
		assert_int_equal(mkdir(beside, 0755), 0);
		(void)snprintf(folder[0], sizeof(folder[0]), "%s", p.dir);
		(void)snprintf(folder[1], sizeof(folder[1]), "%s/..", p.dir);
		(void)snprintf(folder[2], sizeof(folder[2]), "%s", beside);
		assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
		assert_int_equal(stat(folder[i], &st), 0);
		struct ledger_entry e = { .original = p.original,
					  .generation = p.generation,
					  .owner = getuid(), .inode = st.st_ino };
		(void)snprintf(e.path, sizeof(e.path), "%s", p.path);
		assert_int_equal(ledger_put(p.ledger_fd, &e, NULL), 0);
		assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
		assert_string_equal(said, "is the original already");
		assert_int_equal(rmdir(beside), 0);
		place_free(&p);
	}
}

static void without_room_all_names_share_the_original(void **state)
{
	struct rlimit l = { BYTES / 2, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
	struct undo_store s;
	struct place p = linked(40, &s);
	char said[UNDO_SAID];
	struct stat st;

	(void)state;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
	enum undo_result result = undo(&s, p.path, said);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(result, UNDO_RESTORED);
	assert_non_null(strstr(said, "shares its content"));
	assert_int_equal(restored(&p, 40), 40);
	assert_true(holds(p.path, &p.original));
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_nlink, 42);	/* and the kept one */
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	assert_all(&p, 40);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_names_come_back_however_many_there_are),
		cmocka_unit_test(without_a_ledger_they_do_as_well),
		cmocka_unit_test(names_elsewhere_stay_and_are_counted),
		cmocka_unit_test(what_a_killed_one_left_comes_back_with_the_next),
		cmocka_unit_test(another_file_is_left_alone),
		cmocka_unit_test(a_folder_is_no_name),
		cmocka_unit_test(without_room_all_names_share_the_original),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
