/* control.h - the control socket's server
 *
 * One request per connection.  The kernel tells who asks (SO_PEERCRED).  The server never waits
 * for a client: one that sends garbage or half a request, or stops reading, loses its own
 * connection, and costs a bounded amount of memory for a bounded time.  A user who is not
 * trusted has few connections at a time, and all such users together leave some connections to
 * the trusted ones.
 */
#ifndef MANAGER_CONTROL_CONTROL_H
#define MANAGER_CONTROL_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

struct answer;
struct client;
struct control;
struct err;

enum { CONTROL_MAX_CLIENTS = 32, CONTROL_MAX_POLL = CONTROL_MAX_CLIENTS + 1 };

/* `on_request` is called for a whole request and must sooner or later lead to control_end();
 * until then the client may be answered, also when its connection is gone. */
struct control *control_new(int listen_fd,
			    void (*on_request)(void *ctx, struct client *c, int argc,
					       const char *const *argv), void *ctx);
/* Whom to trust besides root; -1: nobody. */
void control_trust(struct control *c, uid_t user, gid_t group);
void control_free(struct control *c);		/* NULL is allowed */

/* Fills f[], at most CONTROL_MAX_POLL; their number.  *timeout_ms is lowered if need be. */
int control_poll(struct control *c, struct pollfd *f, int *timeout_ms);
/* What poll() said about them. */
void control_step(struct control *c, const struct pollfd *f, int n);
/* Writes out what is pending, for at most a second: before the process ends. */
void control_flush(struct control *c);

uid_t control_uid(const struct client *c);
bool control_trusted(const struct client *c);	/* when it connected */
bool control_alive(const struct client *c);	/* somebody still reads */
/* What the client is told: append to it (manager/work/answer.h); the client's. */
struct answer *control_answer(struct client *c);
/* err's sentence and exit code end the answer. */
void control_fail(struct client *c, const struct err *err);
void control_end(struct client *c, int exit_code);

#endif
