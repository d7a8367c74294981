/* control.c - the control socket's server; see control.h
 *
 * A client is READING its request, BUSY while somebody works on it, and LEAVING while the rest
 * of the answer is written.  Its slot is free again when it is not BUSY and its socket is
 * closed.
 *
 * Tested by tests/e2e/bad_client.sh.
 */
#include "manager/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/work/answer.h"
#include "manager/parent/role.h"

enum {
	REQUEST_MS = 5000,		/* a request must be whole by then */
	WRITE_MS = 10000,		/* a reader must take something within */
	TRUSTED_SLOTS = 8,		/* of the clients, kept for those */
	USER_SLOTS = 4,			/* for one who is not */
	MAX_GROUPS = 1024, ACCEPT_AT_ONCE = 8,
};

enum state { FREE, READING, BUSY, LEAVING };

struct client {
	enum state state;
	int fd;			/* -1: connection gone */
	uid_t uid;
	bool trusted;
	uint64_t since_ms;	/* of the connection, or the last byte taken */
	struct wr in;
	struct answer answer;
	size_t noticed;		/* bytes of the answer when it was looked at last */
};

struct control {
	int listen_fd;
	uid_t user;
	gid_t group;
	void (*on_request)(void *ctx, struct client *c, int argc, const char *const *argv);
	void *ctx;
	struct client client[CONTROL_MAX_CLIENTS];
	struct client *at[CONTROL_MAX_POLL];	/* whose descriptor was put there to poll */
};

struct control *control_new(int listen_fd,
			    void (*on_request)(void *ctx, struct client *c, int argc,
					       const char *const *argv), void *ctx)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->listen_fd = listen_fd;
	c->user = (uid_t)-1;
	c->group = (gid_t)-1;
	c->on_request = on_request;
	c->ctx = ctx;
	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++)
		c->client[i].fd = -1;
	return c;
}

static void disconnect(struct client *cl)
{
	if (cl->fd >= 0)
		close(cl->fd);
	cl->fd = -1;
	answer_close(&cl->answer);
	if (cl->state == BUSY)
		return;			/* its arguments are still in use */
	wr_free(&cl->in);
	cl->state = FREE;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		disconnect(&c->client[i]);
		wr_free(&c->client[i].in);
	}
	free(c);
}

void control_trust(struct control *c, uid_t user, gid_t group)
{
	c->user = user;
	c->group = group;
}

static bool is_trusted(const struct control *c, int fd, const struct ucred *who)
{
	gid_t group[MAX_GROUPS];
	socklen_t n = sizeof(group);

	if (who->uid == 0 || (c->user != (uid_t)-1 && who->uid == c->user))
		return true;
	if (c->group == (gid_t)-1)
		return false;
	if (who->gid == c->group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, group, &n) < 0)
		return false;		/* in more groups than anybody is */
	for (size_t i = 0; i < n / sizeof(group[0]); i++)
		if (group[i] == c->group)
			return true;
	return false;
}

/* A free slot that this client may have; NULL when there is none. */
static struct client *slot_for(struct control *c, uid_t uid, bool trusted)
{
	struct client *slot = NULL;
	int used = 0, own = 0;

	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		if (c->client[i].state == FREE) {
			slot = slot ? slot : &c->client[i];
			continue;
		}
		used++;
		own += c->client[i].uid == uid;
	}
	if (!trusted && (used >= CONTROL_MAX_CLIENTS - TRUSTED_SLOTS || own >= USER_SLOTS))
		return NULL;
	return slot;
}

/* False when nobody waits any more. */
static bool accept_client(struct control *c)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	int fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return false;		/* gone again, or taken care of by the next poll() */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0) {
		close(fd);
		return true;
	}
	bool trusted = is_trusted(c, fd, &who);
	struct client *slot = slot_for(c, who.uid, trusted);
	if (slot)
		*slot = (struct client){ .state = READING, .fd = fd, .uid = who.uid,
					 .trusted = trusted, .since_ms = role_now_ms() };
	else
		close(fd);
	return true;
}

static bool is_pending(const struct client *cl)
{
	return cl->answer.out.n > cl->answer.sent;
}

/* What was appended to the answer since the last time. */
static void notice(struct client *cl)
{
	if (cl->answer.closed) {
		disconnect(cl);		/* its reader is too slow */
		return;
	}
	if (cl->answer.out.n > cl->noticed && cl->answer.sent == 0)
		cl->since_ms = role_now_ms();
	cl->noticed = cl->answer.out.n;
}

