/* monitor_overhead.c - CPU time that a program loses to interrupts and preemption
 *
 *   monitor_overhead CPU MS
 *
 * A loop pinned to a CPU reads the time-stamp counter.  A gap between two readings of over 300
 * cycles and under 20 us is time that somebody else had: an interrupt with all that it brings.
 * Longer gaps are other programs' turns (or the hypervisor's); they count neither as lost nor
 * as ours.  Prints the lost share in percent, the number of gaps, and the share of longer gaps.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <x86intrin.h>

#include "bench/pin.h"

enum { SHORT_CYCLES = 300, LONG_US = 20 };

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC_RAW, &ts);	/* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static double cycles_per_us(void)
{
	uint64_t t0 = now_ns(), c0 = __rdtsc(), t1;

	do
		t1 = now_ns();
	while (t1 - t0 < 50000000);
	return (double)(__rdtsc() - c0) * 1000.0 / (double)(t1 - t0);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		(void)fprintf(stderr, "usage: monitor_overhead CPU MS\n");
		return 2;
	}
	pin(atoi(argv[1]));
	/* fewer long gaps; without it more rounds */
	(void)setpriority(PRIO_PROCESS, 0, -20);
	double per_us = cycles_per_us();
	uint64_t longest = (uint64_t)(LONG_US * per_us), lost = 0, away = 0, gaps = 0;
	uint64_t begin = __rdtsc(), last = begin;
	uint64_t end = begin + (uint64_t)(atof(argv[2]) * 1000.0 * per_us);
	while (last < end) {
		uint64_t c = __rdtsc(), gap = c - last;

		if (gap > SHORT_CYCLES) {
			if (gap < longest) {
				lost += gap;
				gaps++;
			} else {
				away += gap;
			}
		}
		last = c;
	}
	double total = (double)(last - begin);
	printf("%.4f %llu %.4f\n", 100.0 * (double)lost / (total - (double)away),
	       (unsigned long long)gaps, 100.0 * (double)away / total);
	return 0;
}
