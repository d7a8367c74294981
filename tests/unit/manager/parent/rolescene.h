/* rolescene.h - the real parent in a child process, with roles that the test plays
 *
 * A role is this program again, as the parent executes itself: play_role() hands the role's
 * socket and its command line to the test and waits to be told how to end.  The test then
 * speaks for the role over that socket.
 */
#ifndef TESTS_UNIT_MANAGER_PARENT_ROLESCENE_H
#define TESTS_UNIT_MANAGER_PARENT_ROLESCENE_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/parent/options.h"
#include "manager/parent/role.h"

#define SCENE_USER "nobody"
enum { SCENE_WAIT_MS = 20000, SCENE_LINE = 4096, SCENE_SIGNAL = 200 };

struct scene {
	struct role_options options;
	char dir[64], store[80], socket[80], log[80], policy[80];
	int meet;		/* where the roles come to */
	pid_t parent;
};

struct played {
	pid_t pid;
	int sock;		/* to the parent, as the role */
	int listen;		/* the clients' socket; -1: it was not given */
	int told;		/* how it ends: a byte */
	char line[SCENE_LINE];	/* its arguments */
	struct role_options options;
	char *arg[OPTIONS_MAX_ARG];
};

static inline struct sockaddr_un scene_address(const char *store)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", store);
	return a;
}

/* The role's process; never returns. */
static inline void play_role(int argc, char **argv, const struct role_options *o)
{
	struct sockaddr_un a = scene_address(o->store);
	int fd[2] = { ROLE_FD_PARENT, ROLE_FD_LISTEN };
	int nfd = fcntl(ROLE_FD_LISTEN, F_GETFD) >= 0 ? 2 : 1;
	char line[SCENE_LINE] = "", control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec io = { line, 0 };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = CMSG_SPACE((size_t)nfd * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	unsigned char end = 0;

	for (int i = 0; i < argc; i++)
		io.iov_len += (size_t)snprintf(line + io.iov_len, sizeof(line) - io.iov_len,
					       "%s\n", argv[i]);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN((size_t)nfd * sizeof(int));
	memcpy(CMSG_DATA(c), fd, (size_t)nfd * sizeof(int));
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (connect(sock, (struct sockaddr *)&a, sizeof(a)) < 0 || sendmsg(sock, &h, 0) < 0)
		_exit(99);
	close(ROLE_FD_PARENT);
	(void)read(sock, &end, 1);	/* or the test has gone */
	if (end >= SCENE_SIGNAL)
		(void)kill(getpid(), end - SCENE_SIGNAL);
	_exit(end);
}

/* As a role, if the command line says so: then it never returns.  A role that does not know its
 * command line must not become the test once more. */
static inline void play_if_told(int argc, char **argv)
{
	struct role_options o = { .role = MSG_ROLE_PARENT };

	if (argc > 1 && options_parse(argc, argv, &o) == 0 && o.role != MSG_ROLE_PARENT)
		play_role(argc, argv, &o);
	if (argc > 1)
		_exit(99);
}

/* The parent of *s->options in a child. */
static inline void scene_start(struct scene *s)
{
	s->parent = fork();
	assert_true(s->parent >= 0);
	if (s->parent == 0) {
		int log = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0644);

		(void)dup2(log, 2);
		close(log);
		close(s->meet);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a test that fails leaves none */
		_exit(role_parent(&s->options));
	}
}

static inline void scene_open(struct scene *s)
{
	*s = (struct scene){ .dir = "/tmp/morph-scene-XXXXXX" };
	assert_non_null(mkdtemp(s->dir));
	(void)snprintf(s->store, sizeof(s->store), "%s/store", s->dir);
	(void)snprintf(s->socket, sizeof(s->socket), "%s/run/socket", s->dir);
	(void)snprintf(s->log, sizeof(s->log), "%s/log", s->dir);
	(void)snprintf(s->policy, sizeof(s->policy), "%s/policy", s->dir);
	s->options = (struct role_options){
		.policy = s->policy, .store = s->store, .socket = s->socket, .user = SCENE_USER,
		.job_user = SCENE_USER, .morph_edit = "/bin/true", .morph_verify = "/bin/true",
		.morph_live = "/bin/true", .morph_share = "/bin/false",
		.share_user = SCENE_USER,
		.folders = "/usr", .host = "", .foreground = true,
	};
	struct sockaddr_un a = scene_address(s->store);
	s->meet = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->meet, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s->meet, 8), 0);
}

