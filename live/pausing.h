/* pausing.h - waiting while a process runs on, until somebody wants that to end */
#ifndef LIVE_PAUSING_H
#define LIVE_PAUSING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct pausing {
	int process, signals;
};

/* From now on SIGTERM, SIGINT and SIGHUP end the wait, and nothing else; the first one comes
 * also when who started us ends.  -1 with ERR_REFUSED: there is no such process. */
int pausing_open(struct pausing *p, pid_t pid, struct err *err);
void pausing_close(struct pausing *p);
/* -1: the process has ended, or one of those signals has come. */
int pausing_wait(const struct pausing *p, uint64_t ms, struct err *err);
/* Has one of them come? */
bool pausing_told(const struct pausing *p);

#endif
