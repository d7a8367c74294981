/* test_races.c - a user races the parent in folders of his own, and gains nothing
 *
 * The user's folder has a copy of a program that root owns elsewhere, with the same content:
 * whoever is led there by a link or a renamed folder would find what he expects.  The user's
 * process swaps links, folders, files and their names in a loop, the parent's code swaps,
 * restores and opens.  Nothing outside the user's folder may change or be opened.  Seconds:
 * RACE_SECONDS (10).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/err.h"
#include "manager/parent/install.h"
#include "manager/parent/program.h"
#include "tests/unit/place.h"

enum { USER = 65534 };

static struct place p;			/* p.dir and p.path are the user's */
static char secret[96], secret_prog[112];	/* root's folder, and the same program in it */
static atomic_uint *rounds;		/* of all users; on a busy machine they seldom run */

/* --- the user --- */

static const char *at(const char *name)
{
	static char path[4][160];
	static unsigned n;

	n = (n + 1) % 4;
	(void)snprintf(path[n], sizeof(path[n]), "%s/home/%s", p.root, name);
	return path[n];
}

/* For a moment, now and then a long one. */
static void linger(unsigned how)
{
	if (how & 0x400)
		(void)usleep(how & 0x800 ? how >> 2 & 0xfff : how & 0xff);
}

/* The entry and the other one change places, and back. */
static void exchange(const char *entry, const char *other, unsigned how)
{
	(void)renameat2(AT_FDCWD, at(other), AT_FDCWD, at(entry), RENAME_EXCHANGE);
	linger(how);
	(void)renameat2(AT_FDCWD, at(other), AT_FDCWD, at(entry), RENAME_EXCHANGE);
}

/* The parent's temporary file is a link. */
static void replace_temporary(const char *to)
{
	char entry[400];
	DIR *d = opendir(at("bin"));

	for (struct dirent *e; d && (e = readdir(d)); )
		if (strncmp(e->d_name, ".morph-", 7) == 0) {
			(void)snprintf(entry, sizeof(entry), "%s/home/bin/%s", p.root,
				       e->d_name);
			(void)unlink(entry);
			(void)symlink(to, entry);
		}
	if (d)
		(void)closedir(d);
}

/* Something else where the program should be, or a folder on the way to it.  Whatever fails,
 * fails. */
static void misbehave(unsigned how)
{
	switch (how % 12) {
	case 0:		/* the folder is a link to root's */
		(void)rename(at("bin"), at("away"));
		(void)symlink(secret, at("bin"));
		linger(how);
		(void)unlink(at("bin"));
		(void)rename(at("away"), at("bin"));
		break;
	case 1:		/* and so at once */
		(void)symlink(secret, at("link"));
		exchange("bin", "link", how);
		break;
	case 2:		/* the program is a link to root's */
		(void)symlink(secret_prog, at("bin/link"));
		exchange("bin/prog", "bin/link", how);
		break;
	case 3:		/* or the very same file */
		(void)link(secret_prog, at("bin/hard"));
		exchange("bin/prog", "bin/hard", how);
		break;
	case 4:		/* or nothing to read */
		(void)mkfifo(at("bin/fifo"), 0600);
		exchange("bin/prog", "bin/fifo", how);
		break;
	case 5:
		replace_temporary(secret_prog);
		break;
	case 6:
		replace_temporary("prog");
		break;
	case 7:		/* another folder of his, with the same program */
		exchange("bin", "other", how);
		break;
	case 8:		/* another name of the program is the very file of root's */
		(void)link(secret_prog, at("bin/hard"));
		exchange("bin/twin", "bin/hard", how);
		break;
	case 9:		/* or a link to it */
		(void)symlink(secret_prog, at("bin/link"));
		exchange("bin/twin", "bin/link", how);
		break;
	case 10:	/* it comes and goes */
		(void)link(at("bin/twin"), at("bin/more"));
		linger(how);
		(void)unlink(at("bin/more"));
		break;
	default:	/* a mode that gives root's rights to others, were the owner root */
		(void)chmod(at("bin/prog"), 06755);
		linger(how);
		(void)chmod(at("bin/prog"), 0751);
	}
}

static void become_user(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(USER, USER, USER) < 0 ||
	    setresuid(USER, USER, USER) < 0)
		_exit(99);
}

