/* kernelnames.h - the names of the kernel's procedures, by address
 *
 * They are read once, as /proc/kallsyms has them then: of a module of the kernel that is loaded
 * later nothing is known.  Addresses stay in here and in the kernel's rings: what leaves the
 * process is names alone, because where the kernel lies is for nobody to know who attacks it.
 */
#ifndef MONITOR_KERNELNAMES_H
#define MONITOR_KERNELNAMES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct kernelnames;
struct spool_event;

/* The kernel is set to show addresses to nobody. */
bool kernelnames_hidden(void);
/* A descriptor, to be opened with the rights for which addresses are shown; -1. */
int kernelnames_open(struct err *err);
/* Reads them, which needs no rights any more, and closes the descriptor.  NULL: there are
 * none. */
struct kernelnames *kernelnames_read(int fd, struct err *err);
void kernelnames_free(struct kernelnames *k);		/* NULL is allowed */

/* The procedure that has the address, "NAME" or "NAME [MODULE]"; NULL: not known. */
const char *kernelnames_at(const struct kernelnames *k, uint64_t addr);
struct kernelnames_range {
	uint64_t start, end;		/* 0, 0: there is none */
};
struct kernelnames_range kernelnames_of(const struct kernelnames *k, const char *name);
/* Names the procedure of a sample that was taken in the kernel.  k == NULL: none is known. */
void kernelnames_tell(const struct kernelnames *k, struct spool_event *ev);

#endif
