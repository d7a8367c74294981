/* without.c - runs a command to which the system refuses some calls, as that of a container or
 * of a stricter machine would
 *
 *	without CALL... -- COMMAND [ARGUMENT...]
 */
#include <err.h>
#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int i;

	if (!filter)
		errx(125, "no filter");
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		int call = seccomp_syscall_resolve_name(argv[i]);

		if (call < 0 || seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) < 0)
			errx(125, "'%s': no such call", argv[i]);
	}
	if (i + 1 >= argc || seccomp_load(filter) < 0)
		errx(125, "usage: without CALL... -- COMMAND");
	(void)execvp(argv[i + 1], argv + i + 1);
	err(127, "%s", argv[i + 1]);
}
