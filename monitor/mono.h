/* mono.h - CLOCK_MONOTONIC as the kernel's own records have it
 *
 * A process in a time namespace (a container that was moved to another machine, say) sees a
 * clock with a constant offset, while samples and process events carry the machine's own time.
 * Neither clock runs while the machine is suspended, so differences are time in which something
 * could run.
 */
#ifndef MONITOR_MONO_H
#define MONITOR_MONO_H

#include <stdint.h>

/* Our clock minus the machine's; 0 also when /proc does not say. */
int64_t mono_shift_ns(void);
/* The machine's time, now. */
uint64_t mono_now_ns(int64_t shift_ns);

#endif
