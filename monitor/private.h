/* private.h - may registers of a process be told?
 *
 * Asked of /proc, where the kernel does not say it with each sample (perf_memory.h).
 *
 * The files in /proc of a process that cannot be dumped are root's, also those of one that
 * executed a set-id program.  Nothing is told of a process that has ended meanwhile; nor of
 * root's, of which this does not say it.  Answers are remembered until private_forget().
 */
#ifndef MONITOR_PRIVATE_H
#define MONITOR_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

struct private;		/* NULL: of nobody is anything private */

struct private *private_new(void);		/* never NULL */
void private_free(struct private *p);
/* True, and counted, if its state is not to be told. */
bool private_is(struct private *p, uint32_t pid);
uint64_t private_found(const struct private *p);
void private_forget(struct private *p);

#endif
