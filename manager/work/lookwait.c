/* lookwait.c - when a file that changed may be read again; see lookwait.h
 *
 * Files share slots by a hash of their paths: of two in one slot, the one that was read last is
 * remembered, and the other is as if it had never been read.
 *
 * Tested by tests/unit/manager/work/test_lookwait.c.
 */
#include "manager/work/lookwait.h"

#include <stddef.h>

#include "lib/hash.h"

static const uint64_t most_bytes = UINT64_C(1) << 60;	/* more make no difference */

/* What he has spent, with what has come back since. */
static int64_t spent(const struct lookwait_bucket *b, int64_t per_s, uint64_t now_ms)
{
	uint64_t ms = now_ms > b->at_ms ? now_ms - b->at_ms : 0;

	if (!b->used || ms > INT64_MAX / 2 / (uint64_t)per_s)
		return 0;
	int64_t left = b->spent - (int64_t)ms * per_s / 1000;
	return left > 0 ? left : 0;
}

static struct lookwait_bucket *bucket_of(struct lookwait *l, uint32_t uid, uint64_t now_ms)
{
	struct lookwait_bucket *least = &l->owner[0];

	for (int i = 0; i < LOOKWAIT_OWNERS; i++) {
		struct lookwait_bucket *b = &l->owner[i];

		if (b->used && b->uid == uid)
			return b;
		if (spent(b, LOOKWAIT_PER_S, now_ms) < spent(least, LOOKWAIT_PER_S, now_ms) ||
		    (least->used && !b->used))
			least = b;
	}
	*least = (struct lookwait_bucket){ .used = true, .uid = uid, .at_ms = now_ms };
	return least;
}

/* Until less than `most` is spent. */
static uint64_t debt_ms(const struct lookwait_bucket *b, int64_t most, int64_t per_s,
			uint64_t now_ms)
{
	int64_t over = spent(b, per_s, now_ms) - most;

	return over < 0 ? 0 : (uint64_t)(over / per_s + 1) * 1000;
}

static void pay(struct lookwait_bucket *b, int64_t per_s, uint64_t bytes, uint64_t now_ms)
{
	int64_t before = spent(b, per_s, now_ms);

	b->used = true;
	b->spent = bytes < most_bytes ? before + (int64_t)(bytes + LOOKWAIT_EACH)
				      : (int64_t)most_bytes;
	b->at_ms = now_ms;
}

void lookwait_pay(struct lookwait *l, uint32_t owner, uint64_t bytes, uint64_t now_ms)
{
	if (owner == 0)
		return;
	pay(bucket_of(l, owner, now_ms), LOOKWAIT_PER_S, bytes, now_ms);
	pay(&l->all, (int64_t)LOOKWAIT_PER_S * LOOKWAIT_SHARE, bytes, now_ms);
}

static uint64_t key_of(const char *path)
{
	uint64_t h = hash_text(path);

	return h ? h : 1;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t lookwait_debt_ms(struct lookwait *l, uint32_t owner, uint64_t now_ms)
{
	const int64_t most = LOOKWAIT_MOST, per_s = LOOKWAIT_PER_S;

	if (owner == 0)
		return 0;
	return larger(debt_ms(bucket_of(l, owner, now_ms), most, per_s, now_ms),
		      debt_ms(&l->all, most * LOOKWAIT_SHARE, per_s * LOOKWAIT_SHARE, now_ms));
}

/* After so many reads. */
static uint64_t wait_after(unsigned reads)
{
	uint64_t wait = LOOKWAIT_LEAST_MS;

	if (reads < LOOKWAIT_FREE)
		return 0;
	for (unsigned i = LOOKWAIT_FREE; i < reads && wait < LOOKWAIT_MOST_MS; i++)
		wait *= 2;
	return wait < LOOKWAIT_MOST_MS ? wait : LOOKWAIT_MOST_MS;
}

uint64_t lookwait_ms(struct lookwait *l, const char *path, uint32_t owner, uint64_t bytes,
		     uint64_t now_ms)
{
	uint64_t key = key_of(path);
	size_t slot = key % LOOKWAIT_FILES;
	bool known = l->file[slot].key == key;
	unsigned reads = known ? l->file[slot].reads : 0;
	uint64_t own = wait_after(reads);
	uint64_t since = known && now_ms > l->file[slot].at_ms ? now_ms - l->file[slot].at_ms
								: 0;
	uint64_t wait = larger(since < own ? own - since : 0,
			       lookwait_debt_ms(l, owner, now_ms));

	if (wait)
		return wait;
	if (since >= 4 * larger(own, LOOKWAIT_LEAST_MS))
		reads = 0;
	l->file[slot].key = key;
	l->file[slot].at_ms = now_ms;
	l->file[slot].reads = reads + 1;
	lookwait_pay(l, owner, bytes, now_ms);
	return 0;
}