int control_poll(struct control *c, struct pollfd *f, int *timeout_ms)
{
	int n = 0;

	c->at[n] = NULL;
	f[n++] = (struct pollfd){ c->listen_fd, POLLIN, 0 };
	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		struct client *cl = &c->client[i];

		if (cl->fd >= 0)
			notice(cl);
		if (cl->fd < 0)
			continue;
		c->at[n] = cl;
		f[n++] = (struct pollfd){ cl->fd, (short)((cl->state == READING ? POLLIN : 0) |
					  (is_pending(cl) ? POLLOUT : 0)), 0 };
		if (*timeout_ms < 0 || *timeout_ms > 1000)
			*timeout_ms = 1000;	/* to notice those that do nothing */
	}
	return n;
}

static void send_pending(struct client *cl)
{
	struct answer *a = &cl->answer;

	if (is_pending(cl)) {
		ssize_t k = send(cl->fd, a->out.p + a->sent, a->out.n - a->sent, MSG_NOSIGNAL);

		if (k < 0 && errno != EAGAIN && errno != EINTR) {
			disconnect(cl);
			return;
		}
		if (k > 0) {
			a->sent += (size_t)k;
			cl->since_ms = role_now_ms();
		}
	}
	if (a->sent == a->out.n) {
		a->sent = a->out.n = cl->noticed = 0;
		if (cl->state == LEAVING)
			disconnect(cl);
	}
}

/* What request_read() does not take is one that only those who are trusted may make? */
static void say_for_trusted(const struct client *cl, struct err *err)
{
	struct rd r = rd_of(wr_bytes(&cl->in));
	uint32_t length = rd_u32(&r);

	if (!cl->trusted && length > ANSWER_MAX_REQUEST && length <= ANSWER_MAX_PROFILE)
		err_set(err, ERR_REFUSED, "a request of %u bytes: only root and the group of "
			"the daemon's user may do this", length);
}

static void receive(struct control *c, struct client *cl)
{
	const char *argv[ANSWER_MAX_ARGS];
	struct err err = { 0 };
	uint64_t used;
	uint8_t buf[4096];
	size_t max = cl->trusted ? ANSWER_MAX_PROFILE : ANSWER_MAX_REQUEST;
	int argc;

	ssize_t k = recv(cl->fd, buf, sizeof(buf), 0);
	if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR)) {
		disconnect(cl);
		return;
	}
	if (k < 0)
		return;
	wr_raw(&cl->in, buf, (size_t)k);
	int rc = request_read(wr_bytes(&cl->in), max, &argc, argv, &used, &err);
	if (rc == 0)
		return;
	cl->state = BUSY;
	cl->since_ms = role_now_ms();
	if (rc < 0) {
		say_for_trusted(cl, &err);
		control_fail(cl, &err);
	} else {
		c->on_request(c->ctx, cl, argc, argv);
	}
}

void control_step(struct control *c, const struct pollfd *f, int n)
{
	uint64_t now = role_now_ms();

	for (int i = 1; i < n; i++) {
		struct client *cl = c->at[i];

		if (cl->fd != f[i].fd)
			continue;	/* closed while another one was served */
		if (f[i].revents & POLLOUT)
			send_pending(cl);
		else if (cl->state == READING && (f[i].revents & POLLIN))
			receive(c, cl);
		else if (f[i].revents & (POLLERR | POLLHUP | POLLNVAL))
			disconnect(cl);
		if (cl->fd >= 0 && ((cl->state == READING && now > cl->since_ms + REQUEST_MS) ||
				    (is_pending(cl) && now > cl->since_ms + WRITE_MS)))
			disconnect(cl);
	}
	for (int i = 0; i < ACCEPT_AT_ONCE && (f[0].revents & POLLIN); i++)
		if (!accept_client(c))
			break;
}

void control_flush(struct control *c)
{
	for (uint64_t end = role_now_ms() + 1000; role_now_ms() < end; ) {
		struct pollfd f[CONTROL_MAX_POLL];
		int timeout = 50, left = 0;
		int n = control_poll(c, f, &timeout);

		for (int i = 1; i < n; i++)
			left += (f[i].events & POLLOUT) != 0;
		if (!left)
			return;
		(void)poll(f + 1, (nfds_t)(n - 1), timeout);	/* sending tells the rest */
		for (int i = 1; i < n; i++)
			if (f[i].revents && c->at[i]->fd == f[i].fd)
				send_pending(c->at[i]);
	}
}

/* --- answers --- */

uid_t control_uid(const struct client *cl)
{
	return cl->uid;
}

bool control_trusted(const struct client *cl)
{
	return cl->trusted;
}

bool control_alive(const struct client *cl)
{
	return cl->fd >= 0 && !cl->answer.closed;
}

struct answer *control_answer(struct client *cl)
{
	return &cl->answer;
}

void control_fail(struct client *cl, const struct err *err)
{
	answer_error(&cl->answer, err->text);
	control_end(cl, err_exit_code(err));
}

void control_end(struct client *cl, int exit_code)
{
	answer_end(&cl->answer, exit_code);
	wr_free(&cl->in);
	cl->state = cl->fd >= 0 ? LEAVING : FREE;
}
