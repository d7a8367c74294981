/* forbid.c - runs a command to which the system refuses memory that is shared
 *
 *	forbid COMMAND [ARGUMENT...]
 *
 * A filter answers mmap() with MAP_SHARED by EPERM, as that of a container might.
 */
#include <err.h>
#include <errno.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 2 || !filter ||
	    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mmap), 1,
			     SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED, MAP_SHARED)) < 0 ||
	    seccomp_load(filter) < 0)
		errx(125, "no filter");
	(void)execvp(argv[1], argv + 1);
	err(127, "%s", argv[1]);
}
