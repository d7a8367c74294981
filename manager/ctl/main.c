/* main.c - morphctl: its own options, then the command */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/usage.h"
#include "manager/ctl/ctl.h"

/* Of every command; taken wherever they stand. */
static const char common[] = "[--json] [--socket=PATH]";

static void help(FILE *f)
{
	(void)fprintf(f, "usage: morphctl %s COMMAND ...\n\n", common);
	for (const struct ctl_command *c = ctl_commands; c->name; c++)
		(void)fprintf(f, "  %s %s\n        %s\n", c->name, c->args, c->help);
	(void)fputs(
		"  help [COMMAND]\n        this, or what is said of one command\n"
		"\n--json prints tables for programs.  A MODULE is a path or, if it is the "
		"only "
		"one of this\nname, a file name; a FUNCTION is a name, fn_ADDRESS or 0xADDRESS."
		"\n--version prints the version."
		"\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 refused (with the reason)\n",
		f);
}

static int usage(void)
{
	(void)fprintf(stderr, "usage: morphctl %s COMMAND ...\n"
		      "'morphctl help' lists the commands\n", common);
	return 2;
}

static const struct ctl_command *find_command(const char *name)
{
	struct usage_meant m = { name, UINT_MAX };
	const char *meant = NULL;

	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
		if (usage_is_nearer(&m, c->name))
			meant = c->name;
	}
	if (usage_is_nearer(&m, "help"))
		meant = "help";
	if (meant)
		say_line(stderr, "morphctl: unknown command '%s'; did you mean '%s'?", name,
			 meant);
	else
		say_line(stderr, "morphctl: unknown command '%s'; 'morphctl help' lists all",
			 name);
	return NULL;
}

static int help_of(const struct ctl_command *c)
{
	(void)printf("usage: morphctl %s %s\n%s\n", c->name, c->args, c->help);
	return 0;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* Takes --json and --socket out, wherever they stand in front of "--"; -1 on wrong usage. */
static int take_options(struct ctl *ctl, int argc, char **argv)
{
	int n = 1;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			while (i < argc)
				argv[n++] = argv[i++];
		} else if (strcmp(argv[i], "--json") == 0) {
			ctl->json = true;
		} else if (strcmp(argv[i], "--socket") == 0) {
			if (++i == argc) {
				say_line(stderr, "morphctl: option '--socket' needs a value: "
					 "--socket=PATH");
				return -1;
			}
			ctl->socket = argv[i];
		} else if (strncmp(argv[i], "--socket=", 9) == 0) {
			ctl->socket = argv[i] + 9;
		} else {
			argv[n++] = argv[i];
		}
	}
	argv[n] = NULL;
	return n;
}

/* What stands in front of the command, or instead of it.  -1: there is a command. */
static int without_command(int argc, char **argv)
{
	if (argc < 2)
		return usage();
	if (strcmp(argv[1], "--version") == 0) {
		(void)puts("morphctl " MORPH_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (strcmp(argv[1], "help") == 0 && argc == 2)) {
		help(stdout);
		return 0;
	}
	if (argv[1][0] != '-')
		return -1;
	return usage_check("morphctl", "[--help] [--version]", common, &argc, argv) ? usage()
										   : 2;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { .socket = "/run/morph/control.sock" };
	char who[64];

	opterr = 0;		/* it would print the option as it is; the usage line tells */
	argc = take_options(&ctl, argc, argv);
	int code = argc < 0 ? 2 : without_command(argc, argv);
	if (code >= 0)
		return code;
	bool asks = strcmp(argv[1], "help") == 0;

	ctl.command = find_command(argv[asks ? 2 : 1]);
	if (!ctl.command)
		return 2;
	argc--;
	argv++;
	if (asks || wants_help(argc, argv))
		return help_of(ctl.command);
	(void)snprintf(who, sizeof(who), "morphctl %s", ctl.command->name);	/* fits */
	if (!usage_check(who, ctl.command->args, common, &argc, argv))
		return ctl_usage(&ctl);
	return ctl.command->run(&ctl, argc, argv);
}
