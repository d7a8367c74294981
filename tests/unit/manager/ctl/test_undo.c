/* test_undo.c - the original back at a path without a daemon: what names an original, what may
 * come back where, a disk without room, and every system call failing or being the last one
 *
 * Generations are made by hand: an ELF header, a section .morph.map and its name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* In memory: thousands of operations on a disk would take minutes. */
#define PLACE_ROOT "/dev/shm"

#include <elf.h>
#include <sys/resource.h>
#include <sys/xattr.h>

#include "lib/wr.h"
#include "manager/ctl/undo_file.h"
#include "manager/ctl/undo_names.h"
#include "manager/parent/install_back.h"
#include "manager/parent/install_file.h"
#include "manager/parent/ledger.h"
#include "tests/unit/inject.h"
#include "tests/unit/manager/ctl/undoscene.h"

enum { MANY = 5000 };

/* --- generations --- */

static void finds_the_original_of_a_generation(void **state)
{
	struct digest d = digest_of((struct bytes){ (const uint8_t *)"x", 1 }), got;

	(void)state;
	for (unsigned version = 1; version < 4; version++) {
		struct wr w = elf_naming(&d, version);

		assert_true(undo_find_original(wr_bytes(&w), &got));
		assert_true(digest_equal(&got, &d));
		/* cut off anywhere, it is none, and nothing is read outside */
		for (uint64_t n = 0; n < w.n; n++) {
			uint8_t *cut = malloc(n + 1);

			memcpy(cut, w.p, n);
			assert_false(undo_find_original((struct bytes){ cut, n }, &got));
			free(cut);
		}
		wr_free(&w);
	}
}

static void a_damaged_header_is_no_generation(void **state)
{
	struct digest d = { { 7 } }, got;
	struct wr w = elf_naming(&d, 2);

	(void)state;
	for (uint64_t at = 0; at < w.n * 8; at++) {
		w.p[at / 8] ^= (uint8_t)(1 << at % 8);
		(void)undo_find_original(wr_bytes(&w), &got);	/* no crash, whatever it is */
		w.p[at / 8] ^= (uint8_t)(1 << at % 8);
	}
	memcpy(w.p + 64 + sizeof(elf_names), "MORPHMAQ", 8);
	assert_false(undo_find_original(wr_bytes(&w), &got));
	memcpy(w.p + 64 + sizeof(elf_names), "MORPHMAP", 8);
	assert_true(undo_find_original(wr_bytes(&w), &got));
	memset(w.p + offsetof(Elf64_Ehdr, e_shoff), 0xff, 8);
	assert_false(undo_find_original(wr_bytes(&w), &got));
	wr_free(&w);
}

/* --- who looks at the bytes --- */

struct seen {
	int reads, reads_after, confined, writes, writes_before;
};

static void see(struct seen *s, long call)
{
	s->confined += call == SYS_seccomp;
	if (call == SYS_read || call == SYS_pread64) {
		s->reads++;
		s->reads_after += s->confined > 0;
	}
	if (call == SYS_write) {
		s->writes++;
		s->writes_before += !s->confined;
	}
}

/* All system calls of the processes that undo_names() starts. */
static void watch_children(pid_t pid, struct seen *s)
{
	int status;
	bool entry = true;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL |
				PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD), 0);
	assert_int_equal(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	for (;;) {
		struct user_regs_struct regs;
		pid_t who = waitpid(-1, &status, __WALL);

		if (who < 0 || (who == pid && (WIFEXITED(status) || WIFSIGNALED(status))))
			break;
		if (!WIFSTOPPED(status))
			continue;
		if (who != pid && WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			assert_int_equal(ptrace(PTRACE_GETREGS, who, 0, &regs), 0);
			if (entry)
				see(s, (long)regs.orig_rax);
			entry = !entry;
		}
		assert_int_equal(ptrace(who == pid ? PTRACE_CONT : PTRACE_SYSCALL, who, 0, 0),
				 0);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_file_is_looked_at_by_who_can_only_answer(void **state)
{
	char path[] = PLACE_ROOT "/morph-names-XXXXXX";
	struct digest d = { { 7 } };
	struct wr w = elf_naming(&d, 2);
	struct seen seen = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, w.p, w.n), w.n);
	wr_free(&w);
	pid_t pid = fork();
	if (pid == 0) {
		struct digest got;

		(void)ptrace(PTRACE_TRACEME, 0, 0, 0);
		(void)raise(SIGSTOP);
		_exit(undo_names(fd, &got, NULL, NULL) == 1 && digest_equal(&got, &d) ? 0 : 1);
	}
	watch_children(pid, &seen);
	assert_true(seen.reads > 0);
	assert_int_equal(seen.reads_after, 0);
	assert_true(seen.confined > 0);
	assert_int_equal(seen.writes, 1);
	assert_int_equal(seen.writes_before, 0);
	close(fd);
	assert_int_equal(unlink(path), 0);
}

