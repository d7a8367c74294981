/* cpu.c - asks cpuid for the processor's model, and tells what is known of that model */
#include "lib/cpu.h"

#include <cpuid.h>
#include <stddef.h>
#include <string.h>

struct cpu cpu_here(void)
{
	struct cpu cpu = { 0 };
	unsigned a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return cpu;
	cpu.intel = b == signature_INTEL_ebx && c == signature_INTEL_ecx &&
		    d == signature_INTEL_edx;
	cpu.amd = b == signature_AMD_ebx && c == signature_AMD_ecx && d == signature_AMD_edx;
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

static const struct cpu_costs costs[] = {
#define CPU(...) { __VA_ARGS__ },
#include "lib/cpucosts.def"
#undef CPU
};

enum { NCOSTS = sizeof(costs) / sizeof(costs[0]) };

const struct cpu_costs *cpu_costs_named(const char *name)
{
	for (size_t i = 0; i < NCOSTS; i++)
		if (strcmp(costs[i].name, name) == 0)
			return &costs[i];
	return NULL;
}

/* The models of a vendor's family from first to last. */
struct models {
	unsigned family, first, last;
	const char *name;
};

static const struct models amd[] = {
	{ 0x17, 0x30, 0xff, "zen2" },
	{ 0x19, 0x00, 0x0f, "zen3" },	{ 0x19, 0x10, 0x1f, "zen4" },
	{ 0x19, 0x20, 0x5f, "zen3" },	{ 0x19, 0x60, 0xaf, "zen4" },
	{ 0x1a, 0x00, 0xff, "zen5" },
};

static const struct models intel[] = {
	{ 6, 0x55, 0x55, "cooper-lake" },
	{ 6, 0x6a, 0x6a, "sunny-cove" },	/* Ice Lake, for servers */
	{ 6, 0x6c, 0x6c, "sunny-cove" },
	{ 6, 0x7d, 0x7e, "sunny-cove" },	/* Ice Lake */
	{ 6, 0x8c, 0x8d, "sunny-cove" },	/* Tiger Lake */
	{ 6, 0x8f, 0x8f, "golden-cove" },	/* Sapphire Rapids */
	{ 6, 0x97, 0x97, "golden-cove" },	/* Alder Lake */
	{ 6, 0x9a, 0x9a, "golden-cove" },
	{ 6, 0xa7, 0xa7, "sunny-cove" },	/* Rocket Lake */
	{ 6, 0xaa, 0xaa, "golden-cove" },	/* Meteor Lake */
	{ 6, 0xac, 0xae, "golden-cove" },	/* Granite Rapids */
	{ 6, 0xb5, 0xb5, "lion-cove" },		/* Arrow Lake */
	{ 6, 0xb7, 0xb7, "golden-cove" },	/* Raptor Lake */
	{ 6, 0xba, 0xba, "golden-cove" },
	{ 6, 0xbd, 0xbd, "lion-cove" },		/* Lunar Lake */
	{ 6, 0xbf, 0xbf, "golden-cove" },
	{ 6, 0xc5, 0xc6, "lion-cove" },		/* Arrow Lake */
	{ 6, 0xcf, 0xcf, "golden-cove" },	/* Emerald Rapids */
};

static const char *name_of(const struct cpu *cpu, const struct models *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (row[i].family == cpu->family && cpu->model >= row[i].first &&
		    cpu->model <= row[i].last)
			return row[i].name;
	return costs[0].name;
}

const struct cpu_costs *cpu_costs(const struct cpu *cpu)
{
	if (cpu_decodes_jumps_by_line(cpu))
		return cpu_costs_named("skylake");
	if (cpu->amd)
		return cpu_costs_named(name_of(cpu, amd, sizeof(amd) / sizeof(amd[0])));
	if (cpu->intel)
		return cpu_costs_named(name_of(cpu, intel, sizeof(intel) / sizeof(intel[0])));
	return &costs[0];
}
