/* spool_branch.c - one branch of a branch stack: the kernel's form, and the one that is stored
 *
 * The kernel has 24 bytes for each: from, to, and a word of flags, of which only those are kept
 * that decide whether the branch counts.
 *
 * Tested by tests/unit/monitor/test_spool_branch.c.
 */
#include "lib/wr.h"
#include "monitor/spool_format.h"

/* Bits of the kernel's word: mispredicted, predicted, in a transaction, aborted; two bits from
 * SPEC on say how a speculated branch ended, 1 that it was on a wrong path. */
enum { MISPREDICTED = 1 << 0, IN_TX = 1 << 2, ABORTED = 1 << 3, SPEC = 24, SPEC_WRONG = 1 };

struct spool_branch spool_branch_at(const struct spool_event *ev, uint32_t i)
{
	struct bytes all = { ev->branches.entry,
			     (uint64_t)ev->branches.n * SPOOL_BRANCH_BYTES };
	struct rd r = rd_of(
		bytes_at(all, (uint64_t)i * SPOOL_BRANCH_BYTES, SPOOL_BRANCH_BYTES));
	struct spool_branch b = { .from = rd_u64(&r) };
	b.to = rd_u64(&r);
	uint64_t word = rd_u64(&r);

	b.flags = (word & MISPREDICTED ? SPOOL_BRANCH_MISPREDICTED : 0) |
		  (word & IN_TX ? SPOOL_BRANCH_IN_TX : 0) |
		  (word & ABORTED ? SPOOL_BRANCH_ABORTED : 0) |
		  ((word >> SPEC & 3) == SPEC_WRONG ? SPOOL_BRANCH_WRONG_PATH : 0);
	return b;
}

void spool_branch_put(struct wr *out, const struct spool_branch *b)
{
	uint64_t word = (b->flags & SPOOL_BRANCH_MISPREDICTED ? MISPREDICTED : 0) |
			(b->flags & SPOOL_BRANCH_IN_TX ? IN_TX : 0) |
			(b->flags & SPOOL_BRANCH_ABORTED ? ABORTED : 0) |
			(b->flags & SPOOL_BRANCH_WRONG_PATH ? SPEC_WRONG << SPEC : 0);

	wr_u64(out, b->from);
	wr_u64(out, b->to);
	wr_u64(out, word);
}
