/* daemon.c - a Manager in a test; see daemon.h */
#include "tests/unit/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/err.h"
#include "lib/table.h"
#include "manager/control/control.h"
#include "manager/work/answer.h"
#include "policy/policy.h"

uint64_t daemon_now_ms = 1000000;

static uint64_t made_up_clock(void)
{
	return daemon_now_ms;
}

void daemon_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* --- the parent --- */

static void reply_status(struct daemon *d, const struct msg *to, int fd, enum err_kind status,
			 const char *text)
{
	struct msg r = { .type = MSG_REPLY, .serial = to->serial, .nfd = fd >= 0,
			 .fd = { fd } };

	r.num[MSG_REPLY_status] = status;
	(void)snprintf(r.text, 1000, "%s", text ? text : "");
	assert_int_equal(msg_send(d->parent, &r, NULL), 0);
	if (fd >= 0)
		close(fd);
}

static void reply(struct daemon *d, const struct msg *to, int fd, const char *error)
{
	reply_status(d, to, fd, error ? ERR_SYS : ERR_NONE, error);
}

static int text_file(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void answer_one(struct daemon *d, const struct msg *q)
{
	int fd;

	switch (q->type) {
	case MSG_OPEN_POLICY:
	case MSG_OPEN_FILE:
		fd = open(q->type == MSG_OPEN_FILE ? q->text : d->policy, O_RDONLY | O_CLOEXEC);
		d->opened += q->type == MSG_OPEN_FILE && fd >= 0;
		reply(d, q, fd, fd < 0 ? strerror(errno) : NULL);
		break;
	case MSG_LIVE_LIST:
		reply(d, q, text_file(d->live_list ? d->live_list : ""), NULL);
		break;
	case MSG_SYNC:
		reply(d, q, d->states ? dup(d->states) : -1, d->sync_error);
		break;
	case MSG_CHECK:
		reply_status(d, q, -1, d->refusal ? ERR_REFUSED : ERR_NONE, d->refusal);
		break;
	case MSG_RUN_JOB:
		reply(d, q, d->job_says ? text_file(d->job_says) : -1,
		      d->job_says ? NULL : DAEMON_NO_JOB);
		break;
	case MSG_CONFIG:
	case MSG_REGISTERS:
	case MSG_PAUSE:
	case MSG_YIELD:
		break;
	default:
		reply(d, q, -1, DAEMON_NO_JOB);
	}
}

static void answer_all(struct daemon *d)
{
	struct msg q;

	while (msg_receive(d->parent, MSG_ROLE_MANAGER, MSG_ROLE_PARENT, &q, NULL) == 1) {
		answer_one(d, &q);
		msg_close_fds(&q);
	}
}

/* The Manager waits for its parent, which is us, and serves clients meanwhile. */
static void turn(void *ctx)
{
	struct daemon *d = ctx;

	answer_all(d);
	d->m.ask.pass(&d->m);
}

/* --- life --- */

static void make_socket(struct daemon *d)
{
	static unsigned serial;
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(d->name, sizeof(d->name), "morph-test-%d-%u", (int)getpid(), ++serial);
	memcpy(a.sun_path + 1, d->name, strlen(d->name));
	d->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(d->listener >= 0);
	socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(d->name));
	assert_int_equal(bind(d->listener, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(d->listener, 64), 0);
}

static void write_policy(const struct daemon *d, const char *policy)
{
	FILE *f = fopen(d->policy, "w");

	assert_non_null(f);
	for (; *policy; policy++)
		if (*policy == '@')
			assert_true(fputs(d->dir, f) >= 0);
		else
			assert_true(fputc(*policy, f) != EOF);
	assert_int_equal(fclose(f), 0);
}

void daemon_look_at(struct daemon *d, uint64_t ms)
{
	d->m.looked_ms = ms - d->m.work.policy->idle_check_s * 1000ull;
}

/* Of the store, as the parent makes it. */
static void make_folder(const struct daemon *d, const char *name)
{
	char path[sizeof(d->store) + 16];

	(void)snprintf(path, sizeof(path), "%s/%s", d->store, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

void daemon_open(struct daemon *d, const char *policy)
{
	struct err err = { 0 };
	int pair[2];

	*d = (struct daemon){ .dir = "/var/tmp/morph-daemon-XXXXXX" };
	assert_non_null(mkdtemp(d->dir));
	assert_int_equal(chmod(d->dir, 0755), 0);
	(void)snprintf(d->store, sizeof(d->store), "%s/store", d->dir);
	(void)snprintf(d->policy, sizeof(d->policy), "%s/policy", d->dir);
	(void)snprintf(d->nothing, sizeof(d->nothing), "%s/nothing", d->dir);
	write_policy(d, policy);
	make_socket(d);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
				    pair), 0);
	d->parent = pair[1];
	d->options = (struct role_options){ .store = d->store, .policy = d->policy,
					    .socket = "", .host = d->nothing };
	/* It asks for its policy before there is a loop: that the answer is there already. */
	struct msg policy_reply = { .type = MSG_OPEN_POLICY, .serial = 1 };
	answer_one(d, &policy_reply);
	if (manager_open(&d->m, &d->options, pair[0], d->listener, (uid_t)-1, (gid_t)-1,
			 &err) < 0)
		fail_msg("%s", err.text);
	make_folder(d, "originals");
	make_folder(d, "ledger");
	d->m.work.now_ms = made_up_clock;
	daemon_look_at(d, UINT64_MAX);
	answer_all(d);
	d->m.ask.turn = turn;
	d->m.ask.ctx = d;		/* begins with d->m, which ask.pass is given */
}

void daemon_close(struct daemon *d)
{
	char command[128];
	int sock = d->m.ask.sock;

	manager_end(&d->m);
	manager_close(&d->m);
	close(sock);
	close(d->parent);
	close(d->listener);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", d->dir);
	assert_int_equal(system(command), 0);
}

/* --- users --- */

int daemon_send(struct daemon *d, uid_t uid, int argc, const char *const *argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct wr request = { 0 };
	bool root = geteuid() == 0;

	memcpy(a.sun_path + 1, d->name, strlen(d->name));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	if (root)
		assert_int_equal(seteuid(uid), 0);
	socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(d->name));
	int rc = connect(fd, (struct sockaddr *)&a, n);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(rc, 0);
	assert_int_equal(request_write(&request, argc, argv, NULL), 0);
	assert_int_equal(write(fd, request.p, request.n), request.n);
	wr_free(&request);
	return fd;
}

