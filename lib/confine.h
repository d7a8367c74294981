/* confine.h - a process gives up every right that its part of the work does not need
 *
 * What is given up cannot be had back.  In a sanitizer build the filters of system calls and
 * the limit of memory are left out, because the sanitizers need more.
 */
#ifndef LIB_CONFINE_H
#define LIB_CONFINE_H

#include <stdint.h>

struct err;

/* For a job that has its input in memory and its output open: no new privileges, no core
 * file, also none that a program takes, at most `memory_bytes` of address space and `cpu_s`
 * of CPU time (0: as inherited), and from then on only the system calls that write to open
 * descriptors, manage memory that is never code nor shared, and exit; any other one kills the
 * process with SIGSYS.  Nothing can be opened or read any more.  (confine_program() has to let
 * the loader read libraries; a sound job cannot read even these once it looks at its input.) */
int confine_job(uint64_t memory_bytes, unsigned cpu_s, struct err *err);

/* For a child that is about to execute a program which may be broken or taken over, and so
 * cannot be relied on to confine itself.  The child has the descriptors below `nfd`, and
 * `program`, which is close-on-exec and higher than any descriptor that the program may open.
 * Needs "no new privileges".  Afterwards:
 *   writing     goes to descriptors 1, 2 and first_out..nfd-1 only, not into what is mapped
 *   files       of libraries can be read, as the loader must; nothing else can be opened, and
 *               nothing executed but the program itself and its loader
 *   code        comes from files of libraries only, never from memory or from its descriptors
 *   others      no processes or threads, signals, sockets, namespaces, tracing, devices
 * What is forbidden fails with EPERM or EACCES; the loader tries some of it.  1: done; 0:
 * done but for the files, because the kernel has no Landlock. */
int confine_program(int program, int first_out, int nfd, struct err *err);

enum confine_role { CONFINE_MONITOR, CONFINE_MANAGER, CONFINE_SHARE };

/* For a part of the daemon that has changed its user and has its descriptors: from then on
 *   files       beneath `folder` can be read, made, written and removed; those of /proc, and
 *               for the manager /sys, /etc, dpkg's lists of files and what is beneath `host`
 *               (NULL: nothing), can be read as far as the user may; for the part that shares
 *               only /etc, and libraries, as name services and TLS need them, and no `folder`
 *   sockets     the manager answers on those it has, and reaches local ones; no network but for
 *               the part that shares, which connects, also to names, and answers nobody
 *   code        none but what is mapped, and in the part that shares libraries; nothing is
 *               executed
 *   others      no processes or threads, signals, tracing, namespaces; no device is controlled
 *               but the monitor's samplers
 * As above: EPERM or EACCES, 1 or 0. */
int confine_role(enum confine_role role, const char *folder, const char *host, struct err *err);

#endif
