/* job.h - one run of morph-edit or morph-verify, started by the privileged parent
 *
 * The job gets nothing but the descriptors of its inputs and outputs: its own user, session,
 * PID and network namespace (as far as the kernel lets us), no new privileges, limits on
 * memory, CPU time, file sizes and wall-clock time, a low CPU and the idle I/O priority.
 * Outputs are memory files, sealed once the job has ended well: nobody changes them between
 * proof and use.
 */
#ifndef MANAGER_PARENT_JOB_H
#define MANAGER_PARENT_JOB_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct job;

enum job_kind {
	JOB_ANALYZE,	/* in: module.  out: block table */
	/* in: original, profile, perhaps counts beside it (JOB_COUNTS).  out: generation, map,
	 * stats.  a: number; b: 0, or 1: one for running processes, or where its new text is
	 * to be in these */
	JOB_OPTIMIZE,
	/* morph-verify; in: original, generation.  out: what was proven, text.  a: bits: 1:
	 * it counts, 2: it is for running processes */
	JOB_VERIFY,
	JOB_SYMBOLS,	/* in: module, perhaps its debug file.  out: text */
	JOB_DISASSEMBLE,	/* in: module.  out: text.  a: address, b: bytes */
	JOB_PLACED,	/* in: original, generation, blocks.  out: text */
	JOB_EXPLAIN,	/* in: module, perhaps its profile.  out: what analysis says, as text */
	/* in: mapped file, states or branch counts; if it is a generation, its original.  out:
	 * edges */
	JOB_INTERPRET,
	JOB_DERIVED,	/* in: original, file, block map.  out: what was shown, as text */
	JOB_MAP,	/* in: generation.  out: block map */
	JOB_COUNTS,	/* in: original, file of counts.  out: exact profile */
	/* in: original, profile.  out: counting generation, file of counts.  a: per cent of
	 * what the profile leaves uncertain; b: 0, or where it is to be in running processes */
	JOB_INSTRUMENT,
	JOB_SIGNATURE,	/* in: module.  out: what it can be recognised by in another version */
	/* in: module, signature and profile of its version before.  out: profile, and how much
	 * was recognised, as text */
	JOB_INHERIT,
	/* in: original, samples, perhaps exact profile.  out: where the cycles of a function
	 * go, as text.  a: its entry, b: thousandths of a cycle that a sample stands for, or
	 * JOB_COUNTED_BESIDE: the profile is beside the samples, as JOB_OPTIMIZE has it */
	JOB_ANNOTATE,
	/* in: file, places, perhaps its debug file.  out: what stands there, as text */
	JOB_PLACES,
	/* in: what a program wrote of code that it made, places.  out: their names, likewise */
	JOB_CODE_NAMES,
	/* in: original, profile, perhaps counts beside it.  out: text in another tool's form.
	 * a: enum job_form, b: entry of the function for forms of one */
	JOB_EXPORT,
	/* what follows is not for the manager (RUN_JOB in lib/msg.def) */
	/* in: mapped file, branch counts; if it is a generation, its original.  out: edges, and
	 * executions of blocks */
	JOB_EXECUTIONS,
	JOB_BUILD_ID,	/* in: file.  out: its build-id, as text */
	/* in: file.  out: that it catches no exception of others; else it is refused */
	JOB_CATCHES,
	/* in: original, text of bolt's profile.  out: profile */
	JOB_FOREIGN,
	/* in: original, samples, perhaps exact profile.  out: what a page shows of it, as text.
	 * a: functions at most, b: 1: the third input is a generation, and no profile */
	JOB_PICTURE,
	JOB_UNWIND_ROWS,	/* in: file.  out: its unwind rows */
	/* in: rows of files, samples (lib/callstack.h).  out: their stacks */
	JOB_UNWIND,
	NJOB
};

#define JOB_COUNTED_BESIDE UINT64_MAX

/* What JOB_EXPORT writes. */
enum job_form {
	JOB_FDATA, JOB_PREAGG, JOB_YAML, JOB_DOT, JOB_CALLS, JOB_FLOW, JOB_FLOW_DOT,
	JOB_FLOW_PLACED, JOB_FLOW_DOT_PLACED, NJOB_FORM
};

static inline enum job_form job_flow_form(bool dot, bool placed)
{
	return placed ? (dot ? JOB_FLOW_DOT_PLACED : JOB_FLOW_PLACED)
		      : (dot ? JOB_FLOW_DOT : JOB_FLOW);
}

/* What a request to the parent does to the job under way (MSG_YIELD). */
enum yield_act { YIELD_NOTHING, YIELD_STOP, YIELD_GO_ON, YIELD_HURRY, YIELD_GIVE_UP };

enum { JOB_MAX_IN = 3, JOB_MAX_OUT = 3 };

struct job_user {
	bool change;		/* false: the job runs as who we are */
	uid_t uid;
	gid_t gid;
};

struct job_spec {
	enum job_kind kind;
	const char *morph_edit, *morph_verify;	/* paths of the programs */
	struct job_user user;
	uint64_t memory_bytes, file_bytes;	/* at most what our own limits leave */
	unsigned cpu_s, wall_s;
	int nin, in[JOB_MAX_IN];	/* readable; stay the caller's */
	uint64_t a, b;
	const char *passes;		/* JOB_OPTIMIZE: only these; NULL: all, as it does */
	bool prompt;			/* somebody waits: at the usual priority */
	bool background;		/* nobody waits: only with CPU time that is left over */
};

/* Its program could not be run as it should, or was killed by others: that says nothing of the
 * files that it was to read. */
enum { JOB_NOT_RUN = 4 };

struct job_result {
	int exit_code;			/* 0 done, 1 failed, 3 refused, or JOB_NOT_RUN */
	char reason[1024];		/* one line when it is not 0 */
	uint64_t cpu_ms;		/* user and system time */
	int nout, out[JOB_MAX_OUT];	/* the caller's; none unless exit_code is 0 */
};

/* Tries whether jobs get namespaces of their own here. */
bool job_has_namespaces(void);
/* NULL with *err filled when the job cannot be started, or has a wrong number of inputs. */
struct job *job_start(const struct job_spec *spec, struct err *err);
/* What to poll for: fills p[0..1].  Milliseconds until job_step() must be called anyway. */
int job_poll(const struct job *j, struct pollfd p[2]);
/* 1: ended, *out filled; 0: still running. */
int job_step(struct job *j, struct job_result *out);
/* Of a job that was to do something: ERR_INPUT, its input is at fault; and of a proof:
 * ERR_REFUSED.  ERR_SYS: neither. */
enum err_kind job_err_kind(const struct job_result *r);
enum err_kind job_proof_kind(const struct job_result *r);
/* Stops it where it is, and lets it go on.  What it may take of CPU time counts on as it
 * should; the wall-clock time that is left to it stays what it is while it is stopped. */
void job_stop(struct job *j);
void job_go_on(struct job *j);
/* Somebody waits for a background job now: it goes on, with the priority of others. */
void job_hurry(struct job *j);
pid_t job_process(const struct job *j);
/* Starts one and waits for its end: the number of outputs is as the kind says, in out[], the
 * caller's.  -1 with the reason when it does not end with 0. */
int job_run(const struct job_spec *spec, int out[JOB_MAX_OUT], struct err *err);
/* Kills it if it still runs: the CPU time that it took, ms; 0 when it had ended already. */
uint64_t job_end(struct job *j);
/* Kills what still runs.  NULL is allowed. */
void job_free(struct job *j);
void job_result_close(struct job_result *r);

#endif
