/* left.h - where a stop writes how much time is left to sleep, though the sleep goes on
 *
 * nanosleep() and clock_nanosleep() write that when they are interrupted, and only then do
 * programs look at it; but the kernel does so at a stop as well.  A program that sleeps again
 * by the same variable would sleep less.  So it is put back, unless a signal is due, which
 * makes the call fail; where one comes later, the kernel writes it once more.
 */
#ifndef LIVE_LEFT_H
#define LIVE_LEFT_H

#include <stdint.h>
#include <sys/types.h>

struct left {
	uint64_t at;		/* address; 0: there is nothing */
	unsigned char was[16];	/* struct timespec */
	uint64_t switches;	/* how often the thread had given up its CPU by itself */
};

struct waiting;

/* Of a thread that waits in a call, made by the instruction in front of `pc`. */
void left_save(pid_t pid, const struct waiting *w, uint64_t pc, struct left *out);
/* Of a stopped thread, which will go on sleeping; nothing if it slept elsewhere meanwhile. */
void left_put_back(pid_t pid, pid_t tid, const struct left *l);

#endif