/* --- a program, its generation at the path, its original in originals --- */

static void the_original_comes_back_with_its_attributes(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID], name[160];

	(void)state;
	(void)snprintf(name, sizeof(name), "%s/name", p.root);
	assert_int_equal(link(p.path, name), 0);
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_string_equal(said, "restored; under 1 other name the file stays as it is");
	assert_as_before(&p);
	assert_true(holds(name, &p.generation));
	assert_true(is_kept(&p));
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	assert_string_equal(said, "is the original already");
	place_free(&p);
}

static struct undo_store another;	/* of who undoes the file at its path as well */
static const char *its_path;

static void another_undo_comes(const char *step)
{
	char said[UNDO_SAID];

	if (strcmp(step, "not yet locked") != 0)
		return;
	install_step_hook = NULL;
	assert_int_equal(undo(&another, its_path, said), UNDO_RESTORED);
}

static void what_another_undo_has_put_back_is_the_original(void **state)
{
	struct place p = rewritten();
	char said[UNDO_SAID];

	(void)state;
	another = store_of(&p);
	its_path = p.path;
	install_step_hook = another_undo_comes;
	assert_int_equal(undo(&another, p.path, said), UNDO_NOTHING);
	assert_string_equal(said, "is the original already");
	assert_as_before(&p);
	place_free(&p);
}

static void a_generation_never_is_called_an_original(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char hex[65];

	(void)state;
	digest_hex(&p.original, hex);
	assert_int_equal(unlinkat(p.originals_fd, hex, 0), 0);
	assert_refused(&s, p.path, "a generation of ");
	assert_refused(&s, p.path, hex);
	assert_true(holds(p.path, &p.generation));
	/* nor is a damaged original put there */
	int fd = openat(p.originals_fd, hex, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_refused(&s, p.path, "damaged");
	assert_true(holds(p.path, &p.generation));
	assert_int_equal(entries(p.dir), 1);
	place_free(&p);
}

static void what_is_no_generation_is_left_alone(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID];

	(void)state;
	enter(&p, &s, p.path, getuid());
	write_file(p.path, "newer", 0755);
	struct digest newer = digest_path(p.path);
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	assert_non_null(strstr(said, "another file is there now"));
	assert_true(holds(p.path, &newer));
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(undo(&s, p.path, said), UNDO_GONE);
	assert_string_equal(said, "no such file");
	assert_int_equal(mkfifo(p.path, 0600), 0);
	(void)undo(&s, p.path, said);
	assert_non_null(strstr(said, "not a regular file"));
	assert_int_equal(unlink(p.path), 0);
	assert_int_equal(symlink("/etc/passwd", p.path), 0);
	assert_refused(&s, p.path, "symbolic link");
	place_free(&p);
}

static void the_ledger_is_asked_first(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID];

	(void)state;
	/* content that names nothing at all, but is what the ledger put there */
	write_file(p.path, "no ELF file", 0751);
	p.generation = digest_path(p.path);
	enter(&p, &s, p.path, getuid());
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_true(holds(p.path, &p.original));
	close(s.ledger_fd);
	place_free(&p);
}

/* As the daemon's restore does: a backup may bring the generation again. */
static void what_came_back_is_kept_from_then_on(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID], command[192];

	(void)state;
	enter(&p, &s, p.path, getuid());
	(void)snprintf(command, sizeof(command), "touch -d @1000 '%s'/ledger/*", p.store);
	assert_int_equal(system(command), 0);
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	(void)snprintf(command, sizeof(command),
		       "test -z \"$(find '%s/ledger' -type f ! -newermt 2000-01-01)\"",
		       p.store);
	assert_int_equal(system(command), 0);
	close(s.ledger_fd);
	place_free(&p);
}

static void only_to_the_owner_that_the_ledger_has(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);

	(void)state;
	enter(&p, &s, p.path, getuid() + 1);
	assert_refused(&s, p.path, "belonged to user");
	assert_true(holds(p.path, &p.generation));
	close(s.ledger_fd);
	place_free(&p);
}

