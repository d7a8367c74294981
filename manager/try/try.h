/* try.h - is a command faster with new layouts of what it runs, and does it do the same?
 *
 * No daemon, no privileges, nothing kept: see try.c.
 */
#ifndef MANAGER_TRY_TRY_H
#define MANAGER_TRY_TRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/table.h"

/* What came out, while the trial's files are still there. */
enum { TRY_SHOWN_MAX = 16 };
struct try_shown {
	struct table *const *table;	/* [ntable]: modules, verdict */
	int ntable;
	const char *log;		/* the samples of the first run; NULL: none */
	const char *morph_edit;
	struct try_counted {
		const char *module, *profile;	/* paths; exact counts */
	} counted[TRY_SHOWN_MAX];
	uint32_t ncounted;
};

struct try_options {
	char *const *argv;		/* the command, looked up in PATH */
	const char *prepare;		/* run before each run; NULL: nothing */
	const char *const *output;	/* files to compare, [noutput] */
	unsigned noutput;
	bool repeatable;		/* it may be run many times where it writes */
	double time_s;			/* that all may take */
	const char *morph_edit, *morph_verify;	/* the programs */
	/* folder that gets the profiles, if it was faster; NULL: they go */
	const char *save;
	struct table_look look;		/* of what is told at the end */
	/* called besides at the end; -1: it failed, and has said why; NULL: nothing is */
	int (*show)(void *ctx, const struct try_shown *shown);
	void *ctx;
};

struct try_process_options {
	pid_t pid;
	const char *count;	/* command that prints how much it has done; NULL: none */
	double time_s;		/* that all may take */
	double burst_s;		/* of counting; 0: none */
	double turn_s;		/* with or without; 0: chosen by the time that there is */
	bool keep;		/* if it is faster, it stays in */
	const char *morph_edit, *morph_verify, *morph_live, *store;
	struct table_look look;		/* of what is told at the end */
};

enum { TRY_FASTER = 0, TRY_NOT_FASTER = 1, TRY_REFUSED = 3, TRY_INTERRUPTED = 130 };

/* Tells how it goes on standard error, and what came out on standard output.  TRY_FASTER only
 * if it was faster and did the same. */
int try_run(const struct try_options *options);
/* The same of a process that runs, for root (running.c).  TRY_FASTER only if it was faster. */
int try_process(const struct try_process_options *options);

#endif
