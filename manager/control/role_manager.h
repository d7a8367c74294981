/* role_manager.h - the manager's state and its loop, for role_manager() and for tests, which
 * give it a parent, a socket and a clock of their own */
#ifndef MANAGER_CONTROL_ROLE_MANAGER_H
#define MANAGER_CONTROL_ROLE_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/control/queue.h"
#include "manager/control/quota.h"
#include "manager/work/work.h"

struct control;
struct watch;

struct manager {
	struct ask ask;
	struct work work;
	struct control *control;
	/* NULL: changes are noticed when a module is looked at */
	struct watch *watch;
	bool serving;			/* all is open: clients are let in */
	struct quota quota;		/* of those who are not trusted */
	struct queue queue;
	bool answering;			/* one of the queue is being worked on */
	const struct client *asker;	/* of that one */
	uint64_t looked_ms;		/* at the machine, last; 0: it is looked at now */
	uint64_t next_crash_ms;
};

/* Fills *m: parent_fd is the socket to the parent, listen_fd where clients come in; both stay
 * the caller's.  Trusted besides root: that user and that group, -1 for none.  On failure, too,
 * manager_close() frees. */
int manager_open(struct manager *m, const struct role_options *o, int parent_fd, int listen_fd,
		 uid_t user, gid_t group, struct err *err);
/* What is due now, or a wait for something to happen. */
void manager_round(struct manager *m);
/* Tells those who wait that it ends. */
void manager_end(struct manager *m);
void manager_close(struct manager *m);

#endif
