/* main.c - morphctl: its own options, then the command */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "manager/ctl/ctl.h"

static void help(FILE *f)
{
	(void)fputs("usage: morphctl [--socket PATH] [--json] COMMAND ...\n\n", f);
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

static const struct ctl_command *find_command(const char *name)
{
	for (const struct ctl_command *c = ctl_commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	const char *meant = ctl_meant(name);

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
		if (strcmp(argv[i], "--help") == 0)
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
			if (++i == argc)
				return -1;
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

int main(int argc, char **argv)
{
	struct ctl ctl = { .socket = "/run/morph/control.sock" };

	opterr = 0;		/* it would print the option as it is; the usage line tells */
	argc = take_options(&ctl, argc, argv);
	if (argc < 2) {
		help(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)puts("morphctl " MORPH_VERSION);
		return 0;
	}
	bool asks = strcmp(argv[1], "help") == 0;

	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (asks && argc == 2)) {
		help(stdout);
		return 0;
	}
	ctl.command = find_command(argv[asks ? 2 : 1]);
	if (!ctl.command)
		return 2;
	argc--;
	argv++;
	if (asks || wants_help(argc, argv))
		return help_of(ctl.command);
	if (!ctl_check_options(ctl.command, &argc, argv))
		return ctl_usage(&ctl);
	return ctl.command->run(&ctl, argc, argv);
}
