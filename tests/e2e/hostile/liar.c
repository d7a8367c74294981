/* liar MANAGER PID PATH INSTALLED ORIGINAL FILE [open|count] - a manager that was taken over
 * asks for a generation in a running process
 *
 * It speaks by the socket of the stopped manager: that FILE, a copy that nobody can change any
 * more (`open`: that can be changed), be mapped in PID, as a form of the generation INSTALLED
 * at PATH, whose original is ORIGINAL, both as digests in hex; `count`: for half a second, to
 * count.  Prints the answer and ends with
 * 0 when it was done, 3 when it was refused, 4 when there was no answer.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/msg.h"
#include "manager/parent/role.h"

enum { ANSWER_MS = 60000, NO_ANSWER = 4 };

static int copy_of(const char *path, bool open_ended)
{
	int from = open(path, O_RDONLY), to = memfd_create("lie", MFD_ALLOW_SEALING);

	while (from >= 0 && to >= 0 && sendfile(to, from, NULL, 1 << 30) > 0)
		;
	if (!open_ended)
		(void)fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	close(from);
	return to;
}

/* Field 22 of /proc/PID/stat. */
static uint64_t start_of(const char *pid)
{
	char path[64], text[1024] = "", *at;

	(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		(void)fclose(f);
	text[n] = '\0';
	at = strrchr(text, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static int answer(int sock)
{
	struct pollfd p = { sock, POLLIN, 0 };
	struct msg m = { 0 };
	struct err err = { 0 };

	/* what else the parent tells is the manager's */
	while (poll(&p, 1, ANSWER_MS) == 1) {
		int rc = msg_receive(sock, MSG_ROLE_PARENT, MSG_ROLE_MANAGER, &m, &err);

		if (rc < 0)
			break;
		if (rc == 0 || m.type != MSG_REPLY) {
			msg_close_fds(&m);
			continue;
		}
		(void)puts(m.text);
		return m.num[MSG_REPLY_status] == ERR_NONE ? 0 : 3;
	}
	return NO_ANSWER;
}

int main(int argc, char **argv)
{
	struct msg m = { .type = MSG_LIVE_ON, .serial = 77, .nfd = 1 };
	struct err err;

	if (argc < 7)
		return 2;
	int pidfd = (int)syscall(SYS_pidfd_open, atoi(argv[1]), 0);
	int sock = (int)syscall(SYS_pidfd_getfd, pidfd, ROLE_FD_PARENT, 0);
	/* of both messages the first numbers are the same */
	m.num[MSG_LIVE_ON_pid] = strtoull(argv[2], NULL, 10);
	m.num[MSG_LIVE_ON_start] = start_of(argv[2]);
	m.num[MSG_LIVE_ON_memory_mib] = 2048;
	m.num[MSG_LIVE_ON_cpu_s] = 60;
	if (argc > 7 && strcmp(argv[7], "count") == 0) {
		m.type = MSG_LIVE_COUNT;
		m.num[MSG_LIVE_COUNT_ms] = 500;
	}
	(void)snprintf(m.text, sizeof(m.text), "%s", argv[3]);
	m.fd[0] = copy_of(argv[6], argc > 7 && strcmp(argv[7], "open") == 0);
	if (sock < 0 || digest_from_hex(argv[4], &m.digest[0]) < 0 ||
	    digest_from_hex(argv[5], &m.digest[1]) < 0 ||
	    digest_fd(m.fd[0], &m.digest[2], &err) < 0 || msg_send(sock, &m, &err) < 0)
		return 2;
	return answer(sock);
}
