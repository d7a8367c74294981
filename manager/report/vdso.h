/* vdso.h - the code that the kernel maps into every process, as a file
 *
 * It is the same in all 64-bit processes of a boot, our own among them. */
#ifndef MANAGER_REPORT_VDSO_H
#define MANAGER_REPORT_VDSO_H

struct err;

/* A descriptor of its bytes. */
int vdso_open(struct err *err);

#endif
