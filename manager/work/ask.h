/* ask.h - what the manager asks of its privileged parent
 *
 * The manager's code is written straight down, as if every question were answered at once.
 * While the answer is awaited the manager's loop goes on turning (`turn`), so that clients are
 * served and events of the parent are taken in; only one question is under way at a time.
 */
#ifndef MANAGER_WORK_ASK_H
#define MANAGER_WORK_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/digest.h"
#include "lib/msg.h"
#include "manager/parent/job.h"
#include "manager/parent/names.h"
#include "manager/work/yield.h"

struct err;

enum { ASK_MOST_RECOVERED = 16 };	/* of more, the parent's log tells */
enum { ASK_MOST_COUNTED = 16 };		/* of more, the counts are lost */

/* What jobs are for: what is in a file; a layout, or what counts, and what was counted; that it
 * is the same program; what registers of samples show; what somebody wants to know. */
enum ask_cost { ASK_ANALYSES, ASK_LAYOUTS, ASK_PROOFS, ASK_REGISTERS, ASK_OTHERS, ASK_NCOST };

struct ask {
	int sock;
	void (*turn)(void *ctx);	/* waits for something to happen and sees to it */
	void (*pass)(void *ctx);	/* sees to what has happened, and does not wait */
	void *ctx;

	/* What the parent has told by itself. */
	bool stop, reload, crashed;
	bool trusted_waits;		/* a request of a trusted client */
	struct msg roles, counts, lacks;	/* type MSG_NONE: not told yet */
	struct msg recovered[ASK_MOST_RECOVERED];
	int nrecovered;
	struct msg counted[ASK_MOST_COUNTED];	/* with a descriptor each */
	int ncounted;
	struct msg shared;		/* MSG_SHARED, perhaps with a descriptor */

	uint64_t job_cpu_ms;		/* CPU time of all jobs so far */
	uint64_t cost_ms[ASK_NCOST];	/* the same by what they were for */
	char not_run[160];		/* why the last job could not be run, JOB_NOT_RUN; "" */
	enum yield_kind yields;		/* of jobs that are asked for */

	/* Of the question under way. */
	uint32_t serial;
	bool waiting;
	bool quick;			/* a command is answered at once: it asks nothing */
	bool droppable;			/* a job that only who asked for it needs */
	bool dropped;
	struct yield yield;
	struct msg reply;
};

struct ask_limits {
	unsigned memory_mib, cpu_s;
};

struct ask_job {
	enum job_kind kind;
	int nin, in[JOB_MAX_IN];	/* stay the caller's */
	uint64_t a, b;
	const char *passes;
};

struct ask_config {
	unsigned clock, rate_hz, drain_s, spool_max_mib;
	bool switched;			/* samples may be asked for with registers */
	unsigned stack_bytes;		/* and so much of the stack */
	bool memory;			/* and what the registers point to */
	unsigned branches_hz;		/* branch stacks; 0: none */
};

struct ask_install {
	const char *path;
	struct digest expected, original, generation;
	int generation_fd;
	const struct names *names;	/* as ask_check() has told them */
	bool hard_links;
	bool counting;			/* it is a counting generation */
};

/* What a process has written of the code that it made (manager/parent/madefile.h). */
struct ask_made {
	uint32_t pid;
	uint64_t at_ns;			/* since 1970; it was there at that time */
	uint64_t max_bytes;
	const char *dump;		/* path of its jitdump; "": its map is wanted */
};

struct ask_restore {
	const char *path;
	/* what is there now; its original; the generation that it is, edited by somebody when
	 * that is not `expected`: then with that generation's block map, else -1 */
	struct digest expected, original, generation;
	int map_fd;
	bool dry_run;			/* would it be put back? */
};

/* When the socket has something: takes in all of it.  -1: the parent has ended. */
int ask_receive(struct ask *a, struct err *err);

struct ask_live {
	const char *path;
	struct digest installed, original, generation;
	pid_t pid;
	uint64_t start;			/* as /proc/PID/stat has it */
	int generation_fd;		/* a sealed memory file */
	unsigned ms;			/* of _count and _turns: so long */
};

/* All fail when the parent stops; the error is the parent's own otherwise. */
int ask_open_file(struct ask *a, const char *path, struct err *err);
int ask_open_policy(struct ask *a, struct err *err);
int ask_open_original(struct ask *a, const struct digest *d, struct err *err);
/* `names`: further ones that the file may have; NULL: none.  Those that it has are lines of
 * a->reply.text then. */
int ask_check(struct ask *a, const char *path, const struct names *names, bool hard_links,
	      struct err *err);
/* out[] as job.h says, the caller's; `nout` of them must come back. */
int ask_run_job(struct ask *a, const struct ask_job *job, const struct ask_limits *limits,
		int *out, int nout, struct err *err);
/* Of both, what was done under other names is in a->reply.text (install_done_text()). */
int ask_install(struct ask *a, const struct ask_install *i, const struct ask_limits *limits,
		struct err *err);
int ask_restore(struct ask *a, const struct ask_restore *r, const struct ask_limits *limits,
		struct err *err);
/* Generations of running processes.  _on: *said is morph-live's word, or "at HEX", where it
 * would fit; _list and _open: a descriptor. */
int ask_live_on(struct ask *a, const struct ask_live *l, const struct ask_limits *limits,
		char said[256], struct err *err);
/* The same of a generation that counts, which is out again when it is answered: *counters is
 * what it counted, the caller's, or -1 where it did not fit. */
int ask_live_count(struct ask *a, const struct ask_live *l, const struct ask_limits *limits,
		   char said[256], int *counters, struct err *err);
/* Turns without and with what the process has, for so long each: *said is what was done. */
int ask_live_turns(struct ask *a, const struct ask_live *l, const struct ask_limits *limits,
		   char said[256], struct err *err);
int ask_live_off(struct ask *a, pid_t pid, const struct digest *generation, struct err *err);
int ask_live_list(struct ask *a, struct err *err);
int ask_live_open(struct ask *a, const struct digest *generation, struct err *err);
/* The monitor has written out all samples and begun a new spool file.  *states_fd: those of
 * them that came with the state of their task, as a spool file in memory, the caller's; -1:
 * none. */
int ask_sync(struct ask *a, int *states_fd, struct err *err);

/* A sealed copy; *owner is whose process it is. */
int ask_made_code(struct ask *a, const struct ask_made *m, uint32_t *owner, struct err *err);

/* Told, not asked. */
int ask_config(struct ask *a, const struct ask_config *c, struct err *err);
int ask_registers(struct ask *a, bool on, struct err *err);
int ask_pause(struct ask *a, bool on, struct err *err);
int ask_yield(struct ask *a, enum yield_act act, struct err *err);
/* Nobody waits any more: the job under way is ended, if only who asked needs it. */
void ask_drop(struct ask *a);
/* An exchange with a fleet's database: what comes of it is told as a->shared.  The request
 * stays the caller's. */
int ask_share(struct ask *a, const char *conninfo, int request_fd, struct err *err);

#endif
