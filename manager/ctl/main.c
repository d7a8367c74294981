/* main.c - morphctl: its own options, then the command */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/io.h"
#include "lib/say.h"
#include "lib/usage.h"
#include "manager/ctl/ctl.h"
#include "manager/ctl/screen.h"

/* Of every command; taken wherever they stand. */
static const char common[] = "--json --wide --no-pager --color=WHEN --socket=PATH";

static const char more[] =
	"--json prints tables for programs, --wide those for people with all columns; "
	"--color=auto, always or never is about their colours, --no-pager prints them "
	"without a pager. --version prints the version. A MODULE is a path or, if it is the "
	"only one of this name, a file name; a FUNCTION is a name, fn_ADDRESS or 0xADDRESS.";

static void help(FILE *f)
{
	unsigned width = screen_text_width();

	(void)fputs("usage: morphctl [OPTION]... [COMMAND ...]\n\n", f);
	screen_wrap(f, "Without a command: the machine on one screen.", 0, 0, width);
	(void)fputs("\n", f);
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		(void)fprintf(f, "  %s%s", c->name, *c->args ? " " : "");
		screen_wrap(f, c->args, (unsigned)strlen(c->name) + 3, 8, width);
		(void)fputs("        ", f);
		screen_wrap(f, c->help, 8, 8, width);
	}
	(void)fprintf(f, "\nOptions of all commands: %s\n", common);
	screen_wrap(f, more, 0, 0, width);
	(void)fputs(
		"Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused (with reason)\n", f);
}

static int usage(void)
{
	(void)fputs("usage: morphctl [OPTION]... COMMAND ...\n"
		    "'morphctl help' lists the commands\n", stderr);
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
	if (meant)
		say_line(stderr, "morphctl: unknown command '%s'; did you mean '%s'?", name,
			 meant);
	else
		say_line(stderr, "morphctl: unknown command '%s'; 'morphctl help' lists all",
			 name);
	return NULL;
}

static int show_help(const struct ctl *ctl)
{
	struct screen s;

	screen_open(&s, ctl);
	help(s.out);
	return screen_close(&s, 0);
}

static int help_of(const struct ctl_command *c)
{
	unsigned width = screen_text_width(), n = (unsigned)strlen(c->name) + 17;

	(void)printf("usage: morphctl %s%s", c->name, *c->args ? " " : "");
	screen_wrap(stdout, c->args, n, 8, width);
	screen_wrap(stdout, c->help, 0, 0, width);
	return 0;
}

static int help_command(const struct ctl *ctl, int argc, char **argv)
{
	if (argc < 2)
		return show_help(ctl);
	const struct ctl_command *c = find_command(argv[1]);
	return c ? help_of(c) : 2;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* Are there as many arguments that are no options as the command takes?  False: which one is
 * wrong is said. */
static bool check_words(const struct ctl_command *c, int argc, char **argv)
{
	bool options = true;		/* in front of "--" */
	int n = 0;

	for (int i = 1; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
			continue;
		}
		if (options && argv[i][0] == '-' && argv[i][1])
			continue;
		if (n++ == c->most) {
			say_line(stderr, "morphctl %s: unexpected argument '%s'", c->name,
				 argv[i]);
			return false;
		}
	}
	if (n < c->least)
		say_line(stderr, "morphctl %s: an argument is missing", c->name);
	return n >= c->least;
}

static bool take_colour(struct ctl *ctl, const char *when)
{
	static const char *const name[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++)
		if (strcmp(when, name[i]) == 0) {
			ctl->colour = (enum ctl_colour)i;
			return true;
		}
	say_line(stderr, "morphctl: --color: '%s' is not one of auto, always, never", when);
	return false;
}

/* An option of all commands that needs a value: 1 it is that one, *value is it; 0; -1 without
 * one. */
static int value_of(const char *name, int argc, char **argv, int *i, const char **value)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) != 0 || (argv[*i][n] && argv[*i][n] != '='))
		return 0;
	*value = argv[*i][n] ? argv[*i] + n + 1 : ++*i < argc ? argv[*i] : NULL;
	if (!*value)
		say_line(stderr, "morphctl: option '%s' needs a value", name);
	return *value ? 1 : -1;
}

/* Takes the options of all commands out, wherever they stand in front of "--"; -1 on wrong
 * usage. */
static int take_options(struct ctl *ctl, int argc, char **argv)
{
	const char *when;
	int n = 1, rc;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			while (i < argc)
				argv[n++] = argv[i++];
		} else if (strcmp(argv[i], "--json") == 0) {
			ctl->json = true;
		} else if (strcmp(argv[i], "--wide") == 0) {
			ctl->wide = true;
		} else if (strcmp(argv[i], "--no-pager") == 0) {
			ctl->no_pager = true;
		} else if ((rc = value_of("--color", argc, argv, &i, &when)) != 0) {
			if (rc < 0 || !take_colour(ctl, when))
				return -1;
		} else if ((rc = value_of("--socket", argc, argv, &i, &ctl->socket)) != 0) {
			if (rc < 0)
				return -1;
		} else {
			argv[n++] = argv[i];
		}
	}
	argv[n] = NULL;
	return n;
}

/* What stands in front of the command, or instead of it.  -1: there is a command. */
static int without_command(const struct ctl *ctl, int argc, char **argv)
{
	if (argc < 2)
		return ctl_overview(ctl);
	if (strcmp(argv[1], "--version") == 0) {
		(void)puts("morphctl " MORPH_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return show_help(ctl);
	if (argv[1][0] != '-')
		return -1;
	return usage_check("morphctl", "[--help] [--version]", common, &argc, argv) ? usage()
										   : 2;
}

static int run(int argc, char **argv)
{
	struct ctl ctl = { .socket = "/run/morph/control.sock" };
	char who[64];

	opterr = 0;		/* it would print the option as it is; the usage line tells */
	argc = take_options(&ctl, argc, argv);
	int code = argc < 0 ? 2 : without_command(&ctl, argc, argv);
	if (code >= 0)
		return code;
	ctl.command = find_command(argv[1]);
	if (!ctl.command)
		return 2;
	argc--;
	argv++;
	if (wants_help(argc, argv))
		return help_of(ctl.command);
	(void)snprintf(who, sizeof(who), "morphctl %s", ctl.command->name);	/* fits */
	if (!usage_check(who, ctl.command->args, common, &argc, argv) ||
	    !check_words(ctl.command, argc, argv))
		return ctl_usage(&ctl);
	return (ctl.command->run ? ctl.command->run : help_command)(&ctl, argc, argv);
}

int main(int argc, char **argv)
{
	io_hold_standard();
	int code = run(argc, argv);

	if (fflush(stdout) != 0 && errno != EPIPE && !code) {
		say_line(stderr, "morphctl: standard output: %s", strerror(errno));
		code = 1;
	}
	return code;
}
