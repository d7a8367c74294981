/* msg.h - messages between the roles of morphd
 *
 * One datagram each over a SOCK_SEQPACKET pair.  msg.def says for every message who may send it
 * to whom, how many numbers in which ranges, digests, descriptors and how much text it has; the
 * receiver checks all of it, so a handler never sees a value that the table does not permit.  A
 * message that fails the check is a lie: the caller gives up the peer.
 *
 *   "MM" | u8 version | u8 type | u32 serial | u64 number... | 32 bytes digest... | text (no
 *   NUL)
 */
#ifndef LIB_MSG_H
#define LIB_MSG_H

#include <stdint.h>

#include "lib/digest.h"
#include "lib/rd.h"
#include "lib/wr.h"

struct err;

enum { MSG_VERSION = 1 };

enum msg_role { MSG_ROLE_PARENT, MSG_ROLE_MANAGER, MSG_ROLE_MONITOR, MSG_ROLE_SHARE };

enum msg_type {
	MSG_NONE,
#define MSG(id, from, to, ndigest, fds, text) MSG_##id,
#define NUM(id, index, name, least, most)
#include "lib/msg.def"
#undef MSG
#undef NUM
	NMSG
};

enum msg_num {			/* indices into num[] */
#define MSG(id, from, to, ndigest, fds, text)
#define NUM(id, index, name, least, most) MSG_##id##_##name = index,
#include "lib/msg.def"
#undef MSG
#undef NUM
};

enum { MSG_MAX_NUM = 18, MSG_MAX_DIGEST = 3, MSG_MAX_FD = 4, MSG_MAX_TEXT = 4095 };
enum { MSG_MAX_BYTES = 8 + 8 * MSG_MAX_NUM + 32 * MSG_MAX_DIGEST + MSG_MAX_TEXT };

struct msg {
	enum msg_type type;
	uint32_t serial;
	uint64_t num[MSG_MAX_NUM];
	struct digest digest[MSG_MAX_DIGEST];
	char text[MSG_MAX_TEXT + 1];
	int nfd, fd[MSG_MAX_FD];	/* received ones are the receiver's to close */
};

/* Leaves fd[] alone. */
int msg_decode(struct bytes b, enum msg_role from, enum msg_role to, struct msg *out,
	       struct err *err);
/* Asserts that *m is what the table permits: what we send is our own. */
void msg_encode(const struct msg *m, struct wr *out);

/* Waits some seconds for a peer that does not read, then fails; EPIPE and the like are errors.
 * Descriptors stay the caller's. */
int msg_send(int sock, const struct msg *m, struct err *err);
/* 1: *out filled; 0: nothing there (non-blocking socket); -1: end of file, error or a lie.
 * Descriptors are of regular files.  On -1 and 0 none is left open. */
int msg_receive(int sock, enum msg_role from, enum msg_role to, struct msg *out,
		struct err *err);
void msg_close_fds(struct msg *m);
const char *msg_name(enum msg_type type);

#endif
