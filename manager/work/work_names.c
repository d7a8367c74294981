/* work_names.c - other names of a module's file: which there may be, and may it be swapped
 * under all of them
 *
 * The parent finds names in the module's own folder, and believes others as far as it sees
 * them to be the same file's (manager/parent/install_set.h).  Which others there may be is what
 * dpkg's lists say of the packages that have the file.
 *
 * What the policy says of one name must hold for all: a file is not laid out under a name that
 * is left out or refused.
 *
 * Tested by tests/e2e/hardlinks.sh.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/err.h"
#include "manager/parent/role.h"
#include "manager/store/module.h"
#include "manager/work/work.h"
#include "policy/policy.h"
#include "policy/rule.h"

struct candidates {
	const char *path;
	struct stat st;
	struct names *names;
};

static bool is_of(const struct candidates *c, const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_dev == c->st.st_dev && st.st_ino == c->st.st_ino;
}

/* Packages from before /bin and /lib became links into /usr list files there. */
static void look_at(void *ctx, const char *file)
{
	struct candidates *c = ctx;
	char usr[PATH_MAX];

	if (strcmp(file, c->path) == 0 || !is_of(c, file))
		return;
	if (strncmp(file, "/usr/", 5) != 0 &&
	    snprintf(usr, sizeof(usr), "/usr%s", file) < (int)sizeof(usr) && is_of(c, usr))
		file = usr;
	if (strcmp(file, c->path) != 0)
		(void)names_add(c->names, file);	/* else it is not found */
}

/* The lists are read only where the parent does not find all names by itself. */
static int ask_parent(struct work *w, const char *path, struct err *err)
{
	struct names maybe = { 0 };
	struct candidates c = { .path = path, .names = &maybe };

	if (lstat(path, &c.st) < 0 || !S_ISREG(c.st.st_mode) || c.st.st_nlink < 2)
		return ask_check(w->ask, path, NULL, w->policy->hard_links, err);
	if (ask_check(w->ask, path, NULL, false, err) == 0)
		return 0;
	rule_files_beside(w->options->host, path, look_at, &c);
	return ask_check(w->ask, path, &maybe, w->policy->hard_links, err);
}

/* Does the policy want the file to be touched under that name as well? */
static int check_policy(struct work *w, const char *path, const char *name, struct err *err)
{
	struct policy policy;
	const struct policy_rule *rule;

	if (!policy_allows(w->policy, name))
		return err_set(err, ERR_REFUSED, "'%s': its other name '%s' is not among the "
			       "policy's modules", path, name);
	rule = work_rule(w, name, &policy);
	if (rule && rule->refuse)
		return err_set(err, ERR_REFUSED, "'%s': rule '%s' of the policy refuses its "
			       "other name '%s'", path, rule->name, name);
	return 0;
}

/* Two files that were modules can have become one: the module with more samples lays it out. */
static int check_module(struct work *w, const char *path, const char *name, struct err *err)
{
	struct store_module m, other;

	if (store_module_by_path(w->store, path, &m, NULL) != 1 ||
	    store_module_by_path(w->store, name, &other, NULL) != 1 ||
	    other.samples < m.samples || (other.samples == m.samples && other.id > m.id))
		return 0;
	return err_set(err, ERR_REFUSED, "'%s': the file is '%s' as well, of which there are "
		       "more samples", path, name);
}

int work_check(struct work *w, const char *path, struct names *names, struct err *err)
{
	if (ask_parent(w, path, err) < 0)
		return -1;
	names->n = names->bytes = 0;
	for (char *at = w->ask->reply.text, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		(void)names_add(names, at);	/* as many as the parent has room for */
	}
	/* afterwards: the parent may be asked whose they are, and answers there */
	for (unsigned i = 0; i < names->n; i++)
		if (check_policy(w, path, names_at(names, i), err) < 0 ||
		    check_module(w, path, names_at(names, i), err) < 0)
			return -1;
	return 0;
}

const char *work_name(const struct work *w, const char *path, char other[PATH_MAX])
{
	return modules_other_name(w->store, path, other) ? other : path;
}
