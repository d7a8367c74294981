/* tools.h - morph-edit and morph-verify, several at a time */
#ifndef MANAGER_TRY_TOOLS_H
#define MANAGER_TRY_TOOLS_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/err.h"

enum { TOOL_ARGUMENTS = 12 };

struct tool {
	const char *argv[TOOL_ARGUMENTS];	/* ends with NULL; [0] is the path; NULL: none,
						 * and it counts as one that succeeded */
	struct err err;		/* kind ERR_NONE: it succeeded */
	pid_t pid;		/* tools_run()'s, as is what follows */
	int pidfd, said;
};

/* Runs all of them, as many at a time as there are CPUs, and waits for their end.  -1 when we
 * are interrupted, after all have ended; what fails is in the tool. */
int tools_run(struct tool *tool, size_t n, struct err *err);

#endif
