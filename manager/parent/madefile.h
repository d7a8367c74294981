/* madefile.h - what a process has written of code that it made, as a copy of root's
 *
 * A runtime writes down what it makes, in /tmp/perf-PID.map or in a jitdump.  Such a file is
 * anybody's, and its owner may have put anything at that name: a link, a pipe, a file of
 * somebody else, one in a file system that never answers.  So it is read by a child that has
 * become the process's own user, sees the process's own root folder, and may do nothing that
 * he may not; what comes of it is a sealed memory file.  It is given some seconds: who waits
 * for it, the parent, does something else meanwhile, and while there is one that cannot even
 * be killed nothing is read for whoever answers for that process; nor while he has had more
 * waiting than a hundredth of the time is.
 */
#ifndef MANAGER_PARENT_MADEFILE_H
#define MANAGER_PARENT_MADEFILE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/parent/job.h"
#include "manager/parent/patience.h"

struct err;

enum { MADEFILE_USERS = 16 };	/* chosen */

struct madefile {		/* zeroed: none is under way */
	pid_t child;		/* 0: none */
	struct madefile_user {	/* of those that had most of it; zeroed: nobody */
		uid_t answers;	/* as below */
		pid_t left;	/* killed, and not seen to have ended yet; 0: none */
		uint64_t waited_ms, at_ms;	/* less what is forgotten, at that time */
	} user[MADEFILE_USERS];
	int pidfd, copy;	/* while there is a child */
	uid_t owner;
	uid_t answers;			/* for it: its user, or who has his namespace */
	struct patience wait;
};

struct madefile_request {
	pid_t pid;
	uint64_t at_ns;		/* it was there at that time, since 1970 */
	uint64_t max_bytes;	/* more is not read */
	const char *dump;	/* path of its jitdump; "": its map is wanted */
	struct job_user reader;	/* who the child is but for what it may read */
};

/* -1: there is no such process, or it is not to be told who it is. */
int madefile_start(struct madefile *m, const struct madefile_request *r, struct err *err);
enum { MADEFILE_OWNER = 16 };	/* room for a number */
/* 1: done: *fd is the copy, the caller's, of a process of that user, in decimal; or -1, and
 * *why; 0: not yet, or none is under way. */
int madefile_step(struct madefile *m, int *fd, char owner[MADEFILE_OWNER], struct err *why);
/* What to wait for; milliseconds until it must be stepped anyway. */
int madefile_poll(const struct madefile *m, struct pollfd *p);
/* Ends it, and waits for nothing. */
void madefile_end(struct madefile *m);

#endif
