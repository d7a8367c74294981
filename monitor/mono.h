/* mono.h - CLOCK_MONOTONIC as the kernel's own records have it
 *
 * A process in a time namespace, as of containers that were moved, sees one that is shifted for
 * good, while samples and process events come with the machine's.  Neither goes on while the
 * machine is suspended, so differences are time in which something could run.
 */
#ifndef MONITOR_MONO_H
#define MONITOR_MONO_H

#include <stdint.h>

/* Ours minus the machine's; 0 also when /proc does not tell. */
int64_t mono_shift_ns(void);
/* The machine's, now. */
uint64_t mono_now_ns(int64_t shift_ns);

#endif
