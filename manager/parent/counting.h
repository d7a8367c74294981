/* counting.h - takes the counters of processes that run counting generations
 *
 * A counting generation (morph-edit instrument --private) counts in memory that its process
 * shares with its forks alone.  While the process runs, root can open that memory,
 * /proc/PID/map_files, and read it when the process has ended.  Which memory that is, the proof
 * of the generation says (morph-verify --counting), not the manager: so nothing else of
 * anybody's can be read here.
 *
 * A process that ends before it was looked at loses its counts, and nothing else.  One that
 * executes the file again, or loads it again as a library, has had a run.  A process that runs
 * for long is read once, as it is then.  Set-id processes and others that cannot be
 * dumped, root's apart, are left alone.  Whoever runs the program can begin as many processes
 * as he likes: what looking at them costs is bounded, and how many are taken.
 */
#ifndef MANAGER_PARENT_COUNTING_H
#define MANAGER_PARENT_COUNTING_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/digest.h"

struct err;
struct counting;

enum { COUNTING_WATCHED = 16 };		/* generations at a time; no more are */
enum { COUNTING_HELD = 16 };		/* processes at a time; of more, some are left out */
enum { COUNTING_POLL = 2 + COUNTING_HELD };
/* Then the file is watched no more; more than policy/decide.h wants. */
enum { COUNTING_RUNS = 160 };
enum { COUNTING_LONG_MS = 600000 };	/* then a process is read before its end */

struct counting *counting_new(void);
void counting_free(struct counting *c);		/* NULL is allowed */

/* Where a generation counts is what its proof says, which is in proof_fd: the last line. */
int counting_find(int proof_fd, const char *path, uint64_t *at, uint64_t *size,
		  struct err *err);
/* Would counting_watch() take it?  Else the reason. */
int counting_may_watch(struct counting *c, const char *path, uint64_t at, uint64_t size,
		       struct err *err);
/* The file at the path is, from now on, the counting generation: its counters have so many
 * bytes, `at` bytes behind its first one in memory.  Replaces what was said of the path. */
int counting_watch(struct counting *c, const char *path, const struct digest *generation,
		   uint64_t at, uint64_t size, struct err *err);
/* It is not any more; what its processes have counted is not wanted. */
void counting_forget(struct counting *c, const char *path);

struct counting_taken {
	struct digest generation;
	uint32_t uid;			/* who ran it */
	uint32_t ms;			/* of CPU time that it took */
	int fd;				/* sealed memory file of `size` bytes, the caller's */
};

/* Fills p[]; returns the milliseconds until counting_step() must be called anyway, or -1. */
int counting_poll(const struct counting *c, struct pollfd p[COUNTING_POLL]);
/* Looks for processes that began, and ends with those that ended: true and *out for one.  To be
 * called COUNTING_HELD times, or until it says false. */
bool counting_step(struct counting *c, struct counting_taken *out);

#endif
