/* ctl.h - morphctl: the commands, one file a group */
#ifndef MANAGER_CTL_CTL_H
#define MANAGER_CTL_CTL_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct ctl_command;
struct table;

/* Of what --json prints, doc/morphctl.schema.json: it rises when a name, a unit or a meaning
 * changes or goes, not when something is added. */
enum { CTL_JSON_VERSION = 1 };

enum ctl_colour { CTL_COLOUR_AUTO, CTL_COLOUR_ALWAYS, CTL_COLOUR_NEVER };

struct ctl {
	const struct ctl_command *command;	/* the one that runs */
	const char *socket;
	bool json, no_pager, wide;
	enum ctl_colour colour;
	FILE *errors;		/* where the daemon's go; NULL: standard error */
	bool quiet;		/* sentences beside tables are not shown */
};

/* argv[0] is the name; gives the exit code. */
typedef int (*ctl_run)(const struct ctl *ctl, int argc, char **argv);

struct ctl_command {
	const char *name;
	int least, most;	/* arguments that are no options; most < 0: any number */
	const char *args;
	const char *help;
	ctl_run run;		/* NULL: main.c has it, which knows all commands */
};

extern const struct ctl_command ctl_commands[];		/* ends with name == NULL */

int ctl_overview(const struct ctl *ctl);	/* without a command */
int ctl_ask(const struct ctl *ctl, int argc, char **argv);	/* request as it is given */
int ctl_ask_alone(const struct ctl *ctl, int argc, char **argv);	/* its name alone */
/* paths made absolute */
int ctl_ask_paths(const struct ctl *ctl, int argc, char **argv);
int ctl_ask_module(const struct ctl *ctl, int argc, char **argv);	/* the first one, if it
									 * is a path */
int ctl_of_module(const struct ctl *ctl, int argc, char **argv, ctl_run ask);	/* likewise */
int ctl_list(const struct ctl *ctl, int argc, char **argv);
int ctl_keep(const struct ctl *ctl, int argc, char **argv);
int ctl_undo(const struct ctl *ctl, int argc, char **argv);
int ctl_status(const struct ctl *ctl, int argc, char **argv);
int ctl_policy(const struct ctl *ctl, int argc, char **argv);
int ctl_auto(const struct ctl *ctl, int argc, char **argv);
int ctl_record(const struct ctl *ctl, int argc, char **argv);
int ctl_profile(const struct ctl *ctl, int argc, char **argv);
int ctl_live(const struct ctl *ctl, int argc, char **argv);
int ctl_import(const struct ctl *ctl, int argc, char **argv);
int ctl_export(const struct ctl *ctl, int argc, char **argv);
int ctl_annotate(const struct ctl *ctl, int argc, char **argv);
int ctl_report(const struct ctl *ctl, int argc, char **argv);
int ctl_cfg(const struct ctl *ctl, int argc, char **argv);
int ctl_stats(const struct ctl *ctl, int argc, char **argv);
int ctl_diff(const struct ctl *ctl, int argc, char **argv);
int ctl_metrics(const struct ctl *ctl, int argc, char **argv);
int ctl_saved(const struct ctl *ctl, int argc, char **argv);
int ctl_try(const struct ctl *ctl, int argc, char **argv);
int ctl_share(const struct ctl *ctl, int argc, char **argv);
int ctl_verify(const struct ctl *ctl, int argc, char **argv);

/* Prints "usage: morphctl NAME ARGS" of the command on stderr; returns 2. */
int ctl_usage(const struct ctl *ctl);
/* The same, after that the word is none of those known (NULL at the end), and which was
 * probably meant. */
int ctl_unknown_word(const struct ctl *ctl, const char *word, const char *const *known);
/* Says "OPTION: 'VALUE' is WHAT"; returns 2. */
int ctl_wrong(const struct ctl *ctl, const char *option, const char *value, const char *what);
/* Says that morph-edit is not where it is looked for; returns 1. */
int ctl_without_edit(void);

/* Is there a daemon that answers within that time? */
bool ctl_answers(const struct ctl *ctl, int seconds);

/* Sends the request, prints the answer; the exit code. */
int ctl_talk(const struct ctl *ctl, int argc, const char *const *argv);

enum { CTL_MAX_TABLES = 32 };

struct ctl_tables {
	struct table *at[CTL_MAX_TABLES];
	int n;
	bool whole;		/* the answer came to its end */
};

/* The same, but the tables are not printed: they are the caller's to free, also after a
 * failure. */
int ctl_fetch(const struct ctl *ctl, int argc, const char *const *argv, struct ctl_tables *out);
void ctl_tables_free(struct ctl_tables *t);
/* What the daemon's status says of `item`, an absolute path; false: it says none. */
bool ctl_path_of(const struct ctl *ctl, const char *item, char path[PATH_MAX]);
/* Prints and frees them; returns `code`, or 1 if that fails. */
int ctl_print(const struct ctl *ctl, struct ctl_tables *t, int code);

#endif
