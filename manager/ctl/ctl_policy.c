/* ctl_policy.c - morphctl policy check, which needs no daemon, policy show and reload */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/ctl/ctl.h"
#include "policy/policy.h"
#include "policy/rule.h"

enum { MAX_POLICY_BYTES = 1 << 20 };

static struct policy *read_policy(const char *path, struct err *err)
{
	struct policy *p = NULL;
	struct bytes text;

	int fd = io_open_read(path, err);
	if (fd < 0)
		return NULL;
	struct arena *a = arena_new();
	if (io_read_all(fd, MAX_POLICY_BYTES, a, &text, err) < 0)
		err_wrap(err, "'%s'", path);
	else
		p = policy_parse(text, path, err);
	arena_free(a);
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
	(void)printf("%s: ", s.path);
	if (!policy_allows(p, s.path))
		(void)printf("not among the policy's modules\n");
	else if (!r)
		(void)printf("allowed, no rule is about it\n");
	else
		(void)printf("%s by rule '%s' of line %u\n", r->refuse ? "refused" : "allowed",
			     r->name, r->line);
	free(path);
}

static int check(const char *file, int n, char **path)
{
	struct err err = { 0 };

	struct policy *p = read_policy(file, &err);
	if (!p) {
		(void)fprintf(stderr, "morphctl: %s\n", err.text);
		return err_exit_code(&err);
	}
	if (p->note)
		(void)printf("%s\n", p->note);
	(void)printf("%s: good\n", file);
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

int ctl_policy(const struct ctl *ctl, int argc, char **argv)
{
	const char *request[] = { "policy", "reload" };

	if (argc == 2 && strcmp(argv[1], "show") == 0)
		return ctl_talk(ctl, 1, request);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(ctl, argv[2]);
	if (argc == 2 && strcmp(argv[1], "reload") == 0)
		return ctl_talk(ctl, 1, request + 1);
	if (argc < 2 || strcmp(argv[1], "check") != 0)
		return ctl_usage(argv[0]);
	return check(argc > 2 ? argv[2] : "/etc/morph.yaml", argc > 3 ? argc - 3 : 0, argv + 3);
}
