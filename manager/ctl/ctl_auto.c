/* ctl_auto.c - morphctl auto: may modules be laid out without being asked?
 *
 * The answer is a file of its own that adds to the policy (lib/dropins.h), so nobody's text is
 * edited; who wants the policy's own answer back removes that file.
 *
 * Tested by tests/e2e/auto.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/dropins.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/say.h"
#include "manager/ctl/ctl.h"
#include "policy/policy.h"

enum { ANSWERS_S = 2 };

static struct policy *read_policy(const char *path, struct err *err)
{
	int fd = dropins_open(path, POLICY_TEXT_MAX, err);
	struct policy *p = fd < 0 ? NULL : policy_read(fd, path, err);

	if (fd >= 0)
		close(fd);
	return p;
}

static int fail(const struct err *err)
{
	say_line(stderr, "morphctl: %s", err->text);
	return err_exit_code(err);
}

static int say_which(const char *policy)
{
	struct err err = { 0 };
	struct policy *p = read_policy(policy, &err);

	if (!p)
		return fail(&err);
	if (p->automatic_by)
		say_line(stdout, "automatic is %s by '%s'", p->automatic ? "on" : "off",
			 p->automatic_by);
	else
		say_line(stdout, "automatic is %s by default: '%s' says nothing of it",
			 p->automatic ? "on" : "off", policy);
	policy_free(p);
	return 0;
}

/* What is there already must be right, or the daemon would not read what is added; and a file
 * behind that one has the last word. */
static int check(const char *policy, const char *by, bool on, struct err *err)
{
	struct policy *p = read_policy(policy, err);
	int rc = p ? 0 : -1;

	if (p && p->automatic_by && strcmp(p->automatic_by, by) > 0 &&
	    p->automatic != (unsigned)on)
		rc = err_set(err, ERR_REFUSED, "'%s' says otherwise, and comes behind '%s', "
			     "which is left as it is", p->automatic_by, by);
	policy_free(p);
	return rc;
}

static int set(const struct ctl *ctl, const char *policy, const char *folder, const char *by,
	       bool on)
{
	struct err err = { 0 };
	const char *reload[] = { "reload" };
	const char *text = on ? "# Written by `morphctl auto on`.\n"
				"optimize: {automatic: true}\n" :
				"# Written by `morphctl auto off`.\n"
				"optimize: {automatic: false}\n";

	if (check(policy, by, on, &err) < 0)
		return fail(&err);
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		err_set(&err, ERR_SYS, "'%s': %s", folder, strerror(errno));
	else
		(void)io_replace(by, 0644, (struct bytes){
					 (const uint8_t *)text, strlen(text) }, &err);
	if (err.kind != ERR_NONE)
		return fail(&err);
	int code = say_which(policy);	/* a file behind it may say the same */
	if (code)
		return code;
	if (ctl_answers(ctl, ANSWERS_S))
		return ctl_talk(ctl, 1, reload);
	say_line(stdout, "morphd does not run; it reads this when it begins");
	return 0;
}

int ctl_auto(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ 0 }
	};
	static const char *const known[] = { "on", "off", NULL };
	const char *policy = "/etc/morph.yaml";
	char folder[PATH_MAX], by[PATH_MAX + 32];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'p')
			return ctl_usage(ctl);
		policy = optarg;
	}
	argc -= optind;
	argv += optind;
	if (snprintf(folder, sizeof(folder), "%s.d", policy) >= (int)sizeof(folder))
		return ctl_usage(ctl);
	(void)snprintf(by, sizeof(by), "%s/50-auto.yaml", folder);	/* fits */
	if (argc == 0)
		return say_which(policy);
	if (strcmp(argv[0], "on") != 0 && strcmp(argv[0], "off") != 0)
		return ctl_unknown_word(ctl, argv[0], known);
	return set(ctl, policy, folder, by, strcmp(argv[0], "on") == 0);
}
