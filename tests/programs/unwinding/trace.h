/* trace.h - program counters of this module as addresses of the file, for unwinding.sh to
 * translate
 *
 * A return address is printed less one, so that it lies in the call; `@0x1234` is an address of
 * this module, `-` one of another.  The script takes addresses of new text back to the
 * original's.
 */
#ifndef TRACE_H
#define TRACE_H

#include <link.h>
#include <stdint.h>
#include <stdio.h>

struct module {
	uintptr_t bias, lo, hi;
};

static inline int module_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = (struct module *)arg;
	uintptr_t here = (uintptr_t)&module_find;
	int found = 0;

	(void)size;
	m->bias = info->dlpi_addr, m->lo = UINTPTR_MAX, m->hi = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = at + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		m->lo = at < m->lo ? at : m->lo;
		m->hi = end > m->hi ? end : m->hi;
		found |= here >= at && here < end;
	}
	return found;
}

static inline int trace_inside(uintptr_t pc)
{
	static struct module m;

	if (!m.hi)
		(void)dl_iterate_phdr(module_find, &m);
	return pc >= m.lo && pc < m.hi;
}

static inline void trace_print(uintptr_t pc)
{
	struct module m;

	(void)dl_iterate_phdr(module_find, &m);
	if (pc >= m.lo && pc < m.hi)
		printf(" @%#lx", (unsigned long)(pc - m.bias));
	else
		printf(" -");
}
#endif
