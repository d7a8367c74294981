/* main.c - morph-edit: the Editor as a program
 *
 * Every command is one confined job (lib/confinedjob.h): it gets files, or descriptors as
 * "fd:N", and can do nothing else.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "editor/cmd/cmd.h"
#include "lib/io.h"
#include "lib/say.h"
#include "lib/usage.h"

static const struct cmd {
	const char *name;
	const char *args;		/* of the usage line */
	const char *help;		/* one line */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "analyze", "FILE [--json] [--jumps] [--table OUT] [--signature OUT] [--profile P]",
	  "functions, blocks, coverage, reasons; writes block table and signature",
	  cmd_analyze },
	{ "optimize",
	  "FILE -o OUT [--profile P [--counted C]] [--all] [--passes=LIST]\n"
	  "                    [--shuffle=SEED] [--keep-pointers] [--text-at=ADDRESS]\n"
	  "                    [--generation=N] [--map OUT] [--stats OUT]\n"
	  "                    [--print-after=PASS] [--processor=NAME] [--report[=OUT]]",
	  "writes a generation of FILE", cmd_optimize },
	{ "infer", "FILE --profile P [--counted C] -o COUNTS [--stats OUT]",
	  "writes what is made of a profile: executions of blocks and edges", cmd_infer },
	{ "report", "FILE --profile P [--compare OTHER] [--json]",
	  "figures of the layout of FILE, and of another layout of it", cmd_report },
	{ "interpret",
	  "FILE STATES -o EDGES [--original ORIGINAL] [--stats OUT] [--branches N]\n"
	  "                    [--executions]",
	  "edges that samples with registers, or branch stacks, show", cmd_interpret },
	{ "inherit", "FILE --signature S --profile P -o OUT [--json]",
	  "the profile of another version of FILE, whose signature S is, for FILE",
	  cmd_inherit },
	{ "instrument",
	  "FILE -o OUT [--counts COUNTS] [--threads | --private] [--stats OUT]\n"
	  "                    [--profile P [--uncertain PERCENT]] [--text-at=ADDRESS]",
	  "writes a generation that counts every block and edge in COUNTS (OUT.counts)",
	  cmd_instrument },
	{ "counts", "FILE COUNTS -o PROFILE", "the exact profile of FILE that COUNTS holds",
	  cmd_counts },
	{ "derived", "ORIGINAL FILE MAP",
	  "exit code 0 only if FILE was once the generation of ORIGINAL with that block map",
	  cmd_derived },
	{ "debugfile", "ORIGINAL GENERATION [--debug FILE] -o OUT",
	  "writes a separate debug file of a generation: names, lines, variables",
	  cmd_debugfile },
	{ "map", "GENERATION ADDRESS... [--reverse] [--json]",
	  "generation address -> original address, or back", cmd_map },
	{ "extract-map", "GENERATION OUT", "writes the block map of a generation to a file",
	  cmd_extract_map },
	{ "build-id", "FILE", "prints the build-id of a file", cmd_build_id },
	{ "catches", "FILE",
	  "tells whether code of a file may catch exceptions that come through others'",
	  cmd_catches },
	{ "symbols", "FILE [--debug FILE]", "addresses, sizes and names of functions",
	  cmd_symbols },
	{ "export",
	  "FILE --profile P [--counted C] --format=fdata|preagg|yaml|dot|calls|\n"
	  "                    flow|flowdot|flow-placed|flowdot-placed\n"
	  "                    [--function=ADDRESS] -o OUT",
	  "executions for llvm-bolt, calls, a graph of them, or of a function's flow",
	  cmd_export },
	{ "foreign", "FILE TEXT -o PROFILE",
	  "the profile that fdata or pre-aggregated text of llvm-bolt holds", cmd_foreign },
	{ "annotate",
	  "FILE SAMPLES --function=ADDRESS [--counts PROFILE [--cycles=THOUSANDTHS] |\n"
	  "                    --counted C] -o OUT",
	  "where the cycles of a function go, by instruction, and why", cmd_annotate },
	{ "picture",
	  "FILE SAMPLES [--functions=N] [--counts PROFILE | --generation FILE] -o OUT",
	  "what a page shows of a program: the hottest functions, lines before and after",
	  cmd_picture },
	{ "code-names", "FILE PLACES -o OUT",
	  "names of code that a program has made at run time, by what it wrote of it",
	  cmd_code_names },
	{ "places", "FILE PLACES [--debug FILE] -o OUT",
	  "function, block, source line and inlined calls of addresses", cmd_places },
	{ "unwind-rows", "FILE -o OUT",
	  "the unwind rows of a file, as unwind takes them", cmd_unwind_rows },
	{ "unwind", "ROWS SAMPLES -o OUT",
	  "the callers on pieces of stacks, by the rows of files", cmd_unwind },
	{ "placed", "ORIGINAL GENERATION BLOCKS -o OUT",
	  "where blocks of the original lie in a generation, and what they are there",
	  cmd_placed },
	{ "disassemble", "FILE --start=ADDRESS --size=N", "prints instructions",
	  cmd_disassemble },
	{ NULL, NULL, NULL, NULL }
};

static void help(FILE *f)
{
	(void)fputs("usage: morph-edit COMMAND ...\n\nFiles may be given as fd:N, an inherited "
		    "descriptor.\n\n", f);
	for (const struct cmd *c = commands; c->name; c++)
		(void)fprintf(f, "  %s %s\n        %s\n", c->name, c->args, c->help);
	(void)fputs(
		"\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 refused (the reason is on "
		"standard error)\n",
		f);
}

static int usage(const struct cmd *c)
{
	(void)fprintf(stderr, "usage: morph-edit %s %s\n", c->name, c->args);
	return 2;
}

static int run(const struct cmd *c, int argc, char **argv)
{
	char who[64];

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			(void)printf("usage: morph-edit %s %s\n%s\n", c->name, c->args,
				     c->help);
			return 0;
		}
	(void)snprintf(who, sizeof(who), "morph-edit %s", c->name);	/* fits */
	if (!usage_check(who, c->args, NULL, &argc, argv))
		return usage(c);
	int code = c->run(argc, argv);
	return code == CMD_USAGE ? usage(c) : code;
}

static const struct cmd *find_command(const char *name)
{
	struct usage_meant m = { name, UINT_MAX };
	const char *meant = NULL;

	for (const struct cmd *c = commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
		if (usage_is_nearer(&m, c->name))
			meant = c->name;
	}
	if (meant)
		say_line(stderr, "morph-edit: unknown command '%s'; did you mean '%s'?", name,
			 meant);
	else
		say_line(stderr,
			 "morph-edit: unknown command '%s'; 'morph-edit --help' lists all",
			 name);
	return NULL;
}

int main(int argc, char **argv)
{
	static char help_option[] = "--help";

	io_hold_standard();
	opterr = 0;		/* it would print the option as it is; the usage line tells */
	if (argc < 2) {
		(void)fputs("usage: morph-edit COMMAND ...\n"
			    "'morph-edit --help' lists the commands\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (strcmp(argv[1], "help") == 0 && argc == 2)) {
		help(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)puts("morph-edit " MORPH_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "help") == 0) {
		argv[1] = argv[2];
		argv[2] = help_option;
	}
	if (argv[1][0] == '-' &&
	    !usage_check("morph-edit", "", "[--help] [--version]", &argc, argv))
		return 2;
	const struct cmd *c = find_command(argv[1]);
	return c ? run(c, argc - 1, argv + 1) : 2;
}
