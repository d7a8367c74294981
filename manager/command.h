/* command.h - the requests that the daemon understands, one a line of a table */
#ifndef MANAGER_COMMAND_H
#define MANAGER_COMMAND_H

#include <stdbool.h>

struct client;
struct work;

struct command {
	const char *name;
	int min_args, max_args;		/* behind the name; max -1: any number */
	bool change;			/* only for who may change something */
	bool slow;			/* waits its turn: it asks the parent, or takes long */
	/* Answers but for the end; the exit code. */
	int (*run)(struct work *w, struct client *cl, int argc, const char *const *argv);
};

/* NULL: no such request, or a wrong number of arguments; *why says which. */
const struct command *command_find(int argc, const char *const *argv, const char **why);

#endif
