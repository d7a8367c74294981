/* logind.c - asks logind whether users are idle, speaking D-Bus without a library
 *
 * The handshake of D-Bus is lines of text: the bus knows from the socket who we are.
 * Then come messages: a head of 16 bytes with the lengths of what follows, an array of fields
 * (code, type, value, each begun at a multiple of 8), a body.  Everything that comes is
 * bounds-checked, and anything unexpected in it makes the answer "nobody can tell".
 *
 * Tested by tests/unit/policy/test_idle.c.
 */
#include "policy/logind.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/wr.h"

enum { CALL = 1, RETURN = 2, ERROR = 3, NO_AUTO_START = 2 };
enum { FIELD_PATH = 1, FIELD_INTERFACE = 2, FIELD_MEMBER = 3, FIELD_REPLY_SERIAL = 5,
       FIELD_DESTINATION = 6, FIELD_SIGNATURE = 8 };
/* The limits are chosen: the answer is some hundred bytes, and few messages come before it. */
enum { HEAD = 16, MESSAGE_MAX = 16384, MESSAGES_MAX = 64 };

struct bus {
	int sock;
	uint64_t end_ms;
	uint8_t in[MESSAGE_MAX];	/* read and not yet used */
	size_t n;
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- bytes --- */

static bool wait_for(const struct bus *b, short what)
{
	struct pollfd p = { b->sock, what, 0 };
	uint64_t now = now_ms();

	return now < b->end_ms && poll(&p, 1, (int)(b->end_ms - now)) == 1;
}

static bool put(const struct bus *b, const void *p, size_t n)
{
	const uint8_t *at = p;

	while (n) {
		ssize_t k = send(b->sock, at, n, MSG_NOSIGNAL);

		if (k > 0) {
			at += k;
			n -= (size_t)k;
		} else if (k == 0 ||
			   (errno != EINTR && (errno != EAGAIN || !wait_for(b, POLLOUT)))) {
			return false;
		}
	}
	return true;
}

/* At least one more byte in b->in. */
static bool more(struct bus *b)
{
	while (b->n < sizeof(b->in)) {
		ssize_t k = recv(b->sock, b->in + b->n, sizeof(b->in) - b->n, 0);

		if (k > 0) {
			b->n += (size_t)k;
			return true;
		}
		if (k == 0 || (errno != EINTR && (errno != EAGAIN || !wait_for(b, POLLIN))))
			return false;
	}
	return false;
}

static void used(struct bus *b, size_t n)
{
	b->n -= n;
	memmove(b->in, b->in + n, b->n);
}

/* --- messages --- */

/* The user's number in decimal, each digit as two of its hexadecimal code; a line of the
 * server that begins with OK lets us in. */
static bool handshake(struct bus *b)
{
	char uid[16], line[64] = "AUTH EXTERNAL ";
	uint8_t *end;
	size_t n = strlen(line);

	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());	/* fits */
	for (const char *c = uid; *c; c++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%02x", (unsigned char)*c);
	n += (size_t)snprintf(line + n, sizeof(line) - n, "\r\n");
	if (!put(b, "", 1) || !put(b, line, n))
		return false;
	while (!(end = memmem(b->in, b->n, "\r\n", 2)))
		if (!more(b))
			return false;
	if (memcmp(b->in, "OK ", 3) != 0)
		return false;
	used(b, (size_t)(end + 2 - b->in));
	return put(b, "BEGIN\r\n", 7);
}

static void put_text(struct wr *w, const char *text)
{
	wr_align(w, 4);
	wr_u32(w, (uint32_t)strlen(text));
	wr_str(w, text);
}

static void put_field(struct wr *w, int code, char type, const char *text)
{
	const char signature[] = { type, 0 };

	wr_align(w, 8);
	wr_u8(w, (uint8_t)code);
	wr_u8(w, 1);
	wr_str(w, signature);
	if (type == 'g') {
		wr_u8(w, (uint8_t)strlen(text));
		wr_str(w, text);
	} else {
		put_text(w, text);
	}
}

struct call {
	uint32_t serial;
	const char *destination, *path, *interface, *member;
	const char *arg[2];		/* none or two texts */
};

static bool send_call(const struct bus *b, const struct call *c)
{
	struct wr w = { 0 };

	wr_u8(&w, 'l');
	wr_u8(&w, CALL);
	wr_u8(&w, NO_AUTO_START);
	wr_u8(&w, 1);			/* version of the protocol */
	wr_u32(&w, 0);			/* bytes of the body: below */
	wr_u32(&w, c->serial);
	wr_u32(&w, 0);			/* bytes of the fields: below */
	put_field(&w, FIELD_PATH, 'o', c->path);
	put_field(&w, FIELD_INTERFACE, 's', c->interface);
	put_field(&w, FIELD_MEMBER, 's', c->member);
	put_field(&w, FIELD_DESTINATION, 's', c->destination);
	if (c->arg[0])
		put_field(&w, FIELD_SIGNATURE, 'g', "ss");
	wr_put_u32(&w, 12, (uint32_t)(w.n - HEAD));
	wr_align(&w, 8);
	size_t body = w.n;
	for (int i = 0; i < 2 && c->arg[i]; i++)
		/* aligned in the body as in the whole: it is at 8 */
		put_text(&w, c->arg[i]);
	wr_put_u32(&w, 4, (uint32_t)(w.n - body));
	bool ok = put(b, w.p, w.n);
	wr_free(&w);
	return ok;
}

static void align(struct rd *r, const uint8_t *from, uint64_t to)
{
	uint64_t at = (uint64_t)(r->p - from);

	(void)rd_skip(r, (to - at % to) % to);
}

/* The serial that a message answers, from its fields; 0: none. */
static uint32_t answered(struct bytes message, uint32_t fields_bytes)
{
	struct rd r = rd_of(bytes_at(message, 0, HEAD + (uint64_t)fields_bytes));

	(void)rd_skip(&r, HEAD);
	while (rd_left(&r)) {
		align(&r, message.p, 8);
		unsigned code = rd_u8(&r), length = rd_u8(&r);
		const char *type = rd_str(&r);

		if (r.bad || length != 1)
			return 0;
		if (*type == 'g') {
			(void)rd_skip(&r, (uint64_t)rd_u8(&r) + 1);
			continue;
		}
		align(&r, message.p, 4);
		uint32_t value = rd_u32(&r);
		if (*type == 'u' && code == FIELD_REPLY_SERIAL && !r.bad)
			return value;
		if (*type == 's' || *type == 'o')
			(void)rd_skip(&r, (uint64_t)value + 1);
		else if (*type != 'u')
			return 0;
	}
	return 0;
}

/* The body of the answer to `serial`, valid until the next message is read; .p is NULL when
 * it is an error or none comes.  Signals and the answer to Hello pass by; *used_bytes is
 * what to use up then. */
static struct bytes answer_to(struct bus *b, uint32_t serial, size_t *used_bytes)
{
	const struct bytes none = { NULL, 0 };

