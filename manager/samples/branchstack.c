/* branchstack.c - splits branch stacks into taken branches and runs of mapped files
 *
 * From each branch but the oldest comes a pair: the run from where the branch before it led to,
 * up to this one, and this branch.  So a stack tells of a block's last branch as often as of
 * the block itself.  The oldest is only the beginning of a run.
 *
 * A mispredicted branch was taken like any other: its target is where control went in the end.
 * To leave it out would make branches that are hard to predict look as if they were hardly ever
 * taken, because nothing marks the runs in which they were not.
 *
 * Whether the code has such a branch at all is for `morph-edit interpret` to say.
 *
 * Tested by tests/unit/manager/samples/test_branchstack.c.
 */
#include "manager/samples/branchstack.h"

#include "lib/branchcounts.h"
#include "monitor/spool.h"

static bool is_kernel(uint64_t addr)
{
	return addr >> 63;
}

struct end {			/* of a branch or run */
	uint32_t file;
	file_off off;
};

static bool find(struct spaces *spaces, uint32_t pid, uint64_t addr, struct end *out)
{
	return spaces_find(spaces, pid, addr, &out->file, &out->off) == SPACE_FILE;
}

/* In one mapping, which keeps distances. */
static void take_run(struct branchset *set, struct spaces *spaces, uint32_t pid, uint64_t from,
		     uint64_t to)
{
	struct end a, b;

	if (to < from || to - from >= BRANCHCOUNT_RUN_MAX)
		return;
	if (find(spaces, pid, from, &a) && find(spaces, pid, to, &b) && a.file == b.file &&
	    b.off - a.off == to - from)
		/* when the set is full it is left out; only branches are counted */
		(void)branchset_add(set, a.file, a.off, b.off, true);
}

static enum counter take_branch(struct branchset *set, struct spaces *spaces, uint32_t pid,
				const struct spool_branch *b)
{
	struct end from, to;

	if (is_kernel(b->from) || is_kernel(b->to))
		return COUNTER_BRANCHES_KERNEL;
	if (!find(spaces, pid, b->from, &from) || !find(spaces, pid, b->to, &to) ||
	    from.file != to.file)
		return COUNTER_BRANCHES_BETWEEN;
	if (branchset_add(set, from.file, from.off, to.off, false) < 0)
		return COUNTER_BRANCHES_UNKNOWN;
	return NCOUNTER;
}

void branchstack_take(struct branchset *set, struct spaces *spaces,
		      const struct spool_event *ev, uint64_t counter[NCOUNTER])
{
	const unsigned unreal = SPOOL_BRANCH_IN_TX | SPOOL_BRANCH_ABORTED |
				SPOOL_BRANCH_WRONG_PATH;

	for (uint32_t i = ev->branches.n; i-- > 1; ) {
		struct spool_branch before = spool_branch_at(ev, i);
		struct spool_branch b = spool_branch_at(ev, i - 1);

		counter[COUNTER_BRANCHES]++;
		if (b.flags & unreal) {
			counter[COUNTER_BRANCHES_ABORTED]++;
			continue;
		}
		counter[COUNTER_BRANCHES_MISPREDICTED] +=
			(b.flags & SPOOL_BRANCH_MISPREDICTED) != 0;
		if (!is_kernel(before.to) && !is_kernel(b.from) && !(before.flags & unreal))
			take_run(set, spaces, ev->pid, before.to, b.from);
		enum counter out = take_branch(set, spaces, ev->pid, &b);
		if (out != NCOUNTER)
			counter[out]++;
	}
}
