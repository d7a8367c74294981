/* descriptor.h - what a thread waits for: what is behind a descriptor of its process? */
#ifndef LIVE_DESCRIPTOR_H
#define LIVE_DESCRIPTOR_H

#include <stdint.h>
#include <sys/types.h>

enum descriptor {
	DESCRIPTOR_SOCKET,
	DESCRIPTOR_SERVED,	/* a file that others serve, by FUSE or a network */
	DESCRIPTOR_OTHER,	/* or there is none */
};

/* Asks the kernel alone, and nobody who serves a file system: that may be the process itself,
 * which stands still. */
enum descriptor live_descriptor(pid_t pid, uint64_t fd);

#endif
