/* blockindex_kept.c - address-to-block indexes kept from one spool file to the next
 *
 * INVARIANTS
 *   I1  bytes is the sum over all entries;
 *   I2  an entry is in the bucket of its content's first byte, every content once.
 *
 * Tested by tests/unit/manager/samples/test_blockindex.c.
 */
#include "manager/samples/blockindex.h"
#include "lib/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

enum { BUCKETS = 256 };

struct entry {
	struct digest content, original;
	struct blockindex *index;
	size_t bytes;
	uint64_t round;			/* in which it was asked for last */
	struct entry *next;
};

struct blockindex_kept {
	struct entry *bucket[BUCKETS];
	size_t bytes, max_bytes;
	uint64_t round;
	bool swept;			/* in this round: those not asked for are gone */
	struct digest last;		/* put */
};

struct blockindex_kept *blockindex_kept_new(size_t max_bytes)
{
	struct blockindex_kept *k = memory_new(1, sizeof(*k));

	k->max_bytes = max_bytes;
	return k;
}

/* Those for which `gone` says so. */
static void drop(struct blockindex_kept *k,
		 bool (*gone)(const struct entry *e, const void *ctx),
		 const void *ctx)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct entry **at = &k->bucket[i]; *at; ) {
			struct entry *e = *at;

			if (!gone(e, ctx)) {
				at = &e->next;
				continue;
			}
			*at = e->next;
			k->bytes -= e->bytes;
			blockindex_free(e->index);
			free(e);
		}
}

static bool is_any(const struct entry *e, const void *ctx)
{
	(void)e;
	(void)ctx;
	return true;
}

static bool is_of_original(const struct entry *e, const void *original)
{
	return digest_equal(&e->original, original);
}

static bool is_content(const struct entry *e, const void *content)
{
	return digest_equal(&e->content, content);
}

static bool is_old(const struct entry *e, const void *round)
{
	return e->round + 1 < *(const uint64_t *)round;
}

void blockindex_kept_free(struct blockindex_kept *k)
{
	if (!k)
		return;
	drop(k, is_any, NULL);
	free(k);
}

void blockindex_kept_round(struct blockindex_kept *k)
{
	k->round++;
	k->swept = false;
}

const struct blockindex *blockindex_kept_get(struct blockindex_kept *k,
					     const struct digest *content)
{
	for (struct entry *e = k->bucket[content->b[0]]; e; e = e->next)
		if (digest_equal(&e->content, content)) {
			e->round = k->round;
			return e->index;
		}
	return NULL;
}

void blockindex_kept_put(struct blockindex_kept *k, const struct digest *content,
		     const struct digest *original, struct blockindex *p)
{
	struct entry *e = memory_new(1, sizeof(*e));
	struct entry **bucket = &k->bucket[content->b[0]];

	assert(!blockindex_kept_get(k, content));
	*e = (struct entry){ *content, *original, p, blockindex_bytes(p), k->round, *bucket };
	*bucket = e;
	k->bytes += e->bytes;
	k->last = *content;
}

void blockindex_kept_trim(struct blockindex_kept *k)
{
	if (k->bytes > k->max_bytes && !k->swept) {
		drop(k, is_old, &k->round);
		k->swept = true;
	}
	if (k->bytes > k->max_bytes)
		drop(k, is_content, &k->last);
}

void blockindex_kept_forget(struct blockindex_kept *k, const struct digest *original)
{
	drop(k, is_of_original, original);
}

size_t blockindex_kept_bytes(const struct blockindex_kept *k)
{
	return k->bytes;
}
