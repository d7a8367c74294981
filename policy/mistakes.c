/* mistakes.c - finds what a policy says in vain; see mistakes.h
 *
 * Only what is certain is said.  Modules have paths without symbolic links, so a pattern whose
 * folder is one (/bin on a merged /usr) fits none.  Of two patterns it is known that they have
 * no path in common when their beginnings, up to the first wildcard, differ; and that one fits
 * all that the other does when it is the same, or has no wildcard but * and fits the text of
 * the other.
 *
 * Tested by tests/unit/policy/test_mistakes.c.
 */
#include "policy/mistakes.h"

#include <fnmatch.h>
#include <ftw.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/policy.h"
#include "policy/rule.h"

enum { FILES_MOST = 300000, DESCRIPTORS = 16 };

struct finder {
	const struct policy *p;
	const char *root;
	bool look;
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

static void say(const struct finder *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct finder *f, const char *fmt, ...)
{
	char text[2 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* a cut sentence still tells */
	va_end(ap);
	f->say(f->ctx, text);
}

/* --- patterns --- */

/* Bytes before the first wildcard. */
static size_t fixed_length(const char *glob)
{
	return strcspn(glob, "*?[\\");
}

/* The folder that a pattern's paths begin with, with root in front; false: it is too long. */
static bool folder_of(const struct finder *f, const char *glob, char out[PATH_MAX])
{
	size_t n = fixed_length(glob);

	while (n > 1 && glob[n - 1] != '/')
		n--;
	return snprintf(out, PATH_MAX, "%s%.*s", f->root, (int)n, glob) < PATH_MAX;
}

/* Of nftw(), which hands nothing on. */
static struct {
	const char *glob;
	size_t root_length;
	unsigned left;
	bool found;
} search;

static int look_at(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)ftw;
	if (type == FTW_F && fnmatch(search.glob, path + search.root_length, 0) == 0)
		search.found = true;
	return search.found || search.left-- == 0;
}

/* Does a file fit?  Yes also where there is too much to look at. */
static bool any_fits(const struct finder *f, const char *glob, const char *folder)
{
	search.glob = glob;
	search.root_length = strlen(f->root);
	search.left = FILES_MOST;
	search.found = false;
	int rc = nftw(folder, look_at, DESCRIPTORS, FTW_PHYS);
	return rc != 0 || search.found;
}

/* Not everywhere is a file in each folder of the default. */
static bool is_default(const char *glob)
{
	struct policy *p = policy_default();
	bool yes = false;

	for (uint32_t i = 0; p && i < p->include.n; i++)
		yes = yes || strcmp(p->include.glob[i], glob) == 0;
	policy_free(p);
	return yes;
}

static void check_glob(const struct finder *f, const char *where, const char *glob)
{
	char folder[PATH_MAX], real[PATH_MAX];
	bool plain = !glob[fixed_length(glob)];
	size_t n;

	if (!folder_of(f, glob, folder))
		return;
	if (!realpath(folder, real)) {
		say(f, "%s: '%s' fits nothing: there is no folder '%s'", where, glob,
		    folder + strlen(f->root));
		return;
	}
	for (n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
		folder[n - 1] = '\0';
	if (strcmp(folder, real) != 0 && n > 1) {
		const char *rest = glob + n - strlen(f->root);

		say(f, "%s: '%s' fits nothing: '%s' is a link, and modules have the path it "
		    "leads to; write '%s%s'", where, glob, folder + strlen(f->root),
		    real + strlen(f->root), rest);
	} else if (plain &&
		   snprintf(folder, sizeof(folder), "%s%s", f->root, glob) < PATH_MAX &&
		   access(folder, F_OK) < 0) {
		say(f, "%s: there is no file '%s'", where, glob);
	} else if (!plain && f->look && !is_default(glob) &&
		   !any_fits(f, glob, folder)) {
		say(f, "%s: '%s' fits no file", where, glob);
	}
}

static void check_globs(const struct finder *f, const char *where,
			const struct policy_globs *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		check_glob(f, where, g->glob[i]);
}

static bool may_meet(const char *a, const char *b)
{
	size_t n = fixed_length(a), m = fixed_length(b);

	return strncmp(a, b, n < m ? n : m) == 0;
}

/* Does the first pattern certainly fit all that the second does? */
static bool covers(const char *all, const char *some)
{
	return strcmp(all, some) == 0 ||
	       (!all[strcspn(all, "?[\\")] && fnmatch(all, some, 0) == 0);
}

/* --- rules --- */

/* A rule without such a list is about all of them. */
static bool list_covers(const struct policy_globs *all, const struct policy_globs *some)
{
	if (!all->n)
		return true;
	for (uint32_t i = 0; i < some->n; i++) {
		bool covered = false;

		for (uint32_t k = 0; k < all->n && !covered; k++)
			covered = covers(all->glob[k], some->glob[i]);
		if (!covered)
			return false;
	}
	return some->n > 0;
}

static bool rule_covers(const struct policy_rule *all, const struct policy_rule *some)
{
	return list_covers(&all->paths, &some->paths) &&
	       list_covers(&all->packages, &some->packages) &&
	       list_covers(&all->users, &some->users);
}

static bool is_among_modules(const struct policy *p, const struct policy_globs *paths)
{
	if (!paths->n)
		return true;
	for (uint32_t i = 0; i < paths->n; i++)
		for (uint32_t k = 0; k < p->include.n; k++)
			if (may_meet(paths->glob[i], p->include.glob[k]))
				return true;
	return false;
}

static void check_users(const struct finder *f, const char *where, const struct policy_globs *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const char *name = g->glob[i];

		if (!name[fixed_length(name)] && name[strspn(name, "0123456789")] &&
		    !getpwnam(name))
			say(f, "%s: there is no user '%s'", where, name);
	}
}

static void check_names(const struct finder *f, const char *where, const struct policy_rule *r)
{
	char path[PATH_MAX];

	check_users(f, where, &r->users);
	for (uint32_t i = 0; i < r->packages.n && f->look; i++) {
		const char *name = r->packages.glob[i];

		/* lists are named NAME.list, or NAME:ARCHITECTURE.list */
		if (name[fixed_length(name)] ||
		    snprintf(path, sizeof(path), "%s/var/lib/dpkg/info/%s.list", f->root,
			     name) >= PATH_MAX || access(path, F_OK) == 0 ||
		    snprintf(path, sizeof(path), "%s/var/lib/dpkg/info/%s:amd64.list",
			     f->root, name) >= PATH_MAX || access(path, F_OK) == 0)
			continue;
		say(f, "%s: no package '%s' is installed", where, name);
	}
}

static void check_rule(const struct finder *f, uint32_t i)
{
	const struct policy_rule *r = &f->p->rule[i];
	char where[160];

	(void)snprintf(where, sizeof(where), "rule '%.64s' of line %u", r->name, r->line);
	check_globs(f, where, &r->paths);
	check_names(f, where, r);
	for (uint32_t k = 0; k < i; k++)
		if (rule_covers(&f->p->rule[k], r)) {
			say(f, "%s has no effect: rule '%.64s' before it is about all that it "
			    "is about", where, f->p->rule[k].name);
			return;
		}
	if (!is_among_modules(f->p, &r->paths))
		say(f, "%s has no effect: its paths are not in modules.include", where);
	else if (i + 1 == f->p->nrule && !r->set && !r->refuse)
		say(f, "%s has no effect: it sets nothing, and no rule follows that it could "
		    "be an exception from", where);
}

void policy_mistakes(const struct policy *p, const char *root, bool look,
		     void (*say_to)(void *ctx, const char *text), void *ctx)
{
	const struct finder f = { p, root, look, say_to, ctx };

	if (!p->include.n)
		say(&f, "modules.include is empty: nothing is sampled for, and nothing laid "
		    "out");
	check_globs(&f, "modules.include", &p->include);
	check_globs(&f, "modules.exclude", &p->exclude);
	check_users(&f, "users.agreed", &p->share_agreed);
	if (p->share_agreed.n && !policy_asks_whose(p))
		say(&f, "users.agreed has no effect: users.share_layouts is 1");
	for (uint32_t i = 0; i < p->nrule; i++)
		check_rule(&f, i);
}
