/* job.h - one morph-edit command: read the inputs, give up all rights, work, write the outputs
 *
 * The program being worked on is hostile, so nothing is parsed by a process that could do
 * harm.  job_run() opens the files and forks.  The child reads the inputs as bytes, confines
 * itself (lib/confine.h) and only then looks at them.  The parent waits; an output given as a
 * path is written beside it and renamed over it only when the child succeeded, so that a failed
 * command leaves nothing half done.  Where no output has a path there is no child, and the
 * process ends with the work: the daemon's jobs may not fork.
 */
#ifndef EDITOR_JOB_H
#define EDITOR_JOB_H

#include <sys/types.h>

#include "lib/rd.h"
#include "lib/wr.h"

struct arena;
struct err;

enum { JOB_MAX_FILES = 4 };

struct job_in {
	const char *arg;	/* path or "fd:N" */
	struct bytes bytes;	/* filled before work() runs */
	mode_t mode;		/* of the file, filled likewise */
};

struct job_out {
	/* path or "fd:N"; NULL: not wanted, what work() gives is dropped */
	const char *arg;
	struct wr bytes;	/* work() appends */
	/* index of the input whose permission bits a new file gets, or -1 */
	int mode_from;
};

struct job {
	struct arena *arena;	/* job lifetime; set by job_run() in the child */
	struct job_in in[JOB_MAX_FILES];
	struct job_out out[JOB_MAX_FILES];
	int nin, nout;
	int (*work)(struct job *job, void *ctx, struct err *err);
	void *ctx;
};

/* Puts "'PATH'" of input `i` in front of the message; not when the input is an inherited
 * descriptor, whose path only the caller knows.  Returns -1. */
int job_wrap(const struct job *job, int i, struct err *err);

/* The exit code of the command: 0, or as err_exit_code() says; one line on stderr if not 0.
 * Returns only if an output has a path. */
int job_run(struct job *job);

#endif
