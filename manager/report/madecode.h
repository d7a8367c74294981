/* madecode.h - which processes of a log ran code that they had made, and what it is called
 *
 * A runtime writes down what it makes: in /tmp/perf-PID.map, or in a jitdump, which it maps as
 * executable memory so that a recording tells of it.  Such a file is anybody's.  It is opened
 * as a regular file and not by a link, has to be of who asks or of whose the log is, and
 * written while the log was: the number of the process tells nothing later, and nothing on
 * another machine.  Only a confined job looks into it (`morph-edit code-names`).
 */
#ifndef MANAGER_REPORT_MADECODE_H
#define MANAGER_REPORT_MADECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/arena.h"

struct err;
struct spool_event;

struct madecode_maker {
	uint32_t pid;
	bool over;			/* it has ended, or become another program */
	const char *dump;		/* path of its jitdump; NULL: none was told of */
};

enum { MADECODE_MAKERS = 1024 };	/* that are told apart; chosen */

struct madecode {
	struct arena *arena;
	VEC(struct madecode_maker) maker;
};

struct madecode_log {
	bool this_boot;			/* the log is of it */
	uint64_t begin_ns, end_ns;	/* since 1970 */
	uid_t owner;
};

/* An event that is no sample. */
void madecode_event(struct madecode *m, const struct spool_event *ev);
/* The process with that number now, as an index of maker[]; UINT32_MAX: there are too many. */
uint32_t madecode_maker(struct madecode *m, uint32_t pid);
/* What it has written, a descriptor; -1: there is nothing that can be believed, and why, or
 * nothing at all, and *err has no text. */
int madecode_open(const struct madecode *m, uint32_t maker, const struct madecode_log *log,
		  struct err *err);

#endif
