/* cpu.c - asks cpuid for the processor's model, and tells what is known of that model */
#include "lib/cpu.h"

#include <cpuid.h>
#include <stddef.h>

struct cpu cpu_here(void)
{
	struct cpu cpu = { 0 };
	unsigned a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return cpu;
	cpu.intel = b == signature_INTEL_ebx && c == signature_INTEL_ecx &&
		    d == signature_INTEL_edx;
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return cpu;
	cpu.stepping = a & 0xf;
	cpu.family = a >> 8 & 0xf;
	cpu.model = a >> 4 & 0xf;
	if (cpu.family == 6 || cpu.family == 15)
		cpu.model |= a >> 12 & 0xf0;
	if (cpu.family == 15)
		cpu.family += a >> 20 & 0xff;
	return cpu;
}

bool cpu_decodes_jumps_by_line(const struct cpu *cpu)
{
	static const struct {
		unsigned model, first, last;	/* steppings */
	} of_family_6[] = {
		{ 0x4e, 3, 3 },	 { 0x5e, 3, 3 },	 /* Skylake */
		{ 0x55, 4, 7 },	/* Skylake and Cascade Lake, for servers */
		{ 0x8e, 9, 12 }, { 0x9e, 9, 13 }, /* Kaby, Amber, Whiskey, Coffee, Comet Lake */
		{ 0xa5, 0, 15 }, { 0xa6, 0, 0 },  { 0xae, 10, 10 }, /* Comet Lake, Kaby Lake */
	};

	for (size_t i = 0; cpu->intel && cpu->family == 6 &&
			   i < sizeof(of_family_6) / sizeof(of_family_6[0]); i++)
		if (of_family_6[i].model == cpu->model)
			return cpu->stepping >= of_family_6[i].first &&
			       cpu->stepping <= of_family_6[i].last;
	return false;
}
