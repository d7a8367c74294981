/* notify.c - datagrams to the socket that NOTIFY_SOCKET names; see notify.h
 *
 * Tested by tests/unit/manager/parent/test_notify.c and tests/e2e/service.sh.
 */
#include "manager/parent/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "manager/parent/printable.h"

enum { STATUS_MAX = 256 };

static void send_text(const char *path, const char *text)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || n >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path, path, n);
	if (path[0] == '@')
		a.sun_path[0] = '\0';		/* an abstract name */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* who does not listen is not told */
	(void)sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		     (struct sockaddr *)&a,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
}

void notify_tell(const char *state, const char *status)
{
	static char last[STATUS_MAX];
	const char *path = getenv("NOTIFY_SOCKET");
	char text[STATUS_MAX + 64], line[PRINTABLE_MAX];

	printable(status, line);	/* a further line would be a word of root's */
	line[STATUS_MAX - 1] = '\0';	/* cut: still tells */
	if (!path || (!*state && strcmp(line, last) == 0))
		return;
	strcpy(last, line);
	(void)snprintf(text, sizeof(text), "%s%sSTATUS=%s\n", state, *state ? "\n" : "", last);
	send_text(path, text);
}

void notify_sampling(const char *state, const struct notify_sampling *how)
{
	char text[STATUS_MAX];

	if (how->off)
		notify_tell(state, "Does not sample");
	else if (how->runs && how->paused)
		notify_tell(state, "Sampling is paused");
	else if (how->runs) {
		(void)snprintf(text, sizeof(text), "Samples%s%.64s", *how->clock ? " by " : "",
			       how->clock);	/* fits */
		notify_tell(state, text);
	} else if (how->ends) {
		(void)snprintf(text, sizeof(text), "Does not sample: the monitor has ended by "
			       "itself %u times", how->ends);	/* fits */
		notify_tell(state, text);
	} else {
		notify_tell(state, "Begins to sample");
	}
}
