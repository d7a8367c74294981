/* filter.h - would the filters of a process (seccomp) let it make a system call?
 *
 * What a filter does to a call that it does not allow may be to end the process, so this must
 * be known before the call is made.  The kernel hands out the programs of a thread's filters
 * (PTRACE_SECCOMP_GET_FILTER; CAP_SYS_ADMIN), which it has checked; here they are run for the
 * very number and arguments, and all must allow them.  They read nothing but these and keep no
 * state, so the kernel's answer is the same.
 *
 * Somebody in the process has written them: they are run within their bounds and come to an
 * end, since they jump forward only, and what is not known allows nothing.
 */
#ifndef LIVE_FILTER_H
#define LIVE_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct live_filters {
	struct sock_filter *code;	/* of all, one after the other */
	uint32_t *end;			/* [n], where each ends in code[] */
	uint32_t n;
};

/* Those of a thread that is stopped by us; none when it has none.  -1: they cannot be seen. */
int live_filters_read(pid_t tid, struct live_filters *out, struct err *err);
void live_filters_free(struct live_filters *f);		/* twice is allowed */

/* Do all allow the call?  `ip`: the address behind the instruction that makes it. */
bool live_filters_allow(const struct live_filters *f, long nr, const uint64_t arg[6],
			uint64_t ip);

/* What one program answers; to kill the process where it is not to be understood. */
uint32_t live_filter_run(const struct sock_filter *code, uint32_t n,
			 const struct seccomp_data *data);

#endif
