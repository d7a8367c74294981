/* runcounts.h - adds up what the runs of a counting generation have counted */
#ifndef MANAGER_SAMPLES_RUNCOUNTS_H
#define MANAGER_SAMPLES_RUNCOUNTS_H

#include <stdint.h>

/* A run that counted more executions than that is taken as a smaller one of the same kind: who
 * runs a program can make up what it counts, and no one run is to be all that is seen. */
#define RUNCOUNTS_MOST ((uint64_t)1 << 40)

/* Adds the counters of one run, `n` of them as in a file of counts (lib/countsfile.h), to those
 * of all; sums stay at UINT64_MAX once they are there. */
void runcounts_add(uint64_t *all, const uint64_t *run, uint32_t n);

#endif
