/* msg.c - encoding, checking, sending and receiving of the messages of msg.def
 *
 * msg.def becomes two tables: a shape for each message (sender, receiver, how many digests,
 * descriptors and bytes of text it may have), and the range of each of its numbers.  Decoding
 * and encoding both go by these tables, so there is no code for single messages.
 */
#include "lib/msg.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"

struct shape {
	const char *name;
	enum msg_role from, to;
	unsigned ndigest, max_fd, max_text;
};

static const struct shape shape[NMSG] = {
	[MSG_NONE] = { "nothing", MSG_ROLE_PARENT, MSG_ROLE_PARENT, 0, 0, 0 },
#define MSG(id, from, to, ndigest, fds, text) \
	[MSG_##id] = { #id, MSG_ROLE_##from, MSG_ROLE_##to, ndigest, fds, text },
#define NUM(id, index, name, least, most)
#include "lib/msg.def"
#undef MSG
#undef NUM
};

struct range {
	enum msg_type type;
	unsigned index;
	const char *name;
	uint64_t least, most;
};

static const struct range range[] = {		/* a message's are together, ascending */
#define MSG(id, from, to, ndigest, fds, text)
#define NUM(id, index, name, least, most) { MSG_##id, index, #name, least, most },
#include "lib/msg.def"
#undef MSG
#undef NUM
};

enum { NRANGE = sizeof(range) / sizeof(range[0]) };

const char *msg_name(enum msg_type type)
{
	return type < NMSG ? shape[type].name : "unknown";
}

static unsigned numbers_of(enum msg_type type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NRANGE; i++)
		n += range[i].type == type;
	return n;
}

/* NULL, or the range that is not kept. */
static const struct range *broken_range(const struct msg *m)
{
	for (unsigned i = 0; i < NRANGE; i++)
		if (range[i].type == m->type && (m->num[range[i].index] < range[i].least ||
						 m->num[range[i].index] > range[i].most))
			return &range[i];
	return NULL;
}

int msg_decode(struct bytes b, enum msg_role from, enum msg_role to, struct msg *out,
	       struct err *err)
{
	struct rd r = rd_of(b);
	struct msg m = { 0 };

	if (rd_u8(&r) != 'M' || rd_u8(&r) != 'M')
		return err_set(err, ERR_INPUT, "message without its mark");
	unsigned version = rd_u8(&r), type = rd_u8(&r);
	if (r.bad || version != MSG_VERSION)
		return err_set(err, ERR_INPUT, "message version %u, expected %d", version,
			       MSG_VERSION);
	if (type == MSG_NONE || type >= NMSG || shape[type].from != from ||
	    shape[type].to != to)
		return err_set(err, ERR_INPUT, "message type %u may not be sent here", type);
	const struct shape *s = &shape[type];
	m.type = type;
	m.serial = rd_u32(&r);
	for (unsigned i = 0, n = numbers_of(m.type); i < n; i++)
		m.num[i] = rd_u64(&r);
	for (unsigned i = 0; i < s->ndigest; i++) {
		const uint8_t *d = rd_skip(&r, sizeof(m.digest[i].b));

		if (d)
			memcpy(m.digest[i].b, d, sizeof(m.digest[i].b));
	}
	uint64_t left = rd_left(&r);
	if (r.bad || left > s->max_text || (left && memchr(r.p, 0, left)))
		return err_set(err, ERR_INPUT, "message %s of a wrong length", s->name);
	if (left)
		memcpy(m.text, r.p, left);
	const struct range *bad = broken_range(&m);
	if (bad)
		return err_set(err, ERR_INPUT, "message %s: %s is out of range", s->name,
			       bad->name);
	m.nfd = out->nfd;
	memcpy(m.fd, out->fd, sizeof(m.fd));
	*out = m;
	return 0;
}

