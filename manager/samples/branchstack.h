/* branchstack.h - splits branch stacks into taken branches and runs of mapped files */
#ifndef MANAGER_SAMPLES_BRANCHSTACK_H
#define MANAGER_SAMPLES_BRANCHSTACK_H

#include "manager/samples/branchset.h"
#include "manager/samples/counter.h"
#include "manager/samples/space.h"

struct spool_event;

/* Enters the branches of a SPOOL_BRANCHES event and what ran between them, and counts what is
 * left out. */
void branchstack_take(struct branchset *set, struct spaces *spaces,
		      const struct spool_event *ev, uint64_t counter[NCOUNTER]);

#endif