static inline void scene_close(struct scene *s)
{
	char command[128];

	if (s->parent) {
		(void)kill(s->parent, SIGKILL);
		(void)waitpid(s->parent, NULL, 0);
	}
	close(s->meet);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	assert_int_equal(system(command), 0);
}

/* The parent's exit code. */
static inline int scene_exit_code(struct scene *s)
{
	int status;

	assert_int_equal(waitpid(s->parent, &status, 0), s->parent);
	s->parent = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool scene_readable(int fd, int ms)
{
	struct pollfd f = { fd, POLLIN, 0 };

	return poll(&f, 1, ms) == 1;
}

/* The role that comes next. */
static inline void scene_meet(const struct scene *s, enum msg_role role, struct played *p)
{
	int fd[2] = { -1, -1 }, n = 0;
	char control[CMSG_SPACE(sizeof(fd))];
	struct iovec io = { p->line, sizeof(p->line) - 1 };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct ucred who;
	socklen_t len = sizeof(who);

	*p = (struct played){ .sock = -1 };
	assert_true(scene_readable(s->meet, SCENE_WAIT_MS));
	p->told = accept4(s->meet, NULL, NULL, SOCK_CLOEXEC);
	assert_true(p->told >= 0);
	assert_int_equal(getsockopt(p->told, SOL_SOCKET, SO_PEERCRED, &who, &len), 0);
	p->pid = who.pid;
	assert_true(recvmsg(p->told, &h, MSG_CMSG_CLOEXEC) > 0);
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	assert_non_null(c);
	memcpy(fd, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	p->sock = fd[0];
	p->listen = fd[1];
	for (char *rest = p->line, *t; n < OPTIONS_MAX_ARG - 1 && *rest;) {
		t = strsep(&rest, "\n");
		p->arg[n++] = t;
	}
	optind = 0;		/* from the beginning */
	p->options.role = MSG_ROLE_PARENT;
	assert_int_equal(options_parse(n, p->arg, &p->options), 0);
	assert_int_equal(p->options.role, role);
	assert_int_equal(fcntl(p->sock, F_SETFL, O_NONBLOCK), 0);
}

/* It ends: with that code, or by a signal (SCENE_SIGNAL + number). */
static inline void played_end(struct played *p, unsigned char how)
{
	if (how)
		assert_int_equal(write(p->told, &how, 1), 1);
	close(p->told);
	close(p->sock);
	if (p->listen >= 0)
		close(p->listen);
	p->told = p->sock = p->listen = -1;
}

/* What the parent says to it next. */
static inline struct msg played_hears(struct played *p, enum msg_type type)
{
	struct msg m = { 0 };
	struct err err = { 0 };

	assert_true(scene_readable(p->sock, SCENE_WAIT_MS));
	if (msg_receive(p->sock, MSG_ROLE_PARENT, p->options.role, &m, &err) != 1)
		fail_msg("%s instead of %s", err.text, msg_name(type));
	assert_string_equal(msg_name(m.type), msg_name(type));
	return m;
}

static inline void played_says(struct played *p, const struct msg *m)
{
	struct err err = { 0 };

	if (msg_send(p->sock, m, &err) < 0)
		fail_msg("%s", err.text);
}

static inline bool scene_logs(const struct scene *s, const char *text)
{
	static char all[1 << 16];

	for (int i = 0; i < SCENE_WAIT_MS / 20; i++) {
		int fd = open(s->log, O_RDONLY);
		ssize_t n = read(fd, all, sizeof(all) - 1);

		close(fd);
		all[n > 0 ? n : 0] = '\0';
		if (strstr(all, text))
			return true;
		(void)usleep(20000);
	}
	(void)fprintf(stderr, "no '%s' in:\n%s", text, all);
	return false;
}

#endif
