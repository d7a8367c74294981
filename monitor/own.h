/* own.h - Morph's own processes, which are not looked at: some given ones and all their
 * children */
#ifndef MONITOR_OWN_H
#define MONITOR_OWN_H

#include "monitor/spool.h"

struct own;

/* NULL when out of memory. */
struct own *own_new(const uint32_t *pid, unsigned n);
void own_add(struct own *o, uint32_t pid);
/* The children that its processes have now, and theirs, as far as the kernel lists them. */
void own_add_children(struct own *o);
void own_free(struct own *o);			/* NULL is allowed */

/* To be asked of every event in time order: is it Morph's own?  Forks and exits are
 * followed. */
bool own_event(struct own *o, const struct spool_event *ev);

#endif
