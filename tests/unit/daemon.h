/* daemon.h - a Manager in a test: its own loop, store and socket, with a parent, users and a
 * clock that the test makes up
 *
 * The parent answers at once: it opens files as the real one does, has no monitor, and fails
 * jobs, unless the test says what they hand back.  Users are told apart by the kernel, as
 * always: when the test runs as root it becomes the user for the time of connecting, else it
 * asks as itself, who is not trusted either.
 */
#ifndef TESTS_UNIT_DAEMON_H
#define TESTS_UNIT_DAEMON_H

#include "lib/wr.h"
#include "manager/control/role_manager.h"

#define DAEMON_NO_JOB "not in this test"	/* what a job ends with */
enum { DAEMON_NOBODY = 64044 };		/* a user who owns nothing */

struct daemon {
	struct manager m;		/* the first */
	struct role_options options;
	char dir[64], store[80], policy[80], nothing[80];
	int parent, listener;		/* the parent's end; where clients come in */
	char name[32];			/* of the socket, in the abstract space */
	const char *refusal;		/* what speaks against all files; NULL: nothing */
	const char *sync_error;		/* what the monitor's failure is told as; NULL: none */
	const char *live_list;		/* what processes have; NULL: nothing */
	const char *job_says;		/* what jobs hand back; NULL: they fail */
	int states;			/* what the monitor held; 0: nothing */
	unsigned opened;		/* files, so far */
};

extern uint64_t daemon_now_ms;		/* what the clock of the Manager shows */

/* `policy` is YAML; in it @ stands for d->dir. */
void daemon_open(struct daemon *d, const char *policy);
void daemon_close(struct daemon *d);
/* A connection of that user with a request under way. */
int daemon_send(struct daemon *d, uid_t uid, int argc, const char *const *argv);
/* Rounds of the loop until the answer has ended; *out gets all its bytes.  Closes fd. */
void daemon_receive(struct daemon *d, int fd, struct wr *out);
/* Both; then the answer as text: lines, errors, and tables but for the processes and times that
 * differ from call to call.  The caller's to free; *code its exit code. */
char *daemon_ask(struct daemon *d, uid_t uid, int argc, const char *const *argv, int *code);
/* When the machine is looked at next, by daemon_now_ms. */
void daemon_look_at(struct daemon *d, uint64_t ms);
/* Rounds until nothing is due at once. */
void daemon_settle(struct daemon *d);
void daemon_write(const char *path, const char *text);

#endif
