/* landlock.c - the kernel's Landlock, by its system calls
 *
 * The C library has no functions for it, and the headers of some distributions are older than
 * the kernels: numbers that they lack are defined here.  Every right that the running
 * kernel can govern is taken away, and only those of the rules are given back.
 *
 * Tested by tests/unit/manager/parent/test_cage.c and tests/e2e/trust.sh.
 */
#include "lib/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"

/* Newer than the header of some distributions that we build on. */
enum {
	FS_REFER = 1 << 13, FS_TRUNCATE = 1 << 14, FS_IOCTL_DEV = 1 << 15,
	NET_BIND_TCP = 1 << 0, NET_CONNECT_TCP = 1 << 1,
	SCOPE_ABSTRACT_UNIX = 1 << 0, SCOPE_SIGNAL = 1 << 1,
};

enum {
	FS_FIRST = FS_REFER - 1,		/* all of version 1 */
	FS_FILE = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
		  LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
	FS_WRITE = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
		   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | FS_TRUNCATE,
};

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

int landlock_version(void)
{
	long v = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return v < 0 ? 0 : (int)v;
}

/* All that the version can forbid; what it does not know must be 0. */
static struct ruleset_attr everything(int version)
{
	struct ruleset_attr a = { .fs = FS_FIRST };

	if (version >= 2)
		a.fs |= FS_REFER;
	if (version >= 3)
		a.fs |= FS_TRUNCATE;
	if (version >= 4)
		a.net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (version >= 5)
		a.fs |= FS_IOCTL_DEV;
	if (version >= 6)
		a.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
	return a;
}

static int add_rule(int ruleset, const struct landlock_rule *rule, uint64_t handled,
		    struct err *err)
{
	static const uint64_t access_of[] = { LANDLOCK_ACCESS_FS_READ_FILE,
		LANDLOCK_ACCESS_FS_READ_DIR, LANDLOCK_ACCESS_FS_EXECUTE, FS_WRITE };
	struct landlock_path_beneath_attr beneath = { .parent_fd = rule->fd };
	struct stat st;
	int rc = 0;

	if (rule->fd < 0 && rule->path)
		beneath.parent_fd = open(rule->path, O_PATH | O_CLOEXEC);
	if (beneath.parent_fd < 0)
		return 0;		/* what is not there needs no permission */
	for (int i = 0; i < 4; i++)
		if (rule->rights & 1u << i)
			beneath.allowed_access |= access_of[i];
	if (fstat(beneath.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		beneath.allowed_access &= FS_FILE;
	beneath.allowed_access &= handled;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) <
	    0)
		rc = err_set(err, ERR_SYS, "landlock '%s': %s", rule->path, strerror(errno));
	if (rule->fd < 0)
		close(beneath.parent_fd);
	return rc;
}

int landlock_confine(const struct landlock_rule *rule, int n, struct err *err)
{
	struct ruleset_attr all = everything(landlock_version());
	int rc = 0;

	if (!landlock_version())
		return 0;
	for (int i = 0; i < n; i++)
		if (rule[i].rights & LANDLOCK_CONNECT)
			all.net &= ~(uint64_t)NET_CONNECT_TCP;
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (ruleset < 0)
		return err_set(err, ERR_SYS, "landlock: %s", strerror(errno));
	for (int i = 0; i < n && rc == 0; i++)
		rc = add_rule(ruleset, &rule[i], all.fs, err);
	if (rc == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		rc = err_set(err, ERR_SYS, "landlock: %s", strerror(errno));
	close(ruleset);
	return rc < 0 ? -1 : 1;
}
