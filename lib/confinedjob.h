/* confinedjob.h - one run of morph-edit or morph-verify, or of what reads a recording: open
 * files, give up all rights, work, write
 *
 * The program being worked on is hostile, so nothing is parsed by a process that could do
 * harm.  confinedjob_run() opens the files and forks.  The child reads the inputs as bytes,
 * confines itself (lib/confine.h) and only then looks at them.  The parent waits; an output
 * given as a path is written beside it and renamed over it only when the child succeeded, so
 * that a failed command leaves nothing half done.  One that is an input, by whichever name, is
 * wrong usage.  Where no output has a path there is no child, and the process ends with the
 * work: the daemon's jobs may not fork.
 *
 * Messages begin with the name that the program was started by.
 */
#ifndef LIB_CONFINEDJOB_H
#define LIB_CONFINEDJOB_H

#include <sys/types.h>

#include "lib/rd.h"
#include "lib/wr.h"

struct arena;
struct err;

enum { CONFINEDJOB_FILES = 4 };

struct confinedjob_in {
	const char *arg;	/* path or "fd:N" */
	struct bytes bytes;	/* filled before work() runs */
	mode_t mode;		/* of the file, filled likewise */
};

struct confinedjob_out {
	/* path or "fd:N"; NULL: not wanted, and work()'s bytes are dropped */
	const char *arg;
	struct wr bytes;	/* work() appends */
	/* index of the input whose permission bits a new file gets, or -1 */
	int mode_from;
};

struct confinedjob {
	struct arena *arena;	/* job lifetime; set by confinedjob_run() in the child */
	struct confinedjob_in in[CONFINEDJOB_FILES];
	struct confinedjob_out out[CONFINEDJOB_FILES];
	int nin, nout;
	/* of the work, as confine_job() has them; 0: as inherited */
	uint64_t memory_bytes;
	unsigned cpu_s;
	int (*work)(struct confinedjob *job, void *ctx, struct err *err);
	void *ctx;
};

/* Puts "'PATH'" of input `i` in front of the message; not when the input is an inherited
 * descriptor, whose path only the caller knows.  Returns -1. */
int confinedjob_wrap(const struct confinedjob *job, int i, struct err *err);

/* The exit code of the command: 0, or as err_exit_code() says; one line on stderr if not 0.
 * Returns only if an output has a path. */
int confinedjob_run(struct confinedjob *job);

#endif
