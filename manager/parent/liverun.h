/* liverun.h - one run of morph-live, which the parent does not wait for
 *
 * morph-live is root's and parses no file that others could have written (live/main.c); it is
 * no job, and has no cage: it stops the threads of others.
 */
#ifndef MANAGER_PARENT_LIVERUN_H
#define MANAGER_PARENT_LIVERUN_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

struct err;

enum { LIVERUN_SAID = 1 << 20, LIVERUN_ARGS = 10 };

struct liverun {
	pid_t pid;			/* 0: none */
	int pidfd, pipe;		/* what it says: of both its outputs */
	char *said;			/* [LIVERUN_SAID], ends in NUL; as much as fits */
	size_t nsaid;
};

/* Starts PROGRAM with arguments, at most LIVERUN_ARGS; it inherits fd[0 .. nfd), which stay the
 * caller's, as descriptors 3, 4, ...  `stops`: threads of others stand still for it. */
int liverun_start(struct liverun *r, const char *program, const char *const *arg,
		  const int *fd, int nfd, bool stops, struct err *err);
/* Fills p[0..1]. */
void liverun_poll(const struct liverun *r, struct pollfd p[2]);
/* -1: it runs.  Else its exit code, 1 for a signal; r->said is complete, till the next
 * start. */
int liverun_step(struct liverun *r);
/* It comes to its end sooner, if it can. */
void liverun_hurry(const struct liverun *r);
/* Nobody waits for it any more: it comes to its end by itself.  Returns its number, for
 * waitpid(), or 0. */
pid_t liverun_leave(struct liverun *r);
void liverun_free(struct liverun *r);

#endif
