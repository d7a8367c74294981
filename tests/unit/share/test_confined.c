/* test_confined.c - a morph-share that a server has taken over tries to get at what it must
 * not, and an honest one has what it needs
 *
 * Each try is made twice: outside, where it must succeed, so that it is a real one; and
 * confined.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/confine.h"
#include "lib/err.h"
#include "lib/landlock.h"

static char place[64];
static pid_t victim;

static const char *in_place(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static int told(long rc)
{
	return rc < 0 ? errno : 0;
}

static int opened(const char *path, int flags)
{
	return told(open(path, flags | O_CLOEXEC, 0600));
}

static int of_socket(int family, int type, int protocol)
{
	return told(socket(family, type, protocol));
}

static int mapped(int prot, int flags, const char *path)
{
	int fd = path ? open(path, O_RDONLY) : -1;

	return mmap(NULL, 4096, prot, flags, fd, 0) == MAP_FAILED ? errno : 0;
}

/* --- what it needs --- */

static int read_etc(void) { return opened("/etc/passwd", O_RDONLY); }
static int read_a_library(void) { return opened("/lib64/ld-linux-x86-64.so.2", O_RDONLY); }
static int map_a_library(void)
{
	return mapped(PROT_READ | PROT_EXEC, MAP_PRIVATE, "/lib64/ld-linux-x86-64.so.2");
}
static int connect_by_tcp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(9),
				 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int rc = told(connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a,
			      sizeof(a)));

	return rc == ECONNREFUSED ? 0 : rc;	/* nobody is there, but it was asked */
}
static int ask_for_names(void) { return of_socket(AF_INET6, SOCK_DGRAM, 0); }
static int local_sockets(void) { return of_socket(AF_UNIX, SOCK_STREAM, 0); }
static int addresses(void) { return of_socket(AF_NETLINK, SOCK_RAW, 0); }
static int memory_file(void) { return told(memfd_create("x", MFD_CLOEXEC)); }

/* --- what it must not --- */

static int read_a_file(void) { return opened(in_place("readable"), O_RDONLY); }
static int read_a_program(void) { return opened("/bin/true", O_RDONLY); }
static int read_proc(void) { return opened("/proc/self/status", O_RDONLY); }
static int read_sys(void) { return opened("/sys/kernel/mm/transparent_hugepage/enabled",
					   O_RDONLY); }
static int list_root(void) { return opened("/", O_RDONLY | O_DIRECTORY); }
static int write_a_file(void) { return opened(in_place("writable"), O_WRONLY); }
static int make_a_file(void) { return opened(in_place("new"), O_WRONLY | O_CREAT); }
static int make_a_folder(void) { return told(mkdir(in_place("folder"), 0700)); }
static int remove_a_file(void) { return told(unlink(in_place("removable"))); }
static int listen_on_a_port(void)
{
	return told(listen(socket(AF_INET, SOCK_STREAM, 0), 1));
}
static int packets(void) { return of_socket(AF_PACKET, SOCK_RAW, 0); }
static int audit(void) { return of_socket(AF_NETLINK, SOCK_RAW, 9); }
static int code_in_memory(void)
{
	return mapped(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, NULL);
}
static int code_that_it_wrote(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return told(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}
static int a_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return told(pid);
}
static int a_program(void)
{
	static char *const none[] = { NULL };

	return told(execve("/bin/true", none, none));
}
static int a_signal(void) { return told(kill(victim, 0)); }
static int tracing(void) { return told(ptrace(PTRACE_SEIZE, victim, 0, 0)); }
static int namespaces(void) { return told(unshare(CLONE_FILES | CLONE_NEWUTS)); }
static int core_files(void) { return told(prctl(PR_SET_DUMPABLE, 1)); }

static const struct {
	const char *name;
	int (*try)(void);
	int expected;		/* 0: it is possible */
	bool files;		/* Landlock's matter */
} tries[] = {
	{ "read /etc", read_etc, 0, false },
	{ "read a library", read_a_library, 0, false },
	{ "map a library", map_a_library, 0, false },
	{ "connect by TCP", connect_by_tcp, 0, false },
	{ "ask for names", ask_for_names, 0, false },
	{ "local sockets", local_sockets, 0, false },
	{ "addresses of this machine", addresses, 0, false },
	{ "a memory file", memory_file, 0, false },
	{ "a file that everybody may read", read_a_file, EACCES, true },
	{ "a program", read_a_program, EACCES, true },
	{ "/proc", read_proc, EACCES, true },
	{ "/sys", read_sys, EACCES, true },
	{ "a folder", list_root, EACCES, true },
	{ "writing a file", write_a_file, EACCES, true },
	{ "a new file", make_a_file, EACCES, true },
	{ "a new folder", make_a_folder, EACCES, true },
	{ "removing a file", remove_a_file, EACCES, true },
	{ "listening", listen_on_a_port, EPERM, false },
	{ "packets", packets, EPERM, false },
	{ "other parts of the kernel", audit, EPERM, false },
	{ "code in memory", code_in_memory, EPERM, false },
	{ "code that it wrote", code_that_it_wrote, EPERM, false },
	{ "a process", a_process, EPERM, false },
	{ "a program started", a_program, EPERM, false },
	{ "a signal", a_signal, EPERM, false },
	{ "tracing", tracing, EPERM, false },
	{ "namespaces", namespaces, EPERM, false },
	{ "core files", core_files, EPERM, false },
};

/* The errno with which it ends in a process of its own. */
static int run(int (*try)(void), bool confined)
{
	struct err err = { 0 };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (confined && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
				 confine_role(CONFINE_SHARE, NULL, NULL, &err) < 0))
			_exit(255);
		_exit(try());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void make(const char *name)
{
	int fd = open(in_place(name), O_WRONLY | O_CREAT, 0666);

	assert_true(fd >= 0);
	close(fd);
}

static void each_is_as_the_table_says(void **state)
{
	(void)state;
	make("readable");
	make("writable");
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		make("removable");
		(void)unlink(in_place("new"));
		(void)rmdir(in_place("folder"));
		if (tries[i].files && !landlock_version())
			continue;
		int inside = run(tries[i].try, true), outside = run(tries[i].try, false);

		if (inside != tries[i].expected)
			fail_msg("%s: %s", tries[i].name, strerror(inside));
		if (outside != 0)
			print_message("# outside, %s: %s\n", tries[i].name,
				      strerror(outside));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_is_as_the_table_says) };
	char command[96];

	strcpy(place, "/tmp/morph-share-XXXXXX");
	if (!mkdtemp(place))
		return 1;
	victim = fork();
	if (victim == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)pause();
		_exit(0);
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
#ifdef MORPH_SANITIZED
	(void)tests;
	print_message("1..1\nok 1 # SKIP a sanitizer build has no filters\n");
	int rc = 0;
#else
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
#endif
	(void)kill(victim, SIGKILL);
	(void)waitpid(victim, NULL, 0);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", place);
	return system(command) || rc;
}
