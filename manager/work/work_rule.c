/* work_rule.c - which rule of the policy is about a module
 *
 * Looked up when it is needed: owners and packages change without telling us.
 *
 * Tested by tests/e2e/daemon.sh.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/rule.h"

/* A file that we cannot reach is opened for us, if it is a program. */
static void find_owner(struct work *w, struct rule_subject *s)
{
	struct stat st;

	if (lstat(s->path, &st) == 0) {
		rule_subject_owner(s, st.st_uid);
		return;
	}
	if (w->ask->waiting)		/* it cannot be asked two things at a time */
		return;
	int fd = ask_open_file(w->ask, s->path, NULL);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0)
		rule_subject_owner(s, st.st_uid);
	close(fd);
}

const struct policy_rule *work_rule(struct work *w, const char *path, struct policy *out)
{
	const struct policy_rule *rule = NULL;
	struct rule_subject s;

	if (w->policy->nrule) {
		rule_subject_init(&s, path);
		find_owner(w, &s);
		rule = rule_find(w->policy, &s);
	}
	*out = rule_apply(w->policy, rule);
	return rule;
}
