/* requests.h - services of the privileged parent for the manager
 *
 * The manager asks with a message of fixed form (lib/msg.def) and gets one REPLY with the same
 * serial.  It is trusted with which files of the usual folders Morph works on, not with what is
 * done to them: only programs and libraries are opened for it, nothing is installed but what
 * this process has had proven by a verifier of its own start, from a sealed file, and nothing
 * is put back but what this process's own ledger says was there.
 */
#ifndef MANAGER_PARENT_REQUESTS_H
#define MANAGER_PARENT_REQUESTS_H

#include <poll.h>

#include "lib/msg.h"
#include "manager/parent/job.h"
#include "manager/parent/madefile.h"
#include "manager/parent/names.h"
#include "manager/parent/patience.h"
#include "manager/parent/role.h"

struct counting;
struct err;
struct livework;

struct requests {
	const struct role_options *options;
	struct job_user user;		/* of the roles */
	/* of morph-edit: another one, so that a job that broke out of all else would not be
	 * the manager either */
	struct job_user job_user;
	int originals_fd, ledger_fd;
	struct counting *counting;	/* of generations that count; stays the caller's */
	struct livework *live;		/* of running processes; so does this.  NULL: none */
	int reply_sock;		/* to the manager */

	bool busy;		/* one request at a time; a second one is a lie */
	struct msg request;	/* owns its descriptors */
	/* further ones of its file: as the manager names them, or as the ledger has them; the
	 * next to be seen to by take_out_next(), 0 is the path itself */
	struct names names;
	unsigned name_at;
	struct job *job;	/* of RUN_JOB, or the proof of INSTALL, RESTORE, LIVE_ON */
	struct madefile made;	/* of MADE_CODE */
	/* of jobs that have ended, not told yet: it is told even if nobody waits for the job
	 * any more, with the next answer */
	uint64_t job_cpu_ms;
	bool not_run;			/* what a job's program is to do cannot be done here */
	bool syncing;		/* SYNC: the monitor has been asked */
	struct patience sync;	/* then it counts as silent */
	bool swap_failed;	/* traces may be left; whoever sees to them takes this back */
	bool monitor_silent;	/* it let a SYNC's time pass; whoever ends it takes this back */
};

/* Takes over m's descriptors.  -1: the manager lied or is gone. */
int requests_take(struct requests *p, struct msg *m, struct err *err);
/* MSG_YIELD: of the job under way, if it is of that request.  -1: the manager is gone. */
int requests_yield(struct requests *p, const struct msg *m, struct err *err);
pid_t requests_job_pid(const struct requests *p);	/* 0: none */
/* When the job has something to tell, or time has passed.  -1: the manager is gone. */
int requests_step(struct requests *p, struct err *err);
/* The answer to a pending SYNC, as the monitor gave it, with the states it held (-1: none),
 * which stay the caller's; ignored without one. */
int requests_synced(struct requests *p, bool ok, const char *reason, int states_fd,
		    struct err *err);
/* The manager has ended or everything ends: kills the job, forgets the request. */
void requests_abort(struct requests *p);
/* Fills f[0..1] while something is waited for, else entries without descriptor; timeout in ms,
 * -1 for none. */
int requests_poll(const struct requests *p, struct pollfd f[2]);

#endif
