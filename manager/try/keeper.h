/* keeper.h - one run of the command: in a world of its own, kept by a process of ours
 *
 * The keeper is a child that enters the world and starts the command there.  It is the
 * subreaper of all that descends from it, so that nothing outlives the run: what the command
 * leaves running is killed when it ends, and all of it when the keeper gets SIGTERM, which it
 * also gets when its parent dies.  The kernel takes mounts and files in memory away with the
 * last process.
 */
#ifndef MANAGER_TRY_KEEPER_H
#define MANAGER_TRY_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/digest.h"
#include "lib/err.h"
#include "manager/try/world.h"

enum { KEEPER_OUTPUTS = 16 };

struct commandline;

struct keeper_spec {
	const struct world *world;
	char *const *argv;	/* NULL: the world is entered, and left again */
	const struct commandline *command;	/* the same, resolved: for WORLD_NONE */
	bool confined;		/* in WORLD_NONE: it can write to no files of others */
	const char *prepare;	/* run by a shell before it; NULL: nothing */
	int in;			/* standard input, a regular file; -1: /dev/null */
	off_t in_at;		/* where in it the command begins */
	const char *const *output;	/* files to compare, [noutput <= KEEPER_OUTPUTS] */
	unsigned noutput;
	int cpu;		/* the one it runs on, in slices; -1: any */
	const char *log;	/* gets its samples, or what was watched; NULL: neither */
};

struct keeper_result {		/* what a run was */
	struct err err;		/* kind is not ERR_NONE: it could not run, and why */
	char lacks[512];	/* folders that cannot be written to, with blanks between */
	bool watched;		/* it could not be sampled, so the log is that of procwatch.h */
	char unsampled[256];	/* and why */
	int status;		/* exit code, or 128 + the signal */
	double cpu_s, wall_s;	/* of all its processes that have ended */
	unsigned left;		/* processes that it left running */
	bool there[KEEPER_OUTPUTS];
	struct digest digest[KEEPER_OUTPUTS];	/* of the output files that are there */
};

struct keeper {
	pid_t pid;		/* 0: none */
	int pidfd;
	int go;			/* a byte lets the command begin; its closing gives it up */
	int ready;		/* a byte comes when it can begin */
	int out, error;		/* what it wrote, to be read from the beginning */
	struct keeper_result *result;	/* shared memory; whole when the keeper has ended */
};

/* Starts a keeper, which prepares the world and waits.  `dir`: where files without a name can
 * be.  After a failure there is nothing to free. */
int keeper_start(const struct keeper_spec *spec, const char *dir, struct keeper *k,
		 struct err *err);
/* Waits until the command can begin; not an error: it will not, as the result tells.  -1: we
 * are interrupted. */
int keeper_ready(struct keeper *k, struct err *err);
/* Lets it begin. */
void keeper_go(struct keeper *k);
/* Waits for the end, `limit_s` at most (0: for ever).  -1 when we are interrupted, when it took
 * too long, or when it could not run: then err says why. */
int keeper_wait(struct keeper *k, double limit_s, struct err *err);
/* Ends what still runs and closes all. */
void keeper_free(struct keeper *k);

#endif