/* A user's file may name what it likes. */
static void a_users_claim_is_not_believed(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);

	(void)state;
	if (getuid() != 0 || chown(p.path, 65534, 65534) < 0 ||
	    chown(p.dir, 65534, 65534) < 0) {
		place_free(&p);
		skip();
	}
	assert_refused(&s, p.path, "it names an original, and is not root's");
	assert_true(holds(p.path, &p.generation));
	s.morph_verify = "/bin/false";		/* does not show it */
	assert_refused(&s, p.path, "not shown to be a generation");
	assert_true(holds(p.path, &p.generation));
	place_free(&p);
}

static void an_edited_generation_needs_force(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID];

	(void)state;
	enter(&p, &s, p.path, getuid());
	int fd = open(p.path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "edited", 6), 6);
	close(fd);
	assert_refused(&s, p.path, "--force");
	s.force = true;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	assert_true(holds(p.path, &p.original));
	close(s.ledger_fd);
	place_free(&p);
}

/* --- no room: the original itself --- */

/* No file of ours can be as large as the original. */
static int limit_room(bool on)
{
	struct rlimit l = { on ? ORIGINAL_BYTES / 2 : RLIM_INFINITY, RLIM_INFINITY };

	(void)signal(SIGXFSZ, on ? SIG_IGN : SIG_DFL);
	return setrlimit(RLIMIT_FSIZE, &l);
}

static void without_room(bool on)
{
	assert_int_equal(limit_room(on), 0);
}

static void without_room_the_original_itself_is_put_there(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID];

	(void)state;
	enter(&p, &s, p.path, getuid());
	without_room(true);
	enum undo_result result = undo(&s, p.path, said);
	without_room(false);
	assert_int_equal(result, UNDO_RESTORED);
	assert_non_null(strstr(said, "kept no longer"));
	assert_as_before(&p);
	assert_false(is_kept(&p));
	close(s.ledger_fd);
	place_free(&p);
}

static void what_others_need_is_shared_until_there_is_room(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID];
	struct stat st;

	(void)state;
	enter(&p, &s, p.path, getuid());
	enter(&p, &s, "/usr/bin/another", getuid());
	without_room(true);
	enum undo_result result = undo(&s, p.path, said);
	without_room(false);
	assert_int_equal(result, UNDO_RESTORED);
	assert_non_null(strstr(said, "shares its content"));
	assert_true(holds(p.path, &p.original));
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_nlink, 2);
	assert_true(is_kept(&p));
	assert_int_equal(undo(&s, p.path, said), UNDO_NOTHING);
	assert_as_before(&p);
	assert_true(is_kept(&p));
	close(s.ledger_fd);
	place_free(&p);
}

static void no_room_and_another_users_file(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);

	(void)state;
	if (getuid() != 0 || chown(p.path, 65534, 65534) < 0 ||
	    chown(p.dir, 65534, 65534) < 0) {
		place_free(&p);
		skip();
	}
	enter(&p, &s, p.path, 65534);
	enter(&p, &s, "/usr/bin/another", 0);
	without_room(true);
	assert_refused(&s, p.path, "other files need it");
	without_room(false);
	assert_true(holds(p.path, &p.generation));
	assert_int_equal(entries(p.dir), 1);
	close(s.ledger_fd);
	place_free(&p);
}

/* --- what a killed one left --- */

static void leave(const struct place *p, const char *text, mode_t mode, char path[256])
{
	char name[BACK_NAME_LEN + 1];

	back_temporary("prog", name);
	(void)snprintf(path, 256, "%s/%s", p->dir, name);
	write_file(path, text, mode);
}

static void somebodys_newer_file_goes_back_to_its_path(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID], left[256];

	(void)state;
	assert_int_equal(undo(&s, p.path, said), UNDO_RESTORED);
	leave(&p, "somebody's newer one", 0755, left);
	struct digest newer = digest_path(left);
	(void)undo(&s, p.path, said);
	assert_true(holds(p.path, &newer));
	assert_int_equal(entries(p.dir), 1);
	/* half a copy is not */
	struct place q = rewritten();
	s = store_of(&q);
	leave(&q, "half a co", 0600, left);
	assert_int_equal(undo(&s, q.path, said), UNDO_RESTORED);
	assert_as_before(&q);
	leave(&q, "half a co", 0600, left);
	assert_int_equal(undo(&s, q.path, said), UNDO_NOTHING);
	assert_as_before(&q);
	place_free(&q);
	place_free(&p);
}

