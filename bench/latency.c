/* latency redis|http SOCKET CONNECTIONS SECONDS|xREQUESTS - how long a server takes for answers
 *
 * Each connection is a thread that asks, waits for the answer and asks again: redis to keep a
 * value and to give it back, an HTTP server for /page.  All answers are looked at.  Ends after
 * the time, or when all together had so many answers.  Prints a line for each number of
 * microseconds that an answer took, and how many took it:
 *
 *	US ANSWERS
 *
 * Exit code 1 when an answer was wrong or a connection broke.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST_US = 4000000, ANSWER = 1 << 18 };

struct client {
	int fd;
	unsigned number, turn;
	char answer[ANSWER];
	size_t n;		/* bytes of it */
};

static _Atomic uint32_t seen[MOST_US + 1];
static _Atomic long left;
static uint64_t end_ns = UINT64_MAX;
static const char *path;
static bool http;
static _Atomic size_t page_bytes;

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void wrong(const char *what)
{
	(void)fprintf(stderr, "latency: %s\n", what);
	exit(1);
}

static void send_all(const struct client *c, const char *text)
{
	size_t n = strlen(text);

	if (send(c->fd, text, n, MSG_NOSIGNAL) != (ssize_t)n)
		wrong("the connection broke");
}

/* Until there are `n` bytes of the answer. */
static void receive(struct client *c, size_t n)
{
	if (n > sizeof(c->answer) - 1)
		wrong("an answer is too long");
	while (c->n < n) {
		ssize_t got = recv(c->fd, c->answer + c->n, sizeof(c->answer) - 1 - c->n, 0);

		if (got <= 0)
			wrong("the connection broke");
		c->n += (size_t)got;
	}
	c->answer[c->n] = '\0';
}

static void ask_redis(struct client *c)
{
	char text[128], want[64];
	unsigned value = c->turn / 2 * 7919;

	if (c->turn++ % 2 == 0) {
		(void)snprintf(text, sizeof(text), "SET latency%u %010u\r\n", c->number, value);
		(void)snprintf(want, sizeof(want), "+OK\r\n");
	} else {
		(void)snprintf(text, sizeof(text), "GET latency%u\r\n", c->number);
		(void)snprintf(want, sizeof(want), "$10\r\n%010u\r\n", value);
	}
	send_all(c, text);
	c->n = 0;
	receive(c, strlen(want));
	if (strcmp(c->answer, want) != 0)
		wrong("an answer is wrong");
}

/* All pages are as long as the first one, and begin and end as it does. */
static void ask_http(struct client *c)
{
	char *body = NULL, *length;
	size_t want;

	send_all(c, "GET /page HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
	c->n = 0;
	c->answer[0] = '\0';
	while (!body) {
		receive(c, c->n + 1);
		body = strstr(c->answer, "\r\n\r\n");
	}
	if (strncmp(c->answer, "HTTP/1.1 200 ", 13) != 0)
		wrong("an answer is wrong");
	length = strstr(c->answer, "Content-Length: ");
	if (length && length < body) {
		want = (size_t)(body + 4 - c->answer) + strtoul(length + 16, NULL, 10);
		receive(c, want);
	} else {		/* chunks, the last of which is empty */
		while (c->n < 5 || memcmp(c->answer + c->n - 5, "0\r\n\r\n", 5) != 0)
			receive(c, c->n + 1);
		want = c->n;
	}
	size_t first = 0;
	if (c->n != want ||
	    (!atomic_compare_exchange_strong(&page_bytes, &first, want) && first != want))
		wrong("an answer is wrong");
}

static void *run(void *which)
{
	struct client *c = which;
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	(void)snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	c->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(c->fd, (struct sockaddr *)&name, sizeof(name)) < 0)
		wrong("no connection");
	for (uint64_t from = now_ns(), to; from < end_ns && atomic_fetch_sub(&left, 1) > 0;
	     from = to) {
		if (http)
			ask_http(c);
		else
			ask_redis(c);
		to = now_ns();
		uint64_t us = (to - from) / 1000;
		atomic_fetch_add(&seen[us < MOST_US ? us : MOST_US], 1);
	}
	close(c->fd);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc == 5 ? atoi(argv[3]) : 0;
	pthread_t thread[64];

	if (n < 1 || n > 64) {
		(void)fputs("usage: latency redis|http SOCKET CONNECTIONS SECONDS|xREQUESTS\n",
			    stderr);
		return 2;
	}
	http = strcmp(argv[1], "http") == 0;
	path = argv[2];
	left = argv[4][0] == 'x' ? atol(argv[4] + 1) : INT32_MAX;
	if (argv[4][0] != 'x')
		end_ns = now_ns() + (uint64_t)(atof(argv[4]) * 1e9);
	for (int i = 0; i < n; i++) {
		struct client *c = calloc(1, sizeof(*c));

		if (!c)
			return 2;
		c->number = (unsigned)i;
		if (pthread_create(&thread[i], NULL, run, c))
			return 2;
	}
	for (int i = 0; i < n; i++)
		(void)pthread_join(thread[i], NULL);
	for (uint32_t us = 0; us <= MOST_US; us++)
		if (seen[us])
			(void)printf("%u %u\n", us, seen[us]);
	return 0;
}
