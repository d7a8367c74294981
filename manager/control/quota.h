/* quota.h - how much each user may ask for: a bucket of tokens that fills at a constant rate
 *
 * Knows users as numbers, and times.  A request costs tokens; without enough of them it is
 * refused, so that nobody's requests keep the manager from its work.  Users beyond QUOTA_USERS
 * take the place of the one whose bucket is fullest, who loses nothing by it if it is full.
 */
#ifndef MANAGER_CONTROL_QUOTA_H
#define MANAGER_CONTROL_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

enum { QUOTA_USERS = 64, QUOTA_MOST = 40, QUOTA_PER_S = 4 };

struct quota_user {
	uint32_t uid;
	bool used;
	uint64_t at_ms;		/* when its bucket held `milli` */
	uint64_t milli;		/* thousandths of a token */
};

struct quota {			/* zeroed before its first use */
	struct quota_user user[QUOTA_USERS];
};

/* Takes `tokens`, at most QUOTA_MOST; 0, or the seconds after which there are so many. */
unsigned quota_take(struct quota *q, uint32_t uid, unsigned tokens, uint64_t now_ms);

#endif
