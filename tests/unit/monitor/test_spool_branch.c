/* test_spool_branch.c - branch stacks come back from a spool; so do spools of old */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/wr.h"
#include "monitor/spool_format.h"

enum { UNIT = 1 << SPOOL_TIME_SHIFT };

static void branch_stacks_come_back(void **state)
{
	enum { LONG = SPOOL_BRANCHES_MAX + 3 };
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 1, NULL);
	struct spool_event ev = { .kind = SPOOL_BRANCHES, .time_ns = 9 * UNIT, .pid = 7,
				  .tid = 8 };
	struct spool_counts counts;
	struct wr stack = { 0 };

	(void)state;
	for (uint64_t i = 0; i < LONG; i++)
		spool_branch_put(&stack, &(struct spool_branch){
						 i % 3 ? i << 58 : UINT64_MAX - i, i * 977,
						 (unsigned)i % 16 });
	ev.branches.entry = stack.p;
	for (uint32_t n = 0; n <= LONG; n++) {
		ev.branches.n = n;
		assert_int_equal(spool_write(w, &ev, NULL), 0);
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_counts(w, &counts);
	assert_int_equal(counts.stacks, LONG + 1);
	assert_int_equal(counts.samples, 0);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	for (uint32_t n = 0; n <= LONG; n++) {
		uint32_t want = n < SPOOL_BRANCHES_MAX ? n : SPOOL_BRANCHES_MAX;

		assert_int_equal(spool_read(r, &ev), 1);
		assert_int_equal(ev.kind, SPOOL_BRANCHES);
		assert_true(ev.pid == 7 && ev.tid == 8 && ev.time_ns == 9 * UNIT);
		assert_int_equal(ev.branches.n, want);
		if (want)
			assert_memory_equal(ev.branches.entry, stack.p,
					    want * SPOOL_BRANCH_BYTES);
	}
	assert_int_equal(spool_read(r, &ev), 0);
	assert_int_equal(spool_reader_bad_blocks(r), 0);
	spool_reader_free(r);
	spool_writer_free(w);
	wr_free(&stack);
	close(fd);
}

/* A version that knew no branch stacks. */
static void the_version_before_is_read(void **state)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 1, NULL);
	struct spool_event ev = { .kind = SPOOL_LOST, .time_ns = 9 * UNIT, .lost = 5 };
	uint8_t head[SPOOL_HEADER_BYTES];
	struct wr crc = { 0 };

	(void)state;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
	assert_int_equal(spool_flush(w, true, NULL), 0);
	assert_int_equal(pread(fd, head, sizeof(head), 0), sizeof(head));
	head[8] = SPOOL_VERSION_OLDEST;
	wr_u32(&crc, spool_crc((struct bytes){ head, sizeof(head) - 4 },
			       (struct bytes){ head, 0 }));
	memcpy(head + sizeof(head) - 4, crc.p, 4);
	assert_int_equal(pwrite(fd, head, sizeof(head), 0), sizeof(head));
	struct spool_reader *r = spool_reader_open(fd, NULL);
	assert_non_null(r);
	assert_int_equal(spool_read(r, &ev), 1);
	assert_int_equal(ev.lost, 5);
	assert_int_equal(spool_reader_bad_blocks(r), 0);
	spool_reader_free(r);
	spool_writer_free(w);
	wr_free(&crc);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branch_stacks_come_back),
		cmocka_unit_test(the_version_before_is_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
