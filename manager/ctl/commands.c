/* commands.c - the table of morphctl's commands, and those that only pass a request on */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/work/answer.h"
#include "manager/ctl/ctl.h"

const struct ctl_command ctl_commands[] = {
	{ "status", "[--sync]",
	  "sampling, samples by kind, idle conditions, processes; --sync takes "
	  "in the spool first",
	  ctl_status },
	{ "list", "", "modules with their samples, generations and state", ctl_ask },
	{ "report", "[MODULE] [--limit=N]", "modules and their procedures by samples",
	  ctl_ask_module },
	{ "annotate", "MODULE FUNCTION", "a function's blocks and instructions with samples",
	  ctl_ask_module },
	{ "explain", "MODULE", "why functions of a module are left as they are",
	  ctl_ask_module },
	{ "reoptimize", "PATH... [--dry-run] [--wait]",
	  "lays modules out anew and swaps them in; --dry-run stops before that,\n"
	  "        --wait begins once the machine is idle",
	  ctl_ask_paths },
	{ "restore", "PATH... [--force] | --all",
	  "puts originals back; --force: also where somebody edited the generation",
	  ctl_ask_paths },
	{ "verify", "PATH... | --all | --packages[=ROOT]",
	  "proves anew that generations are their originals; --packages: that the originals "
	  "of\n"
	  "        rewritten files are what packages delivered",
	  ctl_verify },
	{ "look", "", "looks whether modules were replaced by other files", ctl_ask },
	{ "pause", "", "stops sampling", ctl_ask },
	{ "resume", "", "goes on sampling", ctl_ask },
	{ "history", "[PATH]", "what was done to modules, newest first", ctl_ask_module },
	{ "report-bug", "PATH",
	  "where the report of a generation that crashed is: a tar archive with\n"
	  "        all that its developers need",
	  ctl_ask_module },
	{ "policy", "check [FILE [PATH...]] | show [PATH] | reload",
	  "checks a policy (no daemon needed), shows the one in use, reads it anew;\n"
	  "        with PATH: which rule is about it",
	  ctl_policy },
	{ "record",
	  "-o LOG [--clock=NAME] [--rate=HZ] [--registers[=STACKBYTES] [--memory]]\n"
	  "        -- COMMAND...",
	  "samples one command into a log (no daemon needed); --registers: with what its "
	  "registers\n"
	  "        hold, --memory: and point to, for edges",
	  ctl_record },
	{ "profile", "LOG -o DIR [--store=DIR]",
	  "makes block profiles of a log, or of counts (no daemon needed)", ctl_profile },
	{ NULL, NULL, NULL, NULL }
};

int ctl_usage(const char *name)
{
	for (const struct ctl_command *c = ctl_commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			(void)fprintf(stderr, "usage: morphctl %s %s\n", c->name, c->args);
	return 2;
}

int ctl_ask(const struct ctl *ctl, int argc, char **argv)
{
	const char *arg[ANSWER_MAX_ARGS];

	if (argc > ANSWER_MAX_ARGS) {
		(void)fprintf(stderr, "morphctl: more than %d arguments\n", ANSWER_MAX_ARGS);
		return 2;
	}
	for (int i = 0; i < argc; i++)
		arg[i] = argv[i];
	return ctl_talk(ctl, argc, arg);
}

/* Makes argv[from..to) absolute where they are paths: the daemon works in another folder.  A
 * file that is gone keeps its name; the daemon may know it. */
static int ask_absolute(const struct ctl *ctl, int argc, char **argv, int to, bool all)
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
		} else if (argv[i][0] != '/') {
			(void)fprintf(stderr, "morphctl: '%s': no such file\n", argv[i]);
			goto out;
		}
	}
	code = ctl_ask(ctl, argc, copy);
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
		return ctl_usage(argv[0]);
	return ask_absolute(ctl, argc, argv, argc, true);
}

int ctl_ask_module(const struct ctl *ctl, int argc, char **argv)
{
	return ask_absolute(ctl, argc, argv, 2, false);
}

int ctl_status(const struct ctl *ctl, int argc, char **argv)
{
	const char *request = "status";

	if (argc == 2 && strcmp(argv[1], "--sync") == 0)
		request = "sync";
	else if (argc != 1)
		return ctl_usage(argv[0]);
	return ctl_talk(ctl, 1, &request);
}
