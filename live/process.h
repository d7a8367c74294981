/* process.h - may a process be touched at all? */
#ifndef LIVE_PROCESS_H
#define LIVE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct live_map;

/* What /proc/PID/status says, decoded: -1 with ERR_REFUSED and the reason.  `back`: it gets its
 * original back, which what it has done since, as lock memory or change its user, does not
 * forbid. */
int live_status_check(const char *status, bool back, struct err *err);
/* All that can be known before it is stopped. */
int live_process_check(pid_t pid, bool back, struct err *err);
/* Its main thread, or the thread of that number, filters its system calls, or may. */
bool live_process_filters(pid_t pid);
/* LIVE_NOT_NOW: another process runs in the same memory, as between vfork() and exec(). */
int live_process_alone(pid_t pid, struct err *err);
/* The pages at `start` are as they are in the file, and not locked: else ERR_REFUSED.  A
 * breakpoint or a probe makes a page the process's own. */
int live_process_clean(pid_t pid, uint64_t start, struct err *err);
/* It has locked pages there. */
bool live_process_locked(pid_t pid, uint64_t start);
/* Text of file `fd`, which we have mapped, is what the file has: where somebody has written to
 * it there would be something to lose, or to run into.  A page that was written to and is as it
 * was, as debuggers leave them, does not matter. */
int live_process_unwritten(pid_t pid, const struct live_map *m, int fd, struct err *err);
/* Bytes that the main thread's stack may still grow by, and some. */
uint64_t live_process_stack(pid_t pid);

#endif
