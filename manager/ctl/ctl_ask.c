/* ctl_ask.c - the commands of morphctl that only pass a request on to the daemon */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/say.h"
#include "lib/table.h"
#include "manager/ctl/ctl.h"
#include "manager/work/answer.h"

int ctl_usage(const struct ctl *ctl)
{
	(void)fprintf(stderr, "usage: morphctl %s %s\n", ctl->command->name,
		      ctl->command->args);
	return 2;
}

int ctl_without_edit(void)
{
	(void)fputs("morphctl: morph-edit is not beside morphctl\n", stderr);
	return 1;
}

int ctl_ask(const struct ctl *ctl, int argc, char **argv)
{
	const char *arg[ANSWER_MAX_ARGS];

	if (argc > ANSWER_MAX_ARGS) {
		say_line(stderr, "morphctl: more than %d arguments", ANSWER_MAX_ARGS);
		return 2;
	}
	for (int i = 0; i < argc; i++)
		arg[i] = argv[i];
	return ctl_talk(ctl, argc, arg);
}

int ctl_ask_alone(const struct ctl *ctl, int argc, char **argv)
{
	if (argc == 1)
		return ctl_ask(ctl, argc, argv);
	say_line(stderr, "morphctl %s: unexpected argument '%s'", ctl->command->name,
		 argv[1]);
	return ctl_usage(ctl);
}

/* Makes argv[from..to) absolute where they are paths: the daemon works in another folder.  A
 * file that is gone keeps its name; the daemon may know it. */
static int ask_absolute(const struct ctl *ctl, int argc, char **argv, int to, bool all,
			ctl_run ask)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	int code = 1;

	if (!copy)
		return 1;
	for (int i = 0; i < argc; i++) {
		copy[i] = argv[i];
		if (i == 0 || i >= to || argv[i][0] == '-' || (!all && !strchr(argv[i], '/')))
			continue;
		char *path = realpath(argv[i], NULL);
		if (path) {
			copy[i] = path;
		} else if (argv[i][0] != '/' && argv[i][0] != '[') {	/* as rows begin */
			say_line(stderr, "morphctl: '%s': no such file", argv[i]);
			goto out;
		}
	}
	code = ask(ctl, argc, copy);
out:
	for (int i = 0; i < argc; i++)
		if (copy[i] != argv[i])
			free(copy[i]);
	free(copy);
	return code;
}

int ctl_ask_paths(const struct ctl *ctl, int argc, char **argv)
{
	if (argc < 2)
		return ctl_usage(ctl);
	return ask_absolute(ctl, argc, argv, argc, true, ctl_ask);
}

int ctl_ask_module(const struct ctl *ctl, int argc, char **argv)
{
	return ask_absolute(ctl, argc, argv, 2, false, ctl_ask);
}

int ctl_of_module(const struct ctl *ctl, int argc, char **argv, ctl_run ask)
{
	return ask_absolute(ctl, argc, argv, 2, false, ask);
}

/* Of the answer only what is wrong: 1 if there is an error among it. */
static int keep_problems(struct ctl_tables *t)
{
	int n = 0, code = 0;

	for (int i = 0; i < t->n; i++)
		if (strcmp(table_title(t->at[i]), "problems") == 0)
			t->at[n++] = t->at[i];
		else
			table_free(t->at[i]);
	t->n = n;
	for (int row = 0; n && row < table_nrow(t->at[0]); row++)
		code = code || strcmp(table_cell(t->at[0], row, 0), "error") == 0;
	return code;
}

static int check_status(const struct ctl *ctl, const char *request)
{
	struct ctl_tables t;
	int code = ctl_fetch(ctl, 1, &request, &t);

	if (code == 0) {
		code = keep_problems(&t);
		if (!t.n && !ctl->json)
			say_line(stdout, "nothing is wrong");
	}
	return ctl_print(ctl, &t, code);
}

int ctl_status(const struct ctl *ctl, int argc, char **argv)
{
	const char *request = "status";
	bool check = false;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--sync") == 0)
			request = "sync";
		else if (strcmp(argv[i], "--check") == 0)
			check = true;
		else
			return ctl_ask_alone(ctl, argc - i + 1, argv + i - 1);
	return check ? check_status(ctl, request) : ctl_talk(ctl, 1, &request);
}
