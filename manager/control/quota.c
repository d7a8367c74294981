#include "manager/control/quota.h"

static uint64_t filled(const struct quota_user *u, uint64_t now_ms)
{
	const uint64_t most = QUOTA_MOST * 1000;
	uint64_t ms = now_ms > u->at_ms ? now_ms - u->at_ms : 0;

	/* A thousandth of a token in a millisecond for each token in a second. */
	return ms >= most || u->milli + ms * QUOTA_PER_S > most ? most
								: u->milli + ms * QUOTA_PER_S;
}

static struct quota_user *find(struct quota *q, uint32_t uid, uint64_t now_ms)
{
	struct quota_user *fullest = &q->user[0];

	for (int i = 0; i < QUOTA_USERS; i++) {
		struct quota_user *u = &q->user[i];

		if (u->used && u->uid == uid)
			return u;
		if (fullest->used && (!u->used || filled(u, now_ms) > filled(fullest, now_ms)))
			fullest = u;
	}
	*fullest = (struct quota_user){ uid, true, now_ms, QUOTA_MOST * 1000 };
	return fullest;
}

unsigned quota_take(struct quota *q, uint32_t uid, unsigned tokens, uint64_t now_ms)
{
	struct quota_user *u = find(q, uid, now_ms);
	uint64_t want = (uint64_t)tokens * 1000;

	u->milli = filled(u, now_ms);
	u->at_ms = now_ms;
	if (u->milli < want)
		return (unsigned)((want - u->milli + QUOTA_PER_S * 1000 - 1) /
				  (QUOTA_PER_S * 1000));
	u->milli -= want;
	return 0;
}
