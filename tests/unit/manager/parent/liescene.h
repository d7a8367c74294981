/* liescene.h - a manager that was taken over, and the parent that it asks
 *
 * In a private root: prog is root's, home/theirs a user's; the user's program was swapped by
 * the rules, so its original is in originals.  The Verifier here says yes to everything (it is
 * true(1)): what refuses the lies is the parent itself.
 */
#ifndef TESTS_UNIT_MANAGER_PARENT_LIESCENE_H
#define TESTS_UNIT_MANAGER_PARENT_LIESCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "manager/parent/counting.h"
#include "manager/parent/livework.h"
#include "manager/parent/requests.h"
#include "tests/unit/place.h"

enum { USER = 12345 };

struct fixture {
	struct place p;
	struct role_options options;
	struct requests requests;
	int sock;		/* the manager's end */
	char theirs[128], home[112];
	struct digest their_original, their_generation;
	char reason[MSG_MAX_TEXT + 1];
	int fds;
};

enum { RELOCATABLE = 1, EXECUTABLE = 2, SHARED = 3, CORE = 4, ELF_BYTES = 64 };

/* A program of a few bytes that nobody runs. */
static inline void fill_elf(int fd, const char *what, unsigned type)
{
	char b[ELF_BYTES] = "\177ELF\2\1\1";

	b[16] = (char)type;
	b[17] = (char)(type >> 8);
	(void)snprintf(b + 20, 40, "%s", what);
	assert_int_equal(write(fd, b, sizeof(b)), sizeof(b));
}

static inline void write_elf(const char *path, const char *what, unsigned type, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	fill_elf(fd, what, type);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static inline int sealed(const char *what, struct digest *d)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	fill_elf(fd, what, SHARED);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
	assert_int_equal(digest_fd(fd, d, NULL), 0);
	return fd;
}

/* Sends the request and waits: the status of the reply, its reason in f->reason, the number of
 * its descriptors in *nfd (NULL: none). */
static inline int ask(struct fixture *f, struct msg *m, int *nfd)
{
	struct msg r = { 0 };
	struct pollfd p[2];
	struct err err = { 0 };

	m->serial = 9;
	if (requests_take(&f->requests, m, &err) < 0)
		fail_msg("%s", err.text);
	while (f->requests.busy) {
		int timeout = requests_poll(&f->requests, p);

		(void)poll(p, 2, timeout);
		assert_int_equal(requests_step(&f->requests, &err), 0);
	}
	assert_int_equal(msg_receive(f->sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &r, &err), 1);
	if (nfd)
		*nfd = r.nfd;
	else
		assert_int_equal(r.nfd, 0);
	msg_close_fds(&r);
	(void)snprintf(f->reason, sizeof(f->reason), "%s", r.text);
	return (int)r.num[MSG_REPLY_status];
}

static inline int ask_path(struct fixture *f, enum msg_type type, const char *path, int *nfd)
{
	struct msg m = { .type = type };

	(void)snprintf(m.text, sizeof(m.text), "%s", path);
	return ask(f, &m, nfd);
}

static inline int install(struct fixture *f, const char *path, struct digest expected,
		   struct digest original, const char *what, struct digest *generation)
{
	struct msg m = { .type = MSG_INSTALL, .digest = { expected, original }, .nfd = 1 };

	m.num[MSG_INSTALL_hard_links] = 1;
	m.num[MSG_INSTALL_memory_mib] = 4096;
	m.num[MSG_INSTALL_cpu_s] = 10;
	m.fd[0] = sealed(what, generation);
	m.digest[2] = *generation;
	(void)snprintf(m.text, sizeof(m.text), "%s", path);
	return ask(f, &m, NULL);
}

static inline int ask_back(struct fixture *f, const char *path, struct digest expected,
		    struct digest original, bool dry_run)
{
	struct msg m = { .type = MSG_RESTORE, .digest = { expected, original, expected } };

	m.num[MSG_RESTORE_memory_mib] = 4096;
	m.num[MSG_RESTORE_cpu_s] = 10;
	m.num[MSG_RESTORE_dry_run] = dry_run;
	(void)snprintf(m.text, sizeof(m.text), "%s", path);
	return ask(f, &m, NULL);
}

static inline int restore(struct fixture *f, const char *path, struct digest expected,
		   struct digest original)
{
	return ask_back(f, path, expected, original, false);
}

static inline int open_fds(void)
{
	return entries("/proc/self/fd");
}

static inline void give_user(struct fixture *f)
{
	(void)snprintf(f->home, sizeof(f->home), "%s/home", f->p.root);
	(void)snprintf(f->theirs, sizeof(f->theirs), "%s/theirs", f->home);
	assert_int_equal(mkdir(f->home, 0755), 0);
	write_elf(f->theirs, "their original", SHARED, 0755);
	if (geteuid() == 0) {
		assert_int_equal(chown(f->home, USER, USER), 0);
		assert_int_equal(chown(f->theirs, USER, USER), 0);
	}
	f->their_original = digest_path(f->theirs);
	assert_int_equal(install(f, f->theirs, f->their_original, f->their_original,
				 "their generation", &f->their_generation), ERR_NONE);
	assert_true(holds(f->theirs, &f->their_generation));
}

static inline int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int pair[2];

	if (!f)
		return -1;
	f->p = place_new();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	write_elf(f->p.path, "root's original", SHARED, 0755);
	f->p.original = digest_path(f->p.path);
	f->options.morph_edit = "/bin/cat";	/* fails, and says why */
	f->options.morph_verify = "/bin/true";
	f->options.policy = "/dev/null";
	f->options.folders = f->p.root;
	f->requests.options = &f->options;
	f->requests.counting = counting_new();
	f->requests.live = livework_new(f->p.store, "/bin/false", NULL);
	f->requests.originals_fd = f->p.originals_fd;
	f->requests.ledger_fd = f->p.ledger_fd;
	f->requests.reply_sock = pair[0];
	f->sock = pair[1];
	give_user(f);
	f->fds = open_fds();
	*state = f;
	return 0;
}

/* Whatever was asked, and refused: the parent has no descriptor more than before. */
static inline int unmake(void **state)
{
	struct fixture *f = *state;

	requests_abort(&f->requests);
	if (open_fds() != f->fds) {
		print_error("%d descriptors, not %d\n", open_fds(), f->fds);
		return -1;
	}
	livework_free(f->requests.live);
	counting_free(f->requests.counting);
	close(f->requests.reply_sock);
	close(f->sock);
	place_free(&f->p);
	free(f);
	return 0;
}

static inline void refused(struct fixture *f, int status, const char *reason)
{
	if (status != ERR_REFUSED)
		fail_msg("status %d, '%s'", status, f->reason);
	if (!strstr(f->reason, reason))
		fail_msg("'%s' does not say '%s'", f->reason, reason);
}

#define LIE(name) cmocka_unit_test_setup_teardown(name, make, unmake)

#endif
