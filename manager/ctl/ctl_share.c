/* ctl_share.c - morphctl share: of the daemon, or, for init and test, by morph-share itself
 *
 * Only that program has libpq.  Of `test` without CONNINFO the policy's is tried, as the user
 * whom the daemon would take for it.
 *
 * Tested by tests/e2e/share.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/dropins.h"
#include "lib/err.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "manager/parent/program.h"
#include "policy/policy.h"

static const char policy_path[] = "/etc/morph.yaml";

/* Returns only if that fails. */
static int run(char *const *arg)
{
	char *path = program_of_ours("morph-share");

	if (path)
		(void)execv(path, arg);
	say_line(stderr, "morphctl: share: '%s': %s", path ? path : "morph-share",
		 path ? strerror(errno) : "is not there");
	free(path);
	return 1;
}

/* The caller's; NULL, and said: there is none. */
static char *conninfo_of_policy(void)
{
	struct err err = { 0 };
	int fd = dropins_open(policy_path, POLICY_TEXT_MAX, &err);
	struct policy *p = fd < 0 ? NULL : policy_read(fd, policy_path, &err);
	char *out = p && p->share_conninfo && p->share_conninfo[0] ? strdup(p->share_conninfo)
								   : NULL;

	if (fd >= 0)
		close(fd);
	if (!p)
		say_line(stderr, "morphctl: share: %s", err.text);
	else if (!out)
		say_line(stderr, "morphctl: share: '%s' names no database (share.conninfo)",
			 policy_path);
	policy_free(p);
	return out;
}

static int test(int argc, char **argv)
{
	char user[] = "--user=morph-share";
	char *arg[] = { argv[0], "test", NULL, NULL, NULL };
	int n = 2;

	if (argc > 2 && strncmp(argv[2], "--user=", 7) == 0)
		arg[n++] = argv[2];
	else if (argc == 2 && geteuid() == 0)
		arg[n++] = user;
	bool given = argc > 2 && argv[argc - 1] != arg[2];
	arg[n] = given ? argv[argc - 1] : conninfo_of_policy();
	int code = arg[n] ? run(arg) : 2;
	if (!given)
		free(arg[n]);
	return code;
}

int ctl_share(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const known[] = { "now", "init", "test", NULL };
	const char *request[] = { "share", "now" };

	if (argc == 1)
		return ctl_talk(ctl, 1, request);
	if (argc == 2 && strcmp(argv[1], "now") == 0)
		return ctl_talk(ctl, 2, request);
	if (argc == 3 && strcmp(argv[1], "init") == 0) {
		char *arg[] = { argv[0], argv[1], argv[2], NULL };

		return run(arg);
	}
	bool user = argc > 2 && strncmp(argv[2], "--user=", 7) == 0;
	if (argc >= 2 && argc <= 3 + user && strcmp(argv[1], "test") == 0)
		return test(argc, argv);
	for (int i = 0; known[i]; i++)
		if (strcmp(argv[1], known[i]) == 0)
			return ctl_usage(ctl);
	return ctl_unknown_word(ctl, argv[1], known);
}
