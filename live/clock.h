/* clock.h - the time, and how waits are cut short */
#ifndef LIVE_CLOCK_H
#define LIVE_CLOCK_H

#include <stdint.h>

uint64_t live_clock_ns(void);		/* CLOCK_MONOTONIC */
/* From `in_ns` on waits of ours end now and then, with EINTR; 0: no more. */
void live_alarm(uint64_t in_ns);
/* Likewise; each time the function is called, in a handler of signals. */
void live_alarm_calls(uint64_t in_ns, void (*call)(void));

#endif
