/* statefeed.h - finds the states (registers, stack, memory) that belong to samples of the spool
 *
 * The spool on disk has samples without states.  The states that the Monitor held in memory
 * come as a second spool, in the same order.  A state belongs to a sample if time, task and PC
 * are the same.
 */
#ifndef MANAGER_SAMPLES_STATEFEED_H
#define MANAGER_SAMPLES_STATEFEED_H

#include "monitor/spool.h"

struct statefeed;

/* Takes over the descriptor.  With -1, or a file that is no spool or larger than any, the feed
 * has no states.  Never NULL. */
struct statefeed *statefeed_new(int fd);
/* The samples that follow are of this boot of the machine: those of another one have no
 * states. */
void statefeed_boot(struct statefeed *f, const uint8_t *boot_id);
/* To be asked of every sample of the spool, in order; fills ev->sample.state when there is
 * one.  It is valid until the next call. */
void statefeed_match(struct statefeed *f, struct spool_event *ev);
/* Returns how many states belonged to no sample.  NULL is allowed. */
uint64_t statefeed_free(struct statefeed *f);

#endif
