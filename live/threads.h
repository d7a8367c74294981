/* threads.h - the threads of a process: what they wait in, stopping them all, letting them go
 *
 * Of those that run the program: threads of the kernel that are in it (worker.h) go on.
 *
 * One process at a time: whoever waits for a thread here waits for any child.
 */
#ifndef LIVE_THREADS_H
#define LIVE_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "live/age.h"
#include "live/left.h"

struct err;

/* Functions that may find the process in a state that will pass say so: NOT_NOW, with the
 * reason in *err. */
enum { LIVE_DONE = 0, LIVE_FAILED = -1, LIVE_NOT_NOW = 1 };

/* Where a thread is that makes the rest of its call (live/finish.c). */
enum finish {
	FINISH_NONE,
	FINISH_BEGINS,		/* before a part of it */
	FINISH_CALL,		/* in one */
	FINISH_BROKEN,		/* on its way to the signal that tells that nobody reads */
	FINISH_ENTERS,		/* before a call that holds off signals */
	FINISH_TURNS,		/* back from there, as a signal that is ignored has come */
	FINISH_ENTERED,		/* stopped there */
	FINISH_LOST,		/* did not stop in a call of ours, from which it comes back */
};

struct live_remote;

struct live_thread {
	pid_t tid;
	bool asked;		/* to stop: it is traced by us */
	bool stopped;
	int call_fd;		/* what it waits in: /proc/PID/task/TID/syscall; -1: none */
	struct user_regs_struct regs;	/* once it is stopped */
	bool parent;		/* children were seen that tell it of their end */
	bool filtered;		/* filters say which system calls it may make */
	/* by whose frame rt_sigreturn takes it back to its call, and its mask; or NULL */
	struct live_remote *back;
	enum finish finish;
	uint64_t mask, ignored;	/* of signals: its own, and what would end its call so */
	bool stays;		/* once it has entered */
	int cuts;		/* parts that were cut short, by no signal for it */
	uint64_t goal, whole;	/* what all parts do, and what one does */
	struct age age;		/* of its call, if that has a time limit */
	struct left left;	/* what its stop overwrites, if it sleeps */
};

struct live_threads {
	pid_t pid;
	int pidfd, task_fd;		/* the second: its folder in /proc */
	struct live_thread *thread;	/* [n] in the order in which they are stopped */
	uint32_t n, room;
	pid_t *worker;			/* [nworker] the kernel's (live/worker.h), left alone */
	uint32_t nworker, worker_room;
	pid_t perhaps;			/* may be one of them; 0: none */
	uint64_t asked_ns;		/* when the first one was asked to stop; 0: none was */
	uint64_t pause_ns;		/* how long it may be from then on */
	uint64_t released_ns;		/* when those that had stopped went on */
	bool ended;			/* the process has */
};


/* -1: there is no such process. */
int live_threads_init(struct live_threads *t, pid_t pid, struct err *err);
void live_threads_free(struct live_threads *t);

/* Looks where they are, while they run.  NOT_NOW when one of them waits in a call that being
 * stopped would change: to be asked again after a millisecond.  One with a time limit has
 * changed by a few ms at most, when it has just begun. */
int live_threads_look(struct live_threads *t, struct err *err);

/* Stops all of them while enough is left of a pause of `pause_ns`; else NOT_NOW.  Looks at each
 * once more just before, and must come right behind live_threads_look().  Refused when another
 * traces one. */
int live_threads_stop(struct live_threads *t, uint64_t pause_ns, struct err *err);
/* All go on.  Those that have not stopped yet do so as soon as they can, and go on; those whose
 * call was cut short make the rest of it: that is waited for, but not for ever. */
void live_threads_let_go(struct live_threads *t);

#endif
