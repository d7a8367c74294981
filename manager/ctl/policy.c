/* policy.c - morphctl policy check, which needs no daemon, policy show and reload */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"
#include "manager/ctl/ctl.h"
#include "policy/policy.h"

enum { MAX_POLICY_BYTES = 1 << 20 };

static int check(const char *path, struct err *err)
{
	struct policy *p = NULL;
	struct bytes text;

	int fd = io_open_read(path, err);
	if (fd < 0)
		return -1;
	struct arena *a = arena_new();
	if (io_read_all(fd, MAX_POLICY_BYTES, a, &text, err) < 0)
		err_wrap(err, "'%s'", path);
	else
		p = policy_parse(text, path, err);
	arena_free(a);
	close(fd);
	if (!p)
		return -1;
	policy_free(p);
	return 0;
}

int ctl_policy(const struct ctl *ctl, int argc, char **argv)
{
	const char *request[] = { "policy", "reload" };
	struct err err = { 0 };

	if (argc == 2 && strcmp(argv[1], "show") == 0)
		return ctl_talk(ctl, 1, request);
	if (argc == 2 && strcmp(argv[1], "reload") == 0)
		return ctl_talk(ctl, 1, request + 1);
	if (argc < 2 || argc > 3 || strcmp(argv[1], "check") != 0)
		return ctl_usage(argv[0]);
	const char *path = argc == 3 ? argv[2] : "/etc/morph.yaml";
	if (check(path, &err) < 0) {
		(void)fprintf(stderr, "morphctl: %s\n", err.text);
		return err_exit_code(&err);
	}
	(void)printf("%s: good\n", path);
	return 0;
}
