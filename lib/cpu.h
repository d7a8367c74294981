/* cpu.h - the properties of a processor on which the best layout depends */
#ifndef LIB_CPU_H
#define LIB_CPU_H

#include <stdbool.h>

struct cpu {			/* as cpuid tells it */
	bool intel;
	unsigned family, model, stepping;	/* the first two with their extensions */
	bool amd;
};

/* What it costs a processor family, in cycles for each execution, where the ends of lines lie.
 * A line has 64 bytes, a half 32. */
struct cpu_costs {
	const char *name;
	double line, half;	/* the end of a line, of a half in a block */
	double fall;		/* the end of a line between a block and that which follows */
	/* on top of `line`: in a comparison and the branch that it is fused with; in a block
	 * that ends in an indirect jump; in a short loop, each time round */
	double pair, dispatch, loop;
	double head;		/* a loop's start that is at no multiple of 16 */
	/* a jump across the end of a line or half, or up to there */
	double jump;
	double nop, prefix;	/* a NOP; a prefix without meaning */
	/* an indirect jump, where all of its function end at the same offset of 16 bytes */
	double alike;
};

struct cpu cpu_here(void);
/* True for a processor that does not keep a 32-byte line of code decoded if a jump crosses the
 * line's end or ends there ("Mitigations for Jump Conditional Code Erratum", Intel 2019):
 * Skylake, Cascade, Kaby, Coffee, Whiskey, Amber and Comet Lake. */
bool cpu_decodes_jumps_by_line(const struct cpu *cpu);
/* Those of the processor's family, or of what is not known.  Never NULL. */
const struct cpu_costs *cpu_costs(const struct cpu *cpu);
/* The family called `name`; NULL: there is none. */
const struct cpu_costs *cpu_costs_named(const char *name);

#endif
