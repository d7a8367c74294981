/* role.h - the roles of morphd: one program that executes itself anew for each but the last
 *
 *   parent    privileged; opens files, starts jobs, swaps files; parses nothing but messages
 *   manager   the daemon's user; spool, store, policy, control socket
 *   monitor   the daemon's user once its perf descriptors are open; samples to spool
 *   share     a user of its own; one exchange with a fleet's database, over a network.  A
 *             program of its own, morph-share, which runs only for that (sharing.h)
 *
 * Every role has the same order of life: open, confine, drop, say what rights remain, loop.
 */
#ifndef MANAGER_PARENT_ROLE_H
#define MANAGER_PARENT_ROLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/msg.h"
#include "manager/parent/job.h"
#include "manager/parent/log.h"

struct err;

/* Descriptors that a role inherits. */
enum { ROLE_FD_PARENT = 3, ROLE_FD_LISTEN = 4 };
enum { ROLE_POLICY_MAX = 1 << 20 };	/* bytes; the reader of policies has the same bound */

struct role_options {
	enum msg_role role;
	const char *policy, *store, *socket, *user, *job_user, *morph_edit, *morph_verify,
		   *morph_live, *morph_share, *share_user;
	const char *folders;		/* see folders.h; "" for none */
	/* before the proc, sys and run that tell whether the machine is idle */
	const char *host;
	bool foreground, no_monitor;
	/* To the monitor, from the manager's policy through the parent. */
	unsigned clock, rate_hz, drain_s, spool_max_mib, stack_bytes, branches_hz;
	bool paused, switched, registers, memory;	/* see monitor/monitor.h */
};

struct role_child {
	enum msg_role role;
	pid_t pid;		/* 0: not running */
	int pidfd, sock;	/* -1 when not running; sock does not block */
	uint32_t starts;
};

/* Starts a role in a process of its own.  `listen_fd` is handed to the manager, else -1. */
int role_start(struct role_child *c, const struct role_options *o, int listen_fd,
	       struct err *err);
/* After it has ended or must end: kills, reaps, closes.  The wait status of it. */
int role_reap(struct role_child *c);

/* The user that the roles and jobs run as; change is false when we are that user and not
 * root. */
int role_user(const char *name, struct job_user *out, struct err *err);
/* No new privileges, no core files, not even for a program that takes them (core_pattern
 * "|..."), that user, and death together with the parent. */
int role_drop(const struct job_user *user, struct err *err);

/* The loops; each returns the exit code of its process. */
int role_parent(const struct role_options *o);
int role_manager(const struct role_options *o);
int role_monitor(const struct role_options *o);

uint64_t role_now_ms(void);		/* CLOCK_MONOTONIC */

#endif
