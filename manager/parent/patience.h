/* patience.h - how long somebody is waited for, in time in which we could have seen him
 *
 * While the daemon is stopped or frozen, and when a machine that was paused goes on, the clock
 * can go far between two looks without anybody having worked, or without us having seen that he
 * has.  So a gap counts no more than two looks: who is waited for has his time left afterwards.
 */
#ifndef MANAGER_PARENT_PATIENCE_H
#define MANAGER_PARENT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

enum { PATIENCE_LOOK_MS = 1000 };

struct patience {
	uint64_t left_ms, seen_ms;	/* seen_ms: the last look */
};

struct patience patience_begin(uint64_t now_ms, uint64_t ms);
/* A look at the clock: true when the time is over. */
bool patience_over(struct patience *p, uint64_t now_ms);
/* The time since the last look does not count. */
void patience_skip(struct patience *p, uint64_t now_ms);
/* Milliseconds until the next look is due. */
int patience_poll(const struct patience *p);
/* The earlier of two such times; -1: never. */
int patience_earlier(int a_ms, int b_ms);

#endif
