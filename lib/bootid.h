/* bootid.h - which boot of the machine this is: numbers of processes come again after it */
#ifndef LIB_BOOTID_H
#define LIB_BOOTID_H

enum { BOOTID_MAX = 40 };

/* As /proc/sys/kernel/random/boot_id has it; "" where that cannot be read. */
void bootid_read(char out[BOOTID_MAX]);

#endif
