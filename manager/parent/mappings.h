/* mappings.h - which processes map which files to execute them, as the kernel tells it
 *
 * By one perf event for each CPU that is online when it is opened, which counts nothing: it
 * only brings records.  Needs CAP_PERFMON.  Records that do not fit into the rings until they
 * are read are lost; so are those of CPUs that come online later.
 */
#ifndef MANAGER_PARENT_MAPPINGS_H
#define MANAGER_PARENT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct mappings;

struct mappings *mappings_new(struct err *err);		/* NULL: *err says why */
void mappings_free(struct mappings *m);			/* NULL is allowed */

/* For poll(2): a ring is half full. */
int mappings_fd(const struct mappings *m);

/* Tells of every mapping since the last call: the process, as this process's namespace numbers
 * it, and the file's inode.  Whether a ring was half full, which is what ends poll(2). */
bool mappings_read(struct mappings *m, void (*each)(void *arg, pid_t pid, uint64_t inode),
		   void *arg);

#endif
