/* pin.h - benches run where they are told to */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* This process, and what it starts, runs on that CPU alone; a negative one: on all. */
static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (cpu < 0 || i == cpu)
			CPU_SET((unsigned)i, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		perror("sched_setaffinity");
		exit(2);
	}
}

#endif
