/* procmaps.h - makes exec and mmap events for the processes that ran before sampling began
 *
 * The kernel checks the right to see a process's maps when they are opened, not when they are
 * read: procmaps_open() needs privileges, procmaps_emit() none, and nothing is parsed with
 * them.
 */
#ifndef MONITOR_PROCMAPS_H
#define MONITOR_PROCMAPS_H

#include "lib/rd.h"
#include "monitor/spool.h"

struct err;
struct procmaps;		/* opaque: the open maps of all processes */

typedef void procmaps_fn(void *ctx, const struct spool_event *ev);

/* Events for one process from the text of /proc/PID/maps: an exec with `comm`, then every
 * executable mapping.  inode_generation is 0: not known.  Lines that make no sense are skipped;
 * returns how many. */
uint32_t procmaps_parse(struct bytes text, uint32_t pid, const char *comm, uint64_t time_ns,
			procmaps_fn *emit, void *ctx);

/* Opens /proc/PID/maps of every process; raises the limit on open files if it must and can.
 * Processes that end meanwhile are left out, and so are those that cannot be opened,
 * counted. */
struct procmaps *procmaps_open(struct err *err);
uint32_t procmaps_missed(const struct procmaps *p);
/* Reads and emits all of them, ascending by process, with the given time.  Kernel threads and
 * processes that have ended give nothing.  Once. */
int procmaps_emit(struct procmaps *p, uint64_t time_ns, procmaps_fn *emit, void *ctx,
		  struct err *err);
void procmaps_free(struct procmaps *p);		/* NULL is allowed */

#endif