void daemon_receive(struct daemon *d, int fd, struct wr *out)
{
	uint8_t buf[65536];
	ssize_t n;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (int round = 0; round < 1000; round++) {
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			wr_raw(out, buf, (size_t)n);
		if (n == 0) {
			close(fd);
			return;
		}
		daemon_look_at(d, daemon_now_ms + 10);		/* so long a wait at most */
		manager_round(&d->m);
		answer_all(d);
	}
	fail_msg("no end of the answer");
}

void daemon_settle(struct daemon *d)
{
	for (int round = 0; round < 5; round++) {
		daemon_look_at(d, daemon_now_ms + 10);
		manager_round(&d->m);
		answer_all(d);
	}
}

/* How many cells of the row are the same at every call. */
static int lasting(const struct table *t, int row)
{
	static const char *const row_of_time[] = { "manager up", "idle.window" };

	for (size_t i = 0; i < sizeof(row_of_time) / sizeof(row_of_time[0]); i++)
		if (strcmp(table_cell(t, row, 0), row_of_time[i]) == 0)
			return 1;
	return strcmp(table_title(t), "roles") == 0 ? 1 : table_ncol(t);
}

static int read_answer(struct bytes b, FILE *f)
{
	struct answer_frame frame;
	struct table *t = NULL;
	uint64_t used;
	int code = -1;

	for (; answer_read(b, &frame, &used, NULL) == 1; b = bytes_at(b, used, b.n - used)) {
		if (frame.kind == ANSWER_TABLE) {
			table_free(t);
			t = answer_read_table(&frame, NULL);
			(void)fprintf(f, "table %s\n", table_title(t));
		} else if (frame.kind == ANSWER_ROW) {
			assert_int_equal(answer_read_row(&frame, t, NULL), 0);
			int row = table_nrow(t) - 1;

			for (int i = 0; i < lasting(t, row); i++)
				(void)fprintf(f, "%s\t", table_cell(t, row, i));
			(void)fputc('\n', f);
		} else if (frame.kind == ANSWER_END) {
			code = answer_read_end(&frame);
		} else {
			(void)fprintf(f, "%s\n", answer_read_text(&frame));
		}
	}
	table_free(t);
	return code;
}

char *daemon_ask(struct daemon *d, uid_t uid, int argc, const char *const *argv, int *code)
{
	struct wr answer = { 0 };
	char *text = NULL;
	size_t n = 0;

	daemon_receive(d, daemon_send(d, uid, argc, argv), &answer);
	FILE *f = open_memstream(&text, &n);
	*code = read_answer(wr_bytes(&answer), f);
	assert_int_equal(fclose(f), 0);
	wr_free(&answer);
	return text;
}
