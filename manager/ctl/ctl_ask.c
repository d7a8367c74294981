/* ctl_ask.c - the commands of morphctl that only pass a request on to the daemon */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "lib/say.h"
#include "lib/table.h"
#include "lib/usage.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/screen.h"
#include "manager/work/answer.h"

int ctl_usage(const struct ctl *ctl)
{
	const struct ctl_command *c = ctl->command;
	unsigned n = (unsigned)strlen(c->name) + 17;

	(void)fprintf(stderr, "usage: morphctl %s%s", c->name, *c->args ? " " : "");
	screen_wrap(stderr, c->args, n, 8, screen_width_of(stderr));
	return 2;
}

int ctl_unknown_word(const struct ctl *ctl, const char *word, const char *const *known)
{
	struct usage_meant m = { word, UINT_MAX };
	const char *meant = NULL;

	for (int i = 0; known[i]; i++)
		if (usage_is_nearer(&m, known[i]))
			meant = known[i];
	if (meant)
		say_line(stderr, "morphctl %s: unknown word '%s'; did you mean '%s'?",
			 ctl->command->name, word, meant);
	else
		say_line(stderr, "morphctl %s: unknown word '%s'", ctl->command->name, word);
	return ctl_usage(ctl);
}

int ctl_wrong(const struct ctl *ctl, const char *option, const char *value, const char *what)
{
	say_line(stderr, "morphctl %s: %s: '%s' is %s", ctl->command->name, option, value,
		 what);
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
	(void)argc;
	return ctl_ask(ctl, 1, argv);
}

/* Words in front, options behind them: these may stand anywhere, up to "--", which is taken
 * out.  How many arguments there are; *nword: of these words, argv[0] not counted. */
static int words_first(int argc, char **argv, char **out, int *nword)
{
	int n = 1, options = 1;

	out[0] = argv[0];
	while (options < argc && strcmp(argv[options], "--") != 0)
		options++;
	for (int i = 1; i < argc; i++)
		if (i > options || (i < options && argv[i][0] != '-'))
			out[n++] = argv[i];
	*nword = n - 1;
	for (int i = 1; i < options; i++)
		if (argv[i][0] == '-')
			out[n++] = argv[i];
	return n;
}

/* Makes words absolute where they are paths, all or the first one: the daemon works in another
 * folder.  A file that is gone keeps its name; the daemon may know it. */
static int ask_absolute(const struct ctl *ctl, int argc, char **argv, bool all, ctl_run ask)
{
	char **copy = memory_new(2 * (size_t)argc + 1, sizeof(*copy)), **made = copy + argc + 1;
	int nword, nmade = 0, code = 0;

	argc = words_first(argc, argv, copy, &nword);
	for (int i = 1; i <= (all || !nword ? nword : 1) && !code; i++) {
		const char *given = copy[i];
		if (!all && !strchr(given, '/'))
			continue;
		char *path = realpath(given, NULL);
		if (path) {
			copy[i] = made[nmade++] = path;
		} else if (given[0] != '/' && given[0] != '[') {	/* as rows begin */
			say_line(stderr, "morphctl: '%s': no such file", given);
			code = 1;
		}
	}
	if (!code)
		code = ask(ctl, argc, copy);
	while (nmade > 0)
		free(made[--nmade]);
	free(copy);
	return code;
}

int ctl_ask_paths(const struct ctl *ctl, int argc, char **argv)
{
	if (argc < 2)
		return ctl_usage(ctl);
	return ask_absolute(ctl, argc, argv, true, ctl_ask);
}

int ctl_ask_module(const struct ctl *ctl, int argc, char **argv)
{
	return ask_absolute(ctl, argc, argv, false, ctl_ask);
}

int ctl_of_module(const struct ctl *ctl, int argc, char **argv, ctl_run ask)
{
	return ask_absolute(ctl, argc, argv, false, ask);
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
	return check ? check_status(ctl, request) : ctl_talk(ctl, 1, &request);
}
