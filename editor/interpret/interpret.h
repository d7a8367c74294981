/* interpret.h - follows control flow from samples that carry registers, stack and memory
 *
 * From each sample the code is interpreted as long as the known values decide where control
 * goes (postmorph/machine/machine.h).  Return addresses on the stack show by which calls it
 * came there (callers.h).  Each branch or call that this shows is a sighting, in addresses of
 * the file that was mapped; sightings.h turns sightings into edges and calls of the original.
 */
#ifndef EDITOR_INTERPRET_INTERPRET_H
#define EDITOR_INTERPRET_INTERPRET_H

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/statesample.h"
#include "postmorph/machine/machine.h"

enum { INTERPRET_CALLERS = 4 };		/* frames that are unwound per sample */

struct interpret_options {
	uint32_t branches;		/* decided per sample at most */
	uint32_t steps;			/* instructions per sample at most */
};

/* These limits, and INTERPRET_CALLERS, were chosen, not measured. */
enum { INTERPRET_MAX_BRANCHES = 64 };
#define INTERPRET_DEFAULTS { .branches = 64, .steps = 4096 }

enum sighting_kind {
	SIGHTING_BRANCH,
	SIGHTING_CALL,			/* indirect */
	SIGHTING_CALLER,		/* direct call, and the code that ran because of it */
	/* of branch stacks (lib/branchcounts.h): */
	SIGHTING_TAKEN,			/* a taken branch, call or return */
	SIGHTING_RUN,			/* what ran from an instruction straight to a branch */
};

struct sighting {
	new_vaddr insn;			/* branch or call; RUN: the first instruction */
	/* target; CALLER: start of the FDE of the code that ran; RUN: the last instruction */
	new_vaddr to;
	uint32_t kind;			/* enum sighting_kind */
	uint32_t count;
};

enum stop {				/* why a sample was followed no further */
	STOP_ENOUGH,			/* as many branches as wanted */
	STOP_STEPS,
	STOP_OUTSIDE,			/* control left the module */
	STOP_BRANCH,			/* unknown condition */
	STOP_JUMP,			/* unknown target of a jump or call */
	STOP_RETURN,			/* unknown return address */
	STOP_CODE,			/* instruction that is not followed, or no room */
	NSTOP
};

struct interpret_stats {
	uint64_t samples;
	uint64_t outside;		/* not in code of this module */
	uint64_t with_branch;		/* at least one decided */
	uint64_t branches, calls;	/* seen */
	uint64_t callers;		/* return addresses of direct calls in this module */
	bool unwinds;			/* the module's unwind tables could be read */
	uint64_t steps;
	/* unknown branches, ends of functions and calls after which it went on */
	uint64_t joined, left, called;
	uint64_t stop[NSTOP];
	/* samples without a decided branch, by the stop and its cause */
	uint64_t first[NSTOP][NUNKNOWN];
};

struct interpreter;

/* Lives in arena `a`, and `img` must live as long: the file that was mapped when the samples
 * were taken.  NULL when the file's tables cannot be read. */
struct interpreter *interpreter_new(const struct image *img, struct arena *a,
				    const struct interpret_options *options, struct err *err);
/* Interprets one sample and adds what it shows to sightings and stats. */
void interpreter_follow(struct interpreter *in, const struct statesample *sample);
/* [*n] ascending by insn, kind and to, each once; valid until the next interpreter_follow(). */
const struct sighting *interpreter_sightings(struct interpreter *in, uint32_t *n);
const struct interpret_stats *interpreter_stats(const struct interpreter *in);

#endif
