/* kernel_field.h - where the running kernel keeps a field of one of its structs
 *
 * From the description of its own types (BTF) in /sys/kernel/btf/vmlinux.
 */
#ifndef MONITOR_KERNEL_FIELD_H
#define MONITOR_KERNEL_FIELD_H

#include <stdint.h>

#include "lib/rd.h"

struct err;

/* Bytes from the beginning of the struct; fields of structs without a name in it are its own.
 * -1: the kernel does not tell, or there is no such field. */
int kernel_field(const char *in, const char *field, uint32_t *out, struct err *err);
/* The same in a description that is in memory, whatever it is. */
int kernel_field_in(struct bytes btf, const char *in, const char *field, uint32_t *out,
		    struct err *err);

#endif