	for (int i = 0; i < MESSAGES_MAX; i++) {
		while (b->n < HEAD)
			if (!more(b))
				return none;
		struct rd r = rd_of((struct bytes){ b->in, HEAD });
		unsigned order = rd_u8(&r), type = rd_u8(&r);
		(void)rd_skip(&r, 2);
		uint32_t body = rd_u32(&r);
		(void)rd_skip(&r, 4);
		uint32_t fields = rd_u32(&r);
		uint64_t at = HEAD + (((uint64_t)fields + 7) & ~(uint64_t)7);

		if (order != 'l' || at + body > sizeof(b->in))
			return none;
		while (b->n < at + body)
			if (!more(b))
				return none;
		struct bytes whole = { b->in, at + body };
		if ((type == RETURN || type == ERROR) && answered(whole, fields) == serial) {
			*used_bytes = (size_t)whole.n;
			return type == RETURN ? bytes_at(whole, at, body) : none;
		}
		used(b, (size_t)whole.n);
	}
	return none;
}

/* A property of logind, of type b or t; false when it cannot be told. */
static bool property(struct bus *b, uint32_t serial, const char *name, char type, uint64_t *out)
{
	const struct call get = { serial, "org.freedesktop.login1", "/org/freedesktop/login1",
				  "org.freedesktop.DBus.Properties", "Get",
				  { "org.freedesktop.login1.Manager", name } };
	size_t n = 0;

	if (!send_call(b, &get))
		return false;
	struct bytes body = answer_to(b, serial, &n);
	if (!body.p)
		return false;
	struct rd r = rd_of(body);
	unsigned length = rd_u8(&r);
	const char *is = rd_str(&r);
	if (r.bad || length != 1 || *is != type)
		return false;
	align(&r, body.p, type == 't' ? 8 : 4);
	*out = type == 't' ? rd_u64(&r) : rd_u32(&r);
	used(b, n);
	return !r.bad;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(a.sun_path))
		return -1;
	strcpy(a.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

struct logind_hint logind_ask(const char *path, int timeout_ms)
{
	static const struct call hello = { 1, "org.freedesktop.DBus", "/org/freedesktop/DBus",
					   "org.freedesktop.DBus", "Hello", { NULL, NULL } };
	struct logind_hint h = { -1, 0 };
	struct bus b = { .sock = connect_to(path), .end_ms = now_ms() + (uint64_t)timeout_ms };
	uint64_t idle;

	if (b.sock < 0)
		return h;
	if (handshake(&b) && send_call(&b, &hello) && property(&b, 2, "IdleHint", 'b', &idle)) {
		h.idle = idle != 0;
		if (!property(&b, 3, "IdleSinceHint", 't', &h.since_us))
			h.since_us = 0;
	}
	close(b.sock);
	return h;
}