static void what_is_not_ours_is_not_touched(void **state)
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char left[256];

	(void)state;
	leave(&p, "", 0600, left);
	assert_int_equal(unlink(left), 0);
	assert_int_equal(mkdir(left, 0700), 0);
	assert_refused(&s, p.path, "is not ours");
	assert_true(holds(p.path, &p.generation));
	assert_int_equal(rmdir(left), 0);
	assert_int_equal(symlink("/etc/passwd", left), 0);
	assert_refused(&s, p.path, "is not ours");
	assert_int_equal(unlink(left), 0);
	if (geteuid() == 0) {
		write_file(left, "", 0600);
		assert_int_equal(chown(left, 65534, 65534), 0);
		assert_refused(&s, p.path, "is not ours");
		assert_true(holds(p.path, &p.generation));
		assert_int_equal(unlink(left), 0);
	}
	place_free(&p);
}

/* --- every fault --- */

static bool room = true;

static int do_undo(void *ctx)
{
	const struct place *p = ctx;
	struct undo_store s = store_of(p);
	enum undo_result result;
	char said[UNDO_SAID];

	if (!room && limit_room(true) < 0)
		return -1;
	s.ledger_fd = ledger_open(p->store, NULL);
	return undo_file(&s, p->path, &result, said, NULL);
}

static struct injected undo_with(enum fault fault, unsigned n, unsigned counts[3])
{
	struct place p = rewritten();
	struct undo_store s = store_of(&p);
	char said[UNDO_SAID];
	struct stat st;

	enter(&p, &s, p.path, getuid());
	struct injected i = inject(fault, n, do_undo, &p);
	if (i.reached) {
		bool original = holds(p.path, &p.original);

		counts[i.exit_code < 0 ? 0 : i.exit_code ? 1 : 2]++;
		assert_true(original || holds(p.path, &p.generation));
		assert_int_equal(stat(p.path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0751);
		if (i.exit_code == 0)
			assert_true(original);
		if (!original)
			assert_true(is_kept(&p));
		/* running it again finishes */
		(void)undo(&s, p.path, said);
		assert_as_before(&p);
	}
	close(s.ledger_fd);
	place_free(&p);
	return i;
}

static void every_fault(void)
{
	unsigned counts[3] = { 0 };

	for (int fault = 0; fault < NFAULT; fault++) {
		struct injected i = { 0 };

		do
			i = undo_with((enum fault)fault, i.n + 1, counts);
		while (i.reached && i.n < MANY);
		assert_in_range(i.n, 10, MANY - 1);
	}
	print_message("# undo %s room: %u killed, %u failed, %u done in spite of it\n",
		      room ? "with" : "without", counts[0], counts[1], counts[2]);
	assert_true(counts[0] > 40 && counts[1] > 40);
}

static void undo_survives_every_fault(void **state)
{
	(void)state;
	every_fault();
}

static void undo_without_room_survives_every_fault(void **state)
{
	(void)state;
	room = false;
	every_fault();
	room = true;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_original_of_a_generation),
		cmocka_unit_test(a_damaged_header_is_no_generation),
		cmocka_unit_test(the_file_is_looked_at_by_who_can_only_answer),
		cmocka_unit_test(the_original_comes_back_with_its_attributes),
		cmocka_unit_test(what_another_undo_has_put_back_is_the_original),
		cmocka_unit_test(a_generation_never_is_called_an_original),
		cmocka_unit_test(what_is_no_generation_is_left_alone),
		cmocka_unit_test(the_ledger_is_asked_first),
		cmocka_unit_test(what_came_back_is_kept_from_then_on),
		cmocka_unit_test(only_to_the_owner_that_the_ledger_has),
		cmocka_unit_test(a_users_claim_is_not_believed),
		cmocka_unit_test(an_edited_generation_needs_force),
		cmocka_unit_test(without_room_the_original_itself_is_put_there),
		cmocka_unit_test(what_others_need_is_shared_until_there_is_room),
		cmocka_unit_test(no_room_and_another_users_file),
		cmocka_unit_test(somebodys_newer_file_goes_back_to_its_path),
		cmocka_unit_test(what_is_not_ours_is_not_touched),
		cmocka_unit_test(undo_survives_every_fault),
		cmocka_unit_test(undo_without_room_survives_every_fault),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
