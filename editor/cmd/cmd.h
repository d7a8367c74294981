/* cmd.h - the commands of morph-edit; one file each, cmd_NAME.c */
#ifndef EDITOR_CMD_CMD_H
#define EDITOR_CMD_CMD_H

#include <getopt.h>
#include <stdint.h>

struct cmd {
	const char *name;
	const char *args;
	const char *help;
	/* argv[0] is the command; returns the exit code */
	int (*run)(int argc, char **argv);
};

extern const struct cmd commands[];		/* ends with name == NULL */

int cmd_analyze(int argc, char **argv);
int cmd_optimize(int argc, char **argv);
int cmd_infer(int argc, char **argv);
int cmd_interpret(int argc, char **argv);
int cmd_instrument(int argc, char **argv);
int cmd_counts(int argc, char **argv);
int cmd_derived(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_extract_map(int argc, char **argv);
int cmd_symbols(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_disassemble(int argc, char **argv);

/* Prints "usage: morph-edit NAME ARGS" on stderr; returns 2. */
int cmd_usage(const char *name);
/* Hexadecimal with 0x, or decimal.  -1 (and a message) when `text` is no such number. */
int cmd_number(const char *option, const char *text, uint64_t max, uint64_t *out);

#endif
