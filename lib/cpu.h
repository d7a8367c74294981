/* cpu.h - what of the processor matters to a layout */
#ifndef LIB_CPU_H
#define LIB_CPU_H

#include <stdbool.h>

struct cpu {			/* as cpuid tells it */
	bool intel;
	unsigned family, model, stepping;	/* the first two with their extensions */
};

struct cpu cpu_here(void);
/* It does not keep lines of 32 bytes decoded that a jump crosses or ends at the end of
 * ("Mitigations for Jump Conditional Code Erratum", Intel 2019): Skylake, Cascade, Kaby,
 * Coffee, Whiskey, Amber and Comet Lake. */
bool cpu_decodes_jumps_by_line(const struct cpu *cpu);

#endif
