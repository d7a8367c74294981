/* queue.h - requests that wait their turn, and whose turn it is
 *
 * Those of trusted clients go before those of users, in the order in which they came.  Users
 * take turns: next is the first request of the user who was served longest ago.  So however
 * many requests users have waiting, a trusted one waits for the one that is being worked on,
 * and a user for one of each of the others.
 */
#ifndef MANAGER_CONTROL_QUEUE_H
#define MANAGER_CONTROL_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/control/control.h"
#include "manager/work/answer.h"

struct command;

struct pending {
	struct client *client;
	const struct command *command;
	bool trusted;
	uint32_t uid;
	int argc;
	const char *argv[ANSWER_MAX_ARGS];	/* texts live as long as the client is busy */
};

struct queue {			/* zeroed before its first use */
	struct pending at[CONTROL_MAX_CLIENTS];	/* a client has at most one request */
	int n;
	uint64_t turns;
	struct {
		uint32_t uid;
		uint64_t turn;		/* its last; 0: none */
	} served[CONTROL_MAX_CLIENTS];
};

void queue_put(struct queue *q, const struct pending *p);	/* there is always room */
/* False when none waits. */
bool queue_take(struct queue *q, struct pending *out);
bool queue_has_trusted(const struct queue *q);

#endif
