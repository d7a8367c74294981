/* test_branchstack.c - branch stacks of a spool become branches and runs of a file */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "lib/branchcounts.h"
#include "lib/err.h"
#include "lib/wr.h"
#include "manager/samples/attribute.h"
#include "monitor/spool.h"

/* Text at 0x401000 (file 0x1000), blocks 0x0-0x10, 0x10-0x20. */
static struct blockmap_seg seg[] = { { 0x401000, 0x1000, 0x1000 } };
static struct blocktable_fn fns[] = { { 0x401000, 0x20, 0 } };
static struct blocktable_block blocks[] = { { 0x00, 0x10, 4, 0 }, { 0x10, 0x10, 4, 0 } };
static struct blocktable table = {
	.base = 0x401000, .text_size = 0x1000, .nseg = 1, .nfn = 1, .nblock = 2,
	.seg = seg, .fn = fns, .block = blocks,
};
static struct blockindex *of_table;

static int resolve(void *ctx, const struct space_file *file, struct attribute_target *out,
		   struct err *err)
{
	(void)ctx;
	(void)err;
	if (!of_table)
		of_table = blockindex_new(&table, NULL);
	if (file->inode != 1)
		return 0;
	*out = (struct attribute_target){ 5, of_table, 0, NULL, false };
	return 1;
}

/* What it was given of branch stacks. */
static struct branchcount branch_seen[16];
static unsigned nbranch_seen;

static int take_branches(void *ctx, const struct attribute_target *target, struct bytes stream,
			 struct edgecounts *out, struct err *err)
{
	static const char text[] =
		"morph-profile 2\nmodule /orig\nsha256 "
		"0000000000000000000000000000000000000000000000000000000000000000\n"
		"clock branches\noutside 5.000\nedge 0x401000 0x401010 9.000\n";
	struct branchcounts_reader r;

	(void)ctx;
	assert_true(target->index == of_table);
	assert_int_equal(branchcounts_open(stream, &r, err), 0);
	while (nbranch_seen < 16 &&
	       branchcounts_read(&r, &branch_seen[nbranch_seen], err) == 1)
		nbranch_seen++;
	return edgecounts_read((struct bytes){ (const uint8_t *)text, sizeof(text) - 1 },
			       &table, out, err);
}

static const struct attribute_resolver taking_branches = {
	.resolve = resolve, .interpret = take_branches
};
static void put(struct spool_writer *w, struct spool_event ev)
{
	ev.time_ns = 1000000;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
}

static void put_map(struct spool_writer *w, uint64_t addr, uint64_t pgoff, uint64_t inode,
		    const char *path)
{
	put(w, (struct spool_event){ .kind = SPOOL_MMAP, .pid = 10, .tid = 10,
				     .mmap = { .addr = addr, .len = 0x1000, .pgoff = pgoff,
					       .inode = inode, .path = path } });
}

static void put_stack(struct spool_writer *w, uint32_t pid, const struct spool_branch *b,
		      uint32_t n)
{
	struct wr entries = { 0 };

	for (uint32_t i = 0; i < n; i++)
		spool_branch_put(&entries, &b[i]);
	put(w, (struct spool_event){ .kind = SPOOL_BRANCHES, .pid = pid, .tid = pid,
				     .branches = { n, entries.p } });
	wr_free(&entries);
}

static void check_branch(unsigned i, uint64_t from, uint64_t to, uint64_t count, bool run)
{
	assert_true(i < nbranch_seen);
	assert_int_equal(branch_seen[i].from, from);
	assert_int_equal(branch_seen[i].to, to);
	assert_int_equal(branch_seen[i].count, count);
	assert_int_equal(branch_seen[i].run, run);
}

static const struct spool_branch strange[] = {	/* in a file that is no module */
	{ 0x71000010, 0x71000020, 0 },
	{ 0x71000030, 0x71000000, 0 },
	{ 0x71000010, 0x71000020, 0 },
};

/* Process 10 runs the original; all addresses are its: what counts, and what does not. */
static void branch_stacks_become_branches_and_runs_of_a_file(void **state)
{
	static const struct spool_branch good[] = {	/* newest first */
		{ 0x5500100c, 0x55001010, SPOOL_BRANCH_MISPREDICTED },
		{ 0x5500101e, 0x55001000, 0 },
		{ 0x5500100c, 0x55001010, 0 },
		{ 0x55001050, 0x55001000, 0 },		/* the oldest: only where it led to */
	};
	static const struct spool_branch bad[] = {
		{ 0x55001100, 0x71000005, 0 },		/* to another file */
		{ 0x55001100, 0x10, 0 },		/* to none */
		{ 0xffffffff81000000, 0x55001000, 0 },
		{ 0x55001104, 0x55001200, SPOOL_BRANCH_ABORTED },
		{ 0x55001104, 0x55001200, SPOOL_BRANCH_IN_TX },
		{ 0x55001104, 0x55001200, SPOOL_BRANCH_WRONG_PATH },
		{ 0x55001300, 0x55001400, 0 },
	};
	struct spaces *spaces = spaces_new(NULL);
	struct attribute *a = attribute_new(spaces);
	struct attribution out = { 0 };
	struct err err;
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);

	(void)state;
	put_map(w, 0x55001000, 0x1000, 1, "/orig");
	put_map(w, 0x71000000, 0, 4, "/stranger");
	for (int i = 0; i < 2; i++)
		put_stack(w, 10, good, 4);
	put_stack(w, 10, bad, 7);
	put_stack(w, 10, good, 1);
	put_stack(w, 10, strange, 3);
	put_stack(w, 99, good, 4);			/* nobody knows where that is */
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	struct spool_reader *r = spool_reader_open(fd, &err);
	attribute_spool(a, r);
	nbranch_seen = 0;
	assert_int_equal(attribute_resolve(a, &taking_branches, &out, &err), 0);
	assert_int_equal(nbranch_seen, 5);
	check_branch(0, 0x401000, 0x40100c, 4, true);
	check_branch(1, 0x401000, 0x401100, 1, true);	/* once the kernel had come back */
	check_branch(2, 0x40100c, 0x401010, 4, false);
	check_branch(3, 0x401010, 0x40101e, 2, true);
	check_branch(4, 0x40101e, 0x401000, 2, false);
	assert_int_equal(out.counter[COUNTER_BRANCHES], 2 * 3 + 6 + 2 + 3);
	assert_int_equal(out.counter[COUNTER_BRANCHES_MISPREDICTED], 3);
	assert_int_equal(out.counter[COUNTER_BRANCHES_ABORTED], 3);
	assert_int_equal(out.counter[COUNTER_BRANCHES_KERNEL], 1);
	assert_int_equal(out.counter[COUNTER_BRANCHES_BETWEEN], 2 + 3);
	assert_int_equal(out.counter[COUNTER_BRANCHES_UNKNOWN], 2);
	assert_int_equal(out.counter[COUNTER_BRANCHES_IMPOSSIBLE], 5);
	assert_int_equal(out.counter[COUNTER_BRANCH_EDGES], 9);
	assert_int_equal(out.nmodule, 1);
	assert_int_equal(out.module[0].edges.nedge, 1);
	assert_int_equal(out.module[0].samples, 0);
	attribution_free(&out);
	spool_reader_free(r);
	attribute_free(a);
	spaces_free(spaces);
	close(fd);
	blockindex_free(of_table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branch_stacks_become_branches_and_runs_of_a_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
