/* moment.h - is this the moment: does no thread stand where the text changes? */
#ifndef LIVE_MOMENT_H
#define LIVE_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct live_exchange;
struct live_maps;
struct live_threads;

/* It makes no difference at `pc`, and for some bytes behind it, which of the two is mapped. */
bool live_moment_same(const struct live_exchange *x, uint64_t pc);
/* LIVE_NOT_NOW: a thread, or a place that a signal handler returns to, is where bytes differ;
 * or one is in a restartable sequence, or in 32-bit code. */
int live_moment_check(const struct live_exchange *x, const struct live_threads *t,
		      const struct live_maps *maps, int mem, struct err *err);

#endif
