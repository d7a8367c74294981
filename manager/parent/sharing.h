/* sharing.h - the role `share`: a process for one exchange with a fleet's database
 *
 * The Manager's request and the database's answer are descriptors that go through here unread.
 * The process has a user of its own and the time of SHARING_MS; one runs at a time.
 */
#ifndef MANAGER_PARENT_SHARING_H
#define MANAGER_PARENT_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/parent/role.h"

struct sharing {
	struct role_child child;
	uint64_t end_ms;		/* then it is ended */
};
#define SHARING_NONE { .child = { .role = MSG_ROLE_SHARE, .pidfd = -1, .sock = -1 } }

/* MSG_SHARE, whose descriptors are taken.  -1: there is none under way for it; *told is the
 * MSG_SHARED that says why. */
int sharing_begin(struct sharing *s, const struct role_options *o, struct msg *m,
		  struct msg *told);
/* `readable`: its socket has something.  True: it is over, and *told is the MSG_SHARED, whose
 * descriptor is the caller's. */
bool sharing_step(struct sharing *s, bool readable, struct msg *told);
void sharing_end(struct sharing *s);

#endif
