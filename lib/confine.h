/* confine.h - processes that give up everything but what their part of the work needs
 *
 * None of this can be undone.  In a sanitizer build the filters of system calls are left out,
 * because the sanitizers need more.
 */
#ifndef LIB_CONFINE_H
#define LIB_CONFINE_H

#include <stdint.h>

struct err;

/* For a job that has its input in memory and its output open: no new privileges, no core
 * file, also none that a program takes, at most `memory_bytes` of address space and `cpu_s` of
 * CPU time (0: as inherited), and from then on only the system calls that write to open
 * descriptors, manage memory that is never code nor shared, and exit; any other one kills the
 * process with SIGSYS.  Nothing can be read any more, nor opened: what the cage below has to
 * leave to the loader, files of libraries, is out of reach before the first byte of input is
 * looked at. */
int confine_job(uint64_t memory_bytes, unsigned cpu_s, struct err *err);

/* For a child that is about to execute a program which may be broken or taken over: what it
 * could not do to itself, it cannot do at all.  It has the descriptors below `nfd`, and
 * `program`, which closes itself and is higher than any that it may open.  Needs "no new
 * privileges".  Afterwards:
 *   writing     goes to descriptors 1, 2 and first_out..nfd-1 only, not into what is mapped
 *   files       of libraries can be read, as the loader must; nothing else can be opened, and
 *               nothing executed but the program itself and its loader
 *   code        comes from files of libraries only, never from memory or from its descriptors
 *   others      no processes or threads, signals, sockets, namespaces, tracing, devices
 * What is forbidden fails with EPERM or EACCES; the loader tries some of it.  1: done; 0:
 * done but for the files, because the kernel has no Landlock. */
int confine_program(int program, int first_out, int nfd, struct err *err);

enum confine_role { CONFINE_MONITOR, CONFINE_MANAGER };

/* For a part of the daemon that has changed its user and has its descriptors: from then on
 *   files       beneath `folder` can be read, made, written and removed; those of /proc, and
 *               for the manager /sys, /etc, dpkg's lists of files and what is beneath `host`
 *               (NULL: nothing), can be read as far as the user may
 *   sockets     the manager answers on those it has, and reaches local ones; no network
 *   code        none but what is mapped; nothing is executed
 *   others      no processes or threads, signals, tracing, namespaces; no device is controlled
 *               but the monitor's samplers
 * As above: EPERM or EACCES, 1 or 0. */
int confine_role(enum confine_role role, const char *folder, const char *host, struct err *err);

#endif