void msg_encode(const struct msg *m, struct wr *out)
{
	assert(m->type > MSG_NONE && m->type < NMSG);
	const struct shape *s = &shape[m->type];
	size_t n = strnlen(m->text, sizeof(m->text));

	assert(n <= s->max_text && m->nfd >= 0 && (unsigned)m->nfd <= s->max_fd);
	assert(!broken_range(m));
	wr_u8(out, 'M');
	wr_u8(out, 'M');
	wr_u8(out, MSG_VERSION);
	wr_u8(out, (uint8_t)m->type);
	wr_u32(out, m->serial);
	for (unsigned i = 0, k = numbers_of(m->type); i < k; i++)
		wr_u64(out, m->num[i]);
	for (unsigned i = 0; i < s->ndigest; i++)
		wr_raw(out, m->digest[i].b, sizeof(m->digest[i].b));
	wr_raw(out, m->text, n);
}

/* Chosen: a peer that has not read for five seconds hangs. */
enum { SEND_TRIES = 5, SEND_WAIT_MS = 1000 };

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int) * MSG_MAX_FD)];
};

int msg_send(int sock, const struct msg *m, struct err *err)
{
	struct wr body = { 0 };
	union control control = { 0 };
	ssize_t k;

	msg_encode(m, &body);
	struct iovec iov = { body.p, body.n };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	if (m->nfd) {
		h.msg_control = control.room;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)m->nfd);
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)m->nfd);
		memcpy(CMSG_DATA(c), m->fd, sizeof(int) * (size_t)m->nfd);
	}
	for (int tries = 0; ; tries++) {
		k = sendmsg(sock, &h, MSG_NOSIGNAL);
		if (k >= 0 || (errno != EINTR && errno != EAGAIN) || tries == SEND_TRIES)
			break;
		struct pollfd p = { sock, POLLOUT, 0 };
		/* the next sendmsg() tells what happened */
		(void)poll(&p, 1, SEND_WAIT_MS);
	}
	int e = errno;
	wr_free(&body);
	if (k < 0)
		return err_set(err, ERR_SYS, "send %s: %s", msg_name(m->type), strerror(e));
	return 0;
}

/* Takes over what came along, so that nothing stays open by accident. */
static void take_fds(struct msghdr *h, struct msg *out)
{
	out->nfd = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (out->nfd < MSG_MAX_FD)
				out->fd[out->nfd++] = fd;
			else
				close(fd);
		}
	}
}

/* Who reads from a pipe or a socket waits as long as the other side likes. */
static bool are_files(const struct msg *m)
{
	struct stat st;

	for (int i = 0; i < m->nfd; i++)
		if (fstat(m->fd[i], &st) < 0 || !S_ISREG(st.st_mode))
			return false;
	return true;
}

int msg_receive(int sock, enum msg_role from, enum msg_role to, struct msg *out,
		struct err *err)
{
	uint8_t bytes[MSG_MAX_BYTES + 1];
	union control control;
	struct iovec iov = { bytes, sizeof(bytes) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	ssize_t k;

	do
		k = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	while (k < 0 && errno == EINTR);
	if (k < 0 && errno == EAGAIN)
		return 0;
	if (k < 0)
		return err_set(err, ERR_SYS, "receive: %s", strerror(errno));
	take_fds(&h, out);
	if (k == 0)
		err_set(err, ERR_SYS, "the other side has ended");
	else if (h.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		err_set(err, ERR_INPUT, "message too long");
	else if (msg_decode((struct bytes){ bytes, (uint64_t)k }, from, to, out, err) == 0) {
		bool few = (unsigned)out->nfd <= shape[out->type].max_fd;

		if (few && are_files(out))
			return 1;
		err_set(err, ERR_INPUT, "message %s with %s", msg_name(out->type),
			few ? "a descriptor that is no file" : "too many descriptors");
	}
	msg_close_fds(out);
	return -1;
}

void msg_close_fds(struct msg *m)
{
	for (int i = 0; i < m->nfd; i++)
		close(m->fd[i]);
	m->nfd = 0;
}
