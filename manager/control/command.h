/* command.h - the requests that the daemon understands: a table with one line for each */
#ifndef MANAGER_CONTROL_COMMAND_H
#define MANAGER_CONTROL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct client;
struct work;

enum command_for {
	FOR_ALL,	/* names programs, and sums over users, by access.h only */
	FOR_OWNERS,	/* of the programs named (access.h) */
	FOR_TRUSTED,
};

struct command {
	const char *name;
	int min_args, max_args;		/* after the name; max -1: any number */
	enum command_for who;
	bool slow;			/* waits its turn: it asks the parent, or takes long */
	bool jobs;			/* what it does is not undoing: work_budget() holds */
	/* Answers but for the end; the exit code. */
	int (*run)(struct work *w, struct client *cl, int argc, const char *const *argv);
};

/* NULL: no such request, or a wrong number of arguments; *why says which. */
const struct command *command_find(int argc, const char *const *argv, const char **why);

/* The table; NULL behind its end. */
const struct command *command_at(size_t i);

#endif
