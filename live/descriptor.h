/* descriptor.h - what a call works on: what is behind a descriptor of its process? */
#ifndef LIVE_DESCRIPTOR_H
#define LIVE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum descriptor {
	DESCRIPTOR_SOCKET,
	DESCRIPTOR_PIPE,
	DESCRIPTOR_TERMINAL,	/* but not the other side of one, which is no reader's */
	DESCRIPTOR_ENDLESS,	/* gives all that is asked for: zeros, random bytes */
	DESCRIPTOR_SERVED,	/* a file that others serve, by FUSE or a network */
	DESCRIPTOR_OTHER,	/* or there is none */
};

/* Asks the kernel alone, and nobody who serves a file system: that may be the process itself,
 * which stands still. */
enum descriptor live_descriptor(pid_t pid, uint64_t fd);

/* Of a socket: has it a time limit, by SO_RCVTIMEO or SO_SNDTIMEO? */
bool live_socket_limit(int pidfd, uint64_t fd, int option);
/* Bytes without bounds, of which more may be read? */
bool live_socket_stream(int pidfd, uint64_t fd);
/* How many bytes a call waits for (SO_RCVLOWAT); 1 where that is not known. */
int live_socket_least(int pidfd, uint64_t fd);

/* When a read of a terminal ends: with a line, or by its VMIN and VTIME. */
struct live_terminal {
	bool lines;
	unsigned least, limit;
};
/* False: it is not known. */
bool live_terminal(int pidfd, uint64_t fd, struct live_terminal *out);

#endif
