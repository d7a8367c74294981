/* rule.h - which rule of the policy applies to a module, and what it makes of the policy
 *
 * The first rule that fits decides, as in a firewall: an exception stands before the rule that
 * it is an exception from.  A rule fits when each of its lists (paths, packages, users) has a
 * pattern that fits, or is missing.  Settings that the rule does not name are the general ones.
 */
#ifndef POLICY_RULE_H
#define POLICY_RULE_H

#include <stdbool.h>
#include <sys/types.h>

#include "policy/policy.h"

struct rule_subject {		/* a module, as rules see it */
	const char *path;	/* without symbolic links */
	char owner[64], uid[16];	/* of the file: name and number, "" if not known */
	const char *root;	/* before /var/lib/dpkg */
};

/* *out is about the file at `path`, which stays the caller's; its owner is not known yet. */
void rule_subject_init(struct rule_subject *out, const char *path);
void rule_subject_owner(struct rule_subject *s, uid_t uid);

/* Is that user in users.agreed? */
bool rule_has_agreed(const struct policy *p, uid_t uid);

/* NULL: none fits. */
const struct policy_rule *rule_find(const struct policy *p, const struct rule_subject *s);
/* The policy that applies to modules of that rule (NULL: of no rule).  Its lists are p's; it
 * must not be freed. */
struct policy rule_apply(const struct policy *p, const struct policy_rule *r);

/* Calls f for each file of the installed Debian packages that have the one at the path. */
void rule_files_beside(const char *root, const char *path,
		       void (*f)(void *ctx, const char *file), void *ctx);
/* Does the module belong to an installed Debian package whose name fits the pattern? */
bool rule_in_package(const char *root, const char *pattern, const char *path);

#endif
