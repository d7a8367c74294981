/* proctree.h - follows some processes and all their descendants, by fork and exit events
 *
 * The Monitor keeps Morph's own processes in such a tree, whose samples it drops; `record`
 * keeps the command's, whose samples alone it writes.  In doubt a process is not in the tree.
 */
#ifndef MONITOR_PROCTREE_H
#define MONITOR_PROCTREE_H

#include "monitor/spool.h"

struct proctree;

struct proctree *proctree_new(void);		/* NULL when out of memory */
void proctree_free(struct proctree *t);		/* NULL is allowed */

/* Without effect when there is no room for more. */
void proctree_add(struct proctree *t, uint32_t pid);
/* Adds the process with its next exec, which is the first event of the tree; one at a time. */
void proctree_add_at_exec(struct proctree *t, uint32_t pid);
/* Adds the children that its processes have now, and all their descendants, as far as the
 * kernel lists them. */
void proctree_add_children(struct proctree *t);

/* To be called with every event, in time order: is it of a process of the tree?  False for
 * SPOOL_LOST and the like: nobody knows whose the lost events were. */
bool proctree_event(struct proctree *t, const struct spool_event *ev);

/* To be called when events were lost, perhaps exits and forks, whose process numbers may be in
 * use again: processes that do not descend from `root` now leave the tree with the first event
 * after now_ns. */
void proctree_doubt(struct proctree *t, uint32_t root, uint64_t now_ns);

#endif
