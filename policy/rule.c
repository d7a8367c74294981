/* rule.c - finds the rule of the policy that applies to a file, by path, package and owner
 *
 * The package of a file is looked up where dpkg notes what it unpacked:
 * /var/lib/dpkg/info/NAME.list, or NAME:ARCHITECTURE.list, a path a line.  Only lists of
 * packages that the pattern fits are read.  Packages from before /bin and /lib became links
 * into /usr list files there.
 */
#include "policy/rule.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/io.h"
#include "policy/setting.h"

enum { LIST_MAX_BYTES = 64 << 20 };	/* of one package's list of files; chosen */
static const char info_folder[] = "/var/lib/dpkg/info", suffix[] = ".list";

void rule_subject_init(struct rule_subject *out, const char *path)
{
	*out = (struct rule_subject){ .path = path, .root = "" };
}

void rule_subject_owner(struct rule_subject *s, uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);

	(void)snprintf(s->uid, sizeof(s->uid), "%u", (unsigned)uid);	/* fits */
	(void)snprintf(s->owner, sizeof(s->owner), "%s", pw ? pw->pw_name : "");
}

/* --- packages --- */

static bool has_line(struct bytes text, const char *line)
{
	size_t n = strlen(line);

	for (uint64_t at = 0; at < text.n; ) {
		const uint8_t *end = memchr(text.p + at, '\n', text.n - at);
		uint64_t length = end ? (uint64_t)(end - text.p) - at : text.n - at;

		if (length == n && memcmp(text.p + at, line, n) == 0)
			return true;
		at += length + 1;
	}
	return false;
}

static void each_line(struct bytes text, void (*f)(void *ctx, const char *file), void *ctx)
{
	char line[PATH_MAX];

	for (uint64_t at = 0; at < text.n; ) {
		const uint8_t *end = memchr(text.p + at, '\n', text.n - at);
		uint64_t n = end ? (uint64_t)(end - text.p) - at : text.n - at;

		if (n < sizeof(line) && !memchr(text.p + at, 0, n)) {
			memcpy(line, text.p + at, n);
			line[n] = '\0';
			f(ctx, line);
		}
		at += n + 1;
	}
}

/* If it has the path, f is called for all that it has. */
static bool list_has(int folder, const char *name, const char *path,
		     void (*f)(void *ctx, const char *file), void *ctx)
{
	const char *other = strncmp(path, "/usr/", 5) == 0 ? path + 4 : NULL;
	struct bytes text;
	bool yes = false;

	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	struct arena *a = arena_new();
	if (io_read_all(fd, LIST_MAX_BYTES, a, &text, NULL) == 0)
		yes = has_line(text, path) || (other && has_line(text, other));
	if (yes && f)
		each_line(text, f, ctx);
	arena_free(a);
	close(fd);
	return yes;
}

/* The package of a list's name; false when the name is no list's. */
static bool package_of(const char *name, char *out, size_t size)
{
	size_t n = strlen(name), s = sizeof(suffix) - 1;

	if (n <= s || strcmp(name + n - s, suffix) != 0 || n - s >= size)
		return false;
	memcpy(out, name, n - s);
	out[n - s] = '\0';
	out[strcspn(out, ":")] = '\0';
	return true;
}

/* cut: not there */
static DIR *open_lists(const char *root)
{
	char folder[PATH_MAX];

	(void)snprintf(folder, sizeof(folder), "%s%s", root, info_folder);
	return opendir(folder);
}

void rule_files_beside(const char *root, const char *path,
		       void (*f)(void *ctx, const char *file), void *ctx)
{
	char package[NAME_MAX + 1];
	DIR *d = open_lists(root);

	for (struct dirent *e; d && (e = readdir(d)); )
		if (package_of(e->d_name, package, sizeof(package)))
			(void)list_has(dirfd(d), e->d_name, path, f, ctx);
	if (d)
		(void)closedir(d);	/* only read */
}

bool rule_in_package(const char *root, const char *pattern, const char *path)
{
	char package[NAME_MAX + 1];
	bool yes = false;
	DIR *d = open_lists(root);

	for (struct dirent *e; d && !yes && (e = readdir(d)); )
		yes = package_of(e->d_name, package, sizeof(package)) &&
		      fnmatch(pattern, package, 0) == 0 &&
		      list_has(dirfd(d), e->d_name, path, NULL, NULL);
	if (d)
		(void)closedir(d);	/* only read */
	return yes;
}

/* --- rules --- */

static bool any_fits(const struct policy_globs *g, const char *text)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (*text && fnmatch(g->glob[i], text, 0) == 0)
			return true;
	return false;
}

static bool any_package(const struct policy_globs *g, const struct rule_subject *s)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (rule_in_package(s->root, g->glob[i], s->path))
			return true;
	return false;
}

static bool any_owner(const struct policy_globs *g, const struct rule_subject *s)
{
	return any_fits(g, s->owner) || any_fits(g, s->uid);
}

bool rule_has_agreed(const struct policy *p, uid_t uid)
{
	struct rule_subject s;

	if (!p->share_agreed.n)
		return false;
	rule_subject_init(&s, "");
	rule_subject_owner(&s, uid);
	return any_owner(&p->share_agreed, &s);
}

/* What is looked up in files comes last. */
static bool fits(const struct policy_rule *r, const struct rule_subject *s)
{
	return (!r->paths.n || any_fits(&r->paths, s->path)) &&
	       (!r->users.n || any_owner(&r->users, s)) &&
	       (!r->packages.n || any_package(&r->packages, s));
}

const struct policy_rule *rule_find(const struct policy *p, const struct rule_subject *s)
{
	for (uint32_t i = 0; i < p->nrule; i++)
		if (fits(&p->rule[i], s))
			return &p->rule[i];
	return NULL;
}

struct policy rule_apply(const struct policy *p, const struct policy_rule *r)
{
	struct policy out = *p;

	for (unsigned i = 0; r && i < policy_nsetting; i++)
		if (r->set >> i & 1)
			setting_copy(&policy_setting[i], &out, r->values);
	/* A rule's budgets are of each of its modules, and the general ones hold besides. */
	out.module_cpu_per_day_s = out.cpu_per_day_s;
	out.module_disk_per_day_mib = out.disk_per_day_mib;
	out.module_count_cpu_per_day_s = out.count_cpu_per_day_s;
	out.cpu_per_day_s = p->cpu_per_day_s;
	out.disk_per_day_mib = p->disk_per_day_mib;
	out.count_cpu_per_day_s = p->count_cpu_per_day_s;
	return out;
}
