/* rights.c - what the parent lacks the rights for here; see rights.h
 *
 * Tested by tests/e2e/hostile/rights.sh.
 */
#include "manager/parent/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/parent/job.h"
#include "manager/parent/role.h"

/* The kernel leaves attributes trusted.* out of the list, and says that there is none, where
 * this capability is missing. */
static bool has_sys_admin(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &head, data) == 0 &&
	       (data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN));
}

struct rights rights_here(void)
{
	return (struct rights){ .namespaces = job_has_namespaces(),
				.attributes = has_sys_admin() };
}

void rights_log(const struct rights *r)
{
	if (!r->namespaces)
		role_log("no namespaces for jobs: morphd has not the right to make any "
			 "(CAP_SYS_ADMIN); the cage of Landlock and system calls holds jobs "
			 "without them");
	if (!r->attributes)
		role_log("extended attributes trusted.* are not seen without CAP_SYS_ADMIN: a "
			 "file that has any would lose them when it is swapped");
}
