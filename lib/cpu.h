/* cpu.h - the properties of a processor on which the best layout depends */
#ifndef LIB_CPU_H
#define LIB_CPU_H

#include <stdbool.h>

struct cpu {			/* as cpuid tells it */
	bool intel;
	unsigned family, model, stepping;	/* the first two with their extensions */
};

struct cpu cpu_here(void);
/* True for a processor that does not keep a 32-byte line of code decoded if a jump crosses the
 * line's end or ends there ("Mitigations for Jump Conditional Code Erratum", Intel 2019):
 * Skylake, Cascade, Kaby, Coffee, Whiskey, Amber and Comet Lake. */
bool cpu_decodes_jumps_by_line(const struct cpu *cpu);

#endif
