/* pty.c - runs a command on a terminal of its own
 *
 *	pty COLUMNS ROWS [-i INPUT]... COMMAND [ARGUMENT...]
 *
 * What the command prints goes to standard output, byte for byte as the terminal gets it.  Each
 * INPUT is typed when the command has been silent for half a second ("\003" is Ctrl-C).  Exits
 * as the command does; 125: it has been silent for 20 seconds after all input, 126: there is no
 * terminal.
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SILENT_MS = 500, MOST_MS = 20000 };

static void run(char **argv)
{
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	_exit(127);
}

/* False: the command has closed the terminal. */
static bool copy(int fd)
{
	char buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	return write(STDOUT_FILENO, buf, (size_t)n) == n;
}

int main(int argc, char **argv)
{
	struct winsize size = { 0 };
	const char **input = calloc((size_t)argc, sizeof(*input));
	int fd, at = 3, n = 0, next = 0, status = 0;

	if (argc < 4 || !input)
		return 126;
	size.ws_col = (unsigned short)atoi(argv[1]);
	size.ws_row = (unsigned short)atoi(argv[2]);
	for (; at + 2 < argc && strcmp(argv[at], "-i") == 0; at += 2)
		input[n++] = argv[at + 1];
	pid_t pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0)
		return 126;
	if (pid == 0)
		run(argv + at);
	for (;;) {
		struct pollfd f = { fd, POLLIN, 0 };
		int k = poll(&f, 1, next < n ? SILENT_MS : MOST_MS);

		if (k > 0 && !copy(fd))
			break;
		if (k == 0 && next == n) {
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
			return 125;
		}
		if (k == 0) {
			(void)write(fd, input[next], strlen(input[next]));
			next++;
		}
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(input);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
