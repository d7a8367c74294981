/* counterstart.h - what a program with private counters runs first: it makes the memory that it
 * counts in, and goes on as the original does
 *
 * The memory is shared with the program's forks and has no name: root can open it while the
 * program runs (/proc/PID/map_files), nobody else can.  Where the kernel refuses, the program
 * counts in memory of its own, and the counts are lost.
 */
#ifndef EDITOR_EMIT_COUNTERSTART_H
#define EDITOR_EMIT_COUNTERSTART_H

#include "lib/addr.h"
#include "lib/wr.h"

enum { COUNTERSTART_SIZE = 85 };	/* bytes of code */

/* Appends the code as it stands at address `at`.  It maps `size` bytes at `counters`, sets
 * counter 0 to 1 and goes on at `next`, with all registers and flags as they were.  All is in
 * reach of 32 bits. */
void counterstart_write(new_vaddr at, new_vaddr counters, uint32_t size, vaddr next,
			struct wr *out);

#endif
