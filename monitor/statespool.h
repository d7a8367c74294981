/* statespool.h - holds samples with the state of their task, in memory only, for the Manager
 *
 * Registers and stacks are the data of whoever runs the programs: they never go to the spool
 * directory.  A spool file without a name, in memory, holds them until its descriptor goes to
 * the Manager.  It is bounded; samples that find no room are counted.
 */
#ifndef MONITOR_STATESPOOL_H
#define MONITOR_STATESPOOL_H

#include "monitor/spool.h"

struct statespool;

/* NULL when out of memory.  `clock` stays the caller's. */
struct statespool *statespool_new(const char *clock, uint64_t period_ns, uint64_t max_bytes);
/* NULL is allowed; forgets what is held */
void statespool_free(struct statespool *s);

/* A sample that has a state.  False: there is no room, it is dropped and counted.  The last
 * quarter of the room is for samples without their memory, of which it holds many more. */
bool statespool_put(struct statespool *s, const struct spool_event *ev);
/* What is held, a complete spool file: its descriptor, from now on the caller's; -1:
 * nothing. */
int statespool_take(struct statespool *s);
uint64_t statespool_states(const struct statespool *s);		/* held since it was made */
uint64_t statespool_dropped(const struct statespool *s);

#endif
