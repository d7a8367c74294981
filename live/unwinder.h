/* unwinder.h - may something in a process unwind its stack? */
#ifndef LIVE_UNWINDER_H
#define LIVE_UNWINDER_H

#include <sys/types.h>

struct err;
struct live_maps;

/* ERR_REFUSED with who may. */
int live_unwinder_check(pid_t pid, const struct live_maps *maps, struct err *err);

#endif