/* Puts back his folder and his program, so that there is something to swap again. */
static void tidy(void)
{
	(void)unlink(at("bin"));		/* a link, if it can be */
	(void)rename(at("away"), at("bin"));
	(void)rename(at("link"), at("bin"));
	(void)unlink(at("bin/prog"));
	int fd = open(at("bin/prog"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0751);
	if (fd >= 0) {
		(void)write(fd, old_text, strlen(old_text));
		close(fd);
	}
	(void)unlink(at("bin/twin"));
	(void)link(at("bin/prog"), at("bin/twin"));
}

static pid_t start_user(unsigned seed)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	become_user();
	for (unsigned i = 0; ; i++) {
		seed = seed * 1103515245 + 12345;
		if (i % 4 == 0)
			tidy();
		misbehave(seed >> 16);
		(void)usleep(seed >> 18 & 0xfff);	/* at times he lets us */
		(void)atomic_fetch_add(rounds, 1);
	}
}

/* --- the parent --- */

struct outcome {
	unsigned installed, restored, refused, opened;
};

static void open_it(struct outcome *o, const struct stat *root_s)
{
	struct stat st;
	int fd = program_open(p.path, NULL);

	if (fd < 0)
		return;
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_ino != root_s->st_ino || st.st_dev != root_s->st_dev);
	close(fd);
	o->opened++;
}

static void swap_once(struct outcome *o)
{
	struct install_request r = request_of(&p);
	struct restore_request back = restore_of(&p);

	if (install_generation(&r, NULL) == 0)
		o->installed++;
	else
		o->refused++;
	if (install_restore(&back, NULL) == 0)
		o->restored++;
	else
		o->refused++;
}

/* --- what root has, before and after --- */

static void look(const char *path, struct stat *st)
{
	assert_int_equal(lstat(path, st), 0);
}

static void same(const struct stat *x, const struct stat *y)
{
	assert_int_equal(x->st_ino, y->st_ino);
	assert_int_equal(x->st_uid, y->st_uid);
	assert_int_equal(x->st_mode, y->st_mode);
	assert_int_equal(x->st_size, y->st_size);
	assert_int_equal(x->st_mtim.tv_nsec, y->st_mtim.tv_nsec);
}

/* Nothing in the user's folder is root's and set-id. */
static int no_gift(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && st->st_uid == 0 && (st->st_mode & (S_ISUID | S_ISGID)))
		fail_msg("%s: set-id and root's", path);
	return 0;
}

static void make_home(void)
{
	static const char *const dir[] = { "", "bin", "other" };

	p = place_new();
	(void)snprintf(secret, sizeof(secret), "%s/secret", p.root);
	(void)snprintf(secret_prog, sizeof(secret_prog), "%s/prog", secret);
	assert_int_equal(mkdir(secret, 0755), 0);
	write_file(secret_prog, old_text, 0755);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(mkdir(at(dir[i]), 0755), 0);
		assert_int_equal(chown(at(dir[i]), USER, USER), 0);
	}
	write_file(at("bin/prog"), old_text, 0751);
	write_file(at("other/prog"), old_text, 0751);
	assert_int_equal(chown(at("bin/prog"), USER, USER), 0);
	assert_int_equal(chown(at("other/prog"), USER, USER), 0);
	(void)snprintf(p.path, sizeof(p.path), "%s", at("bin/prog"));	/* fits */
}

static void a_user_gains_nothing_by_races(void **state)
{
	const char *seconds = getenv("RACE_SECONDS");
	time_t end = time(NULL) + (seconds ? atoi(seconds) : 10);
	struct stat folder, prog, now;
	struct outcome o = { 0 };
	struct install_recovered done;
	struct err err = { 0 };

	(void)state;
	if (geteuid() != 0)
		skip();
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	assert_true(rounds != MAP_FAILED);
	make_home();
	look(secret, &folder);
	look(secret_prog, &prog);
	struct digest before = digest_path(secret_prog);
	for (unsigned seed = 1; time(NULL) < end; seed++) {
		unsigned begun = atomic_load(rounds);
		pid_t user = start_user(seed);

		for (int i = 0;
		     i < 100 || (atomic_load(rounds) - begun < 8 && time(NULL) < end); i++) {
			swap_once(&o);
			open_it(&o, &prog);
		}
		assert_int_equal(kill(user, SIGKILL), 0);
		assert_int_equal(waitpid(user, NULL, 0), user);
		look(secret, &now);
		same(&folder, &now);
		look(secret_prog, &now);
		same(&prog, &now);
	}
	struct digest after = digest_path(secret_prog);
	assert_true(digest_equal(&before, &after));
	assert_int_equal(entries(secret), 1);
	assert_int_equal(place_recover(&p, &done, &err), 0);
	(void)nftw(at(""), no_gift, 16, FTW_PHYS);
	print_message("# %u installed, %u restored, %u refused, %u opened\n", o.installed,
		      o.restored, o.refused, o.opened);
	assert_true(o.installed > 0 && o.refused > 0 && o.opened > 0);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_gains_nothing_by_races),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
