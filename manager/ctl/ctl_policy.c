/* ctl_policy.c - morphctl policy check, which needs no daemon, policy show and reload */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
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
#include "policy/mistakes.h"
#include "policy/policy.h"
#include "policy/rule.h"

static struct policy *read_policy(const char *path, struct err *err)
{
	int fd = strncmp(path, "fd:", 3) == 0 ? io_open_read(path, err) :
						dropins_open(path, POLICY_TEXT_MAX, err);

	if (fd < 0)
		return NULL;
	struct policy *p = policy_read(fd, path, err);
	close(fd);
	return p;
}

/* What the policy says of the file: a line for people. */
static void say_of(const struct policy *p, const char *name)
{
	char *path = realpath(name, NULL);
	struct rule_subject s;
	struct stat st;

	rule_subject_init(&s, path ? path : name);
	if (path && stat(path, &st) == 0)
		rule_subject_owner(&s, st.st_uid);
	const struct policy_rule *r = rule_find(p, &s);
	if (!policy_allows(p, s.path))
		say_line(stdout, "%s: not among the policy's modules", s.path);
	else if (!r)
		say_line(stdout, "%s: allowed, no rule is about it", s.path);
	else
		say_line(stdout, "%s: %s by rule '%s' of line %u", s.path,
			 r->refuse ? "refused" : "allowed", r->name, r->line);
	free(path);
}

static void say_mistake(void *ctx, const char *text)
{
	say_line(stdout, "%s: %s", (const char *)ctx, text);
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && strcmp(name + n - k, end) == 0;
}

/* Files that look as if they were to add to the policy, but have another ending than it. */
static void say_ignored(FILE *f, const char *file)
{
	const char *base = strrchr(file, '/'), *dot = strrchr(base ? base : file, '.');
	char folder[PATH_MAX];
	DIR *d = dot && snprintf(folder, sizeof(folder), "%s.d", file) < (int)sizeof(folder)
			 ? opendir(folder) : NULL;

	for (struct dirent *e; d && (e = readdir(d)); )
		if (!ends_in(e->d_name, dot) &&
		    (ends_in(e->d_name, ".yml") || ends_in(e->d_name, ".yaml")))
			say_line(f, "%s/%s: not read, its name does not end in '%s'",
				 folder, e->d_name, dot);
	if (d)
		(void)closedir(d);	/* only read */
}

static int check(const char *file, int n, char **path)
{
	struct err err = { 0 };

	struct policy *p = read_policy(file, &err);
	if (!p) {
		say_line(stderr, "morphctl: %s", err.text);
		return err_exit_code(&err);
	}
	if (p->note)
		say_line(stdout, "%s", p->note);
	policy_mistakes(p, "", true, say_mistake, (void *)(uintptr_t)file);	/* only read */
	say_ignored(stdout, file);
	say_line(stdout, "%s: good", file);
	for (int i = 0; i < n; i++)
		say_of(p, path[i]);
	policy_free(p);
	return 0;
}

static int show(const struct ctl *ctl, const char *name)
{
	char *path = realpath(name, NULL);
	const char *request[] = { "rule", path ? path : name };
	int code = ctl_talk(ctl, 2, request);

	free(path);
	return code;
}

static int reload(const struct ctl *ctl)
{
	const char *request[] = { "reload" };
	char policy[PATH_MAX];
	int code = ctl_talk(ctl, 1, request);

	if (code == 0 && ctl_path_of(ctl, "policy", policy))
		say_ignored(stderr, policy);
	return code;
}

int ctl_policy(const struct ctl *ctl, int argc, char **argv)
{
	static const char *const known[] = { "check", "show", "reload", NULL };
	const char *request[] = { "policy" };

	if (argc == 2 && strcmp(argv[1], "show") == 0)
		return ctl_talk(ctl, 1, request);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(ctl, argv[2]);
	if (argc == 2 && strcmp(argv[1], "reload") == 0)
		return reload(ctl);
	if (argc < 2 || strcmp(argv[1], "show") == 0 || strcmp(argv[1], "reload") == 0)
		return ctl_usage(ctl);
	if (strcmp(argv[1], "check") != 0)
		return ctl_unknown_word(ctl, argv[1], known);
	return check(argc > 2 ? argv[2] : "/etc/morph.yaml", argc > 3 ? argc - 3 : 0, argv + 3);
}
