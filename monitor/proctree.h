/* proctree.h - some processes and all that descends from them, followed by forks and exits
 *
 * Morph's own processes are not looked at; a recorded command's are all that may be written.
 * A process that is not in the tree for certain is not in it.
 */
#ifndef MONITOR_PROCTREE_H
#define MONITOR_PROCTREE_H

#include "monitor/spool.h"

struct proctree;

struct proctree *proctree_new(void);		/* NULL when out of memory */
void proctree_free(struct proctree *t);		/* NULL is allowed */

/* Without effect when there is no room for more. */
void proctree_add(struct proctree *t, uint32_t pid);
/* With its next exec, which is the first event that is of the tree; one at a time. */
void proctree_add_at_exec(struct proctree *t, uint32_t pid);
/* The children that its processes have now, and theirs, as far as the kernel lists them. */
void proctree_add_children(struct proctree *t);

/* To be asked of every event in time order: is it of a process of the tree?  Of what was lost
 * nobody knows whose it was: false. */
bool proctree_event(struct proctree *t, const struct spool_event *ev);

/* Events were lost, exits and forks perhaps among them, and numbers are used anew: what does
 * not descend from `root` now leaves the tree with the first event after now_ns. */
void proctree_doubt(struct proctree *t, uint32_t root, uint64_t now_ns);

#endif
