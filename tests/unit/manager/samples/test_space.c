/* test_space.c - address spaces follow exec, fork, mmap and exit */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/mapping.h"
#include "manager/samples/space.h"
#include "monitor/spool.h"

static void map(struct spaces *s, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
		uint64_t inode, const char *path)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .pid = pid, .tid = pid };

	ev.mmap.addr = addr;
	ev.mmap.len = len;
	ev.mmap.pgoff = pgoff;
	ev.mmap.inode = inode;
	ev.mmap.path = path;
	spaces_event(s, &ev);
}

static void plain(struct spaces *s, enum spool_kind kind, uint32_t pid, uint32_t tid)
{
	struct spool_event ev = { .kind = kind, .pid = pid, .tid = tid };

	spaces_event(s, &ev);
}

static void forked(struct spaces *s, uint32_t parent, uint32_t pid, uint32_t tid)
{
	struct spool_event ev = { .kind = SPOOL_FORK, .pid = pid, .tid = tid };

	ev.fork.parent_pid = parent;
	spaces_event(s, &ev);
}

/* pc lies in the file of that path at that offset. */
static void in_file(struct spaces *s, uint32_t pid, uint64_t pc, const char *path,
		    file_off want)
{
	uint32_t file = 0;
	file_off off = 0;

	assert_int_equal(spaces_find(s, pid, pc, &file, &off), SPACE_FILE);
	assert_string_equal(spaces_file(s, file)->path, path);
	assert_int_equal(off, want);
}

static void nowhere(struct spaces *s, uint32_t pid, uint64_t pc, enum space_hit want)
{
	uint32_t file;
	file_off off;

	assert_int_equal(spaces_find(s, pid, pc, &file, &off), want);
}

/* From one to another, by the list and the rows. */
static int move_row(void *ctx, uint32_t pid, struct bytes row, struct err *err)
{
	return row.p ? spaces_load_row(ctx, pid, row, err) : 0;
}

static void move_all(const struct spaces *from, struct spaces *to)
{
	struct wr w = { 0 };
	struct err err;

	spaces_save(from, &w);
	assert_int_equal(spaces_load(to, wr_bytes(&w), &err), 0);
	assert_int_equal(spaces_changes(from, move_row, to, &err), 0);
	wr_free(&w);
}

static void an_address_is_found_with_its_offset(void **state)
{
	struct spaces *s = spaces_new(NULL);

	(void)state;
	map(s, 7, 0x1000, 0x2000, 0x5000, 11, "/a");
	map(s, 7, 0x8000, 0x1000, 0, 12, "/b");
	in_file(s, 7, 0x1000, "/a", 0x5000);
	in_file(s, 7, 0x2fff, "/a", 0x6fff);
	in_file(s, 7, 0x8001, "/b", 1);
	nowhere(s, 7, 0xfff, SPACE_NOWHERE);
	nowhere(s, 7, 0x3000, SPACE_NOWHERE);
	nowhere(s, 8, 0x1000, SPACE_NOPROCESS);
	spaces_free(s);
}

/* The kernel's number for every process outside of the daemon's pid namespace. */
static void process_0_is_nobody(void **state)
{
	struct spaces *s = spaces_new(NULL);

	(void)state;
	map(s, 0, 0x1000, 0x2000, 0x5000, 11, "/a");
	nowhere(s, 0, 0x1000, SPACE_ELSEWHERE);
	map(s, 7, 0x1000, 0x2000, 0x5000, 11, "/a");
	in_file(s, 7, 0x1000, "/a", 0x5000);
	spaces_free(s);
}

static void a_later_mapping_cuts_earlier_ones(void **state)
{
	struct spaces *s = spaces_new(NULL);

	(void)state;
	map(s, 7, 0x1000, 0x9000, 0x100000, 11, "/a");
	map(s, 7, 0x3000, 0x1000, 0, 12, "/b");		/* in the middle: three parts */
	in_file(s, 7, 0x2fff, "/a", 0x101fff);
	in_file(s, 7, 0x3000, "/b", 0);
	in_file(s, 7, 0x4000, "/a", 0x103000);
	map(s, 7, 0x2000, 0x3000, 0, 13, "/c");		/* over the end of one, all of the next,
							 * the beginning of the last */
	in_file(s, 7, 0x1fff, "/a", 0x100fff);
	in_file(s, 7, 0x2000, "/c", 0);
	in_file(s, 7, 0x4fff, "/c", 0x2fff);
	in_file(s, 7, 0x5000, "/a", 0x104000);
	map(s, 7, 0x5000, 0x1000, 0, 0, "//anon");
	nowhere(s, 7, 0x5000, SPACE_ANON);
	map(s, 7, 0x8000, 0x1000, 0x8000000, 90016, "/dev/zero (deleted)");
	nowhere(s, 7, 0x8000, SPACE_ANON);	/* mapped shared, it has an inode */
	map(s, 7, 0x9000, 0x1000, 0, 90017, "/memfd:doublemapper (deleted)");
	nowhere(s, 7, 0x9fff, SPACE_ANON);
	map(s, 7, 0x9000, 0x1000, 0, 90018, "/memfd:program (deleted)");
	in_file(s, 7, 0x9000, "/memfd:program (deleted)", 0);
	map(s, 7, 0x6000, 0x1000, 0, 0, "[vdso]");
	nowhere(s, 7, 0x6000, SPACE_VDSO);
	in_file(s, 7, 0x7000, "/a", 0x106000);
	spaces_free(s);
}

/* Memory of no file is a mapping; where none is known to be is something else. */
static void code_of_no_file_is_told_from_an_unknown_place(void **state)
{
	struct spaces_limits limits = { .process_mappings = 16 };
	struct spaces *s = spaces_new(&limits), *t = spaces_new(NULL);
	struct spaces_counts c;

	(void)state;
	map(s, 7, 0x1000, 0x1000, 0, 11, "/a");
	for (uint64_t i = 0; i < 100; i++)	/* page by page is one mapping */
		map(s, 7, 0x10000 + 0x1000 * i, 0x1000, 0, 0, "//anon");
	map(s, 7, 0xf000, 0x1000, 0, 0, "//anon");
	spaces_counts(s, &c);
	assert_int_equal(c.mappings, 2);
	nowhere(s, 7, 0xeffe, SPACE_NOWHERE);
	nowhere(s, 7, 0xf000, SPACE_ANON);
	nowhere(s, 7, 0x10000 + 100 * 0x1000 - 1, SPACE_ANON);
	nowhere(s, 7, 0x10000 + 100 * 0x1000, SPACE_NOWHERE);
	map(s, 7, 0x20000, 0x1000, 0x3000, 12, "/b");	/* a file in the midst of it */
	in_file(s, 7, 0x20001, "/b", 0x3001);
	nowhere(s, 7, 0x21000, SPACE_ANON);
	move_all(s, t);
	nowhere(t, 7, 0x1f000, SPACE_ANON);
	nowhere(t, 7, 0x2000, SPACE_NOWHERE);
	in_file(t, 7, 0x20001, "/b", 0x3001);

	/* Any number of it costs the process no file. */
	for (uint64_t i = 0; i < 100; i++)
		map(s, 7, 0x1000000 + 0x2000 * i, 0x1000, 0, 0, "//anon");
	nowhere(s, 7, 0x1000000, SPACE_ANON);
	nowhere(s, 7, 0x1000000 + 0x2000 * 99, SPACE_NOWHERE);
	in_file(s, 7, 0x1000, "/a", 0);
	map(s, 7, 0x3000, 0x1000, 0, 13, "/c");
	in_file(s, 7, 0x3000, "/c", 0);
	spaces_free(s);
	spaces_free(t);
}

static void fork_copies_and_exec_clears(void **state)
{
	struct spaces *s = spaces_new(NULL);

	(void)state;
	map(s, 7, 0x1000, 0x1000, 0, 11, "/a");
	forked(s, 7, 7, 8);			/* a thread: nothing happens */
	forked(s, 7, 20, 20);
	map(s, 20, 0x1000, 0x800, 0, 12, "/b");	/* the parent does not see it */
	in_file(s, 20, 0x1000, "/b", 0);
	in_file(s, 20, 0x1800, "/a", 0x800);
	in_file(s, 7, 0x1000, "/a", 0);
	map(s, 7, 0x4000, 0x1000, 0, 13, "/c");	/* nor the child that */
	nowhere(s, 20, 0x4000, SPACE_NOWHERE);
	plain(s, SPOOL_EXEC, 20, 20);
	nowhere(s, 20, 0x1800, SPACE_NOWHERE);
	in_file(s, 7, 0x1800, "/a", 0x800);
	plain(s, SPOOL_EXIT, 7, 8);		/* only the thread */
	in_file(s, 7, 0x1800, "/a", 0x800);
	plain(s, SPOOL_EXIT, 7, 7);
	nowhere(s, 7, 0x1800, SPACE_NOPROCESS);
	forked(s, 99, 20, 20);			/* a number used again, by an unknown parent */
	nowhere(s, 20, 0x1800, SPACE_NOPROCESS);
	spaces_free(s);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Against an array with one cell a page. */
static void random_mappings_agree_with_a_plain_model(void **state)
{
	enum { PAGES = 512, ROUNDS = 20000 };
	static struct { uint64_t file, off; } page[PAGES];
	struct mappings *m = NULL;
	uint64_t x = 42;

	(void)state;
	memset(page, 0, sizeof(page));
	for (int round = 1; round <= ROUNDS; round++) {
		uint64_t at = next_random(&x) % PAGES, n = 1 + next_random(&x) % 40;
		struct mapping add = { at, at + n, (uint64_t)round * 1000, (uint32_t)round };

		if (at + n > PAGES)
			continue;
		m = mappings_put(m, &add);
		for (uint64_t i = at; i < at + n; i++) {
			page[i].file = (uint64_t)round;
			page[i].off = (uint64_t)round * 1000 + i - at;
		}
		/* Sometimes so often that they are listed. */
		for (int i = round % 64 ? 1 : PAGES; i > 0; i--) {
			uint64_t look = next_random(&x) % PAGES;
			const struct mapping *got = mappings_find(m, look);

			assert_int_equal(got ? got->file : 0, page[look].file);
			if (got)
				assert_int_equal(got->pgoff + look - got->start,
						 page[look].off);
		}
	}
	for (uint64_t i = 0; i < PAGES; i++) {
		const struct mapping *got = mappings_find(m, i);

		assert_int_equal(got ? got->file : 0, page[i].file);
	}
	mappings_drop(m);
}

/* Both have been searched often enough to be listed, and each goes on by itself. */
static void a_shared_set_does_not_see_the_others_changes(void **state)
{
	struct mapping low = { 10, 20, 0, 1 }, high = { 30, 40, 0, 2 }, over = { 15, 35, 0, 3 };
	struct mappings *m = mappings_put(mappings_put(NULL, &low), &high), *child;

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_int_equal(mappings_find(m, 31)->file, 2);
	assert_null(mappings_find(m, 9));
	assert_null(mappings_find(m, 25));
	assert_null(mappings_find(m, 40));
	child = mappings_put(mappings_share(m), &over);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(mappings_find(child, 31)->file, 3);
		assert_int_equal(mappings_find(m, 31)->file, 2);
	}
	mappings_drop(m);
	assert_int_equal(mappings_find(child, 39)->file, 2);
	mappings_drop(child);
	assert_null(mappings_find(NULL, 0));
}

static void a_hundred_thousand_mappings_in_any_order_are_found(void **state)
{
	enum { N = 100000 };
	struct spaces *s = spaces_new(&(struct spaces_limits){ .process_mappings = 2 * N });
	struct spaces_counts c;
	uint64_t x = 1;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		uint64_t at = (uint64_t)i * 7919 % N;	/* prime: every place once */

		map(s, 7, (at + 1) << 13, 0x1000, at << 12, 1 + at % 5, "/a");
	}
	spaces_counts(s, &c);
	assert_int_equal(c.mappings, N);
	assert_int_equal(c.files, 5);
	for (int i = 0; i < 1000; i++) {
		uint64_t at = next_random(&x) % N;

		in_file(s, 7, ((at + 1) << 13) + 5, "/a", (at << 12) + 5);
		nowhere(s, 7, ((at + 1) << 13) + 0x1000, SPACE_NOWHERE);
	}
	spaces_free(s);
}

static void what_goes_beyond_the_limits_is_counted(void **state)
{
	struct spaces_limits limits = { .processes = 3, .mappings = 10, .files = 4 };
	struct spaces *s = spaces_new(&limits);
	struct spaces_counts c;
	char path[16];

	(void)state;
	for (uint32_t pid = 1; pid <= 5; pid++)
		plain(s, SPOOL_EXEC, pid, pid);
	spaces_counts(s, &c);
	assert_int_equal(c.processes, 3);
	assert_int_equal(c.refused, 2);
	for (uint64_t i = 0; i < 6; i++) {
		(void)snprintf(path, sizeof(path), "/%d", (int)i);
		map(s, 1, 0x1000 * (i + 1), 0x1000, 0, i + 1, path);
	}
	in_file(s, 1, 0x4000, "/3", 0);
	nowhere(s, 1, 0x5000, SPACE_NOWHERE);	/* never another file's name */
	for (uint64_t i = 0; i < 100; i++)
		map(s, 2, 0x1000 * (i + 1), 0x1000, 0, 1, "/0");
	spaces_counts(s, &c);
	assert_true(c.mappings <= 10);
	assert_true(c.refused > 90);
	spaces_compact(s);			/* a full set still fits itself */
	in_file(s, 1, 0x4000, "/3", 0);

	/* Nonsense is no mapping. */
	map(s, 3, UINT64_MAX - 10, 100, 0, 1, "/0");
	map(s, 3, 0x1000, 0, 0, 1, "/0");
	map(s, 3, 0x1000, 0x1000, UINT64_MAX, 1, "/0");
	nowhere(s, 3, 0x1000, SPACE_NOWHERE);
	spaces_free(s);
}

static void a_process_lives_as_long_as_its_last_thread(void **state)
{
	struct spaces_limits limits = { .processes = 3 };
	struct spaces *s = spaces_new(&limits), *t = spaces_new(NULL);
	struct spaces_counts c;

	(void)state;
	map(s, 7, 0x1000, 0x1000, 0, 11, "/a");
	forked(s, 7, 7, 71);
	forked(s, 7, 7, 72);
	plain(s, SPOOL_EXIT, 7, 71);
	plain(s, SPOOL_EXIT, 7, 7);		/* the first one ends, 72 goes on */
	in_file(s, 7, 0x1000, "/a", 0);
	move_all(s, t);
	in_file(t, 7, 0x1000, "/a", 0);
	plain(t, SPOOL_EXIT, 7, 72);
	nowhere(t, 7, 0x1000, SPACE_NOPROCESS);

	/* Or 72 executes another program, and is the first one then. */
	plain(s, SPOOL_EXEC, 7, 7);
	map(s, 7, 0x5000, 0x1000, 0, 12, "/b");
	in_file(s, 7, 0x5000, "/b", 0);
	plain(s, SPOOL_EXIT, 7, 7);
	nowhere(s, 7, 0x5000, SPACE_NOPROCESS);

	/* The end of the last one may be lost: then it goes when there is no room. */
	for (uint32_t pid = 20; pid < 23; pid++) {
		map(s, pid, 0x1000, 0x1000, 0, 11, "/a");
		forked(s, pid, pid, 10 * pid);
		plain(s, SPOOL_EXIT, pid, pid);
	}
	map(s, 30, 0x1000, 0x1000, 0, 11, "/a");
	in_file(s, 30, 0x1000, "/a", 0);
	spaces_counts(s, &c);
	assert_int_equal(c.processes, 1);
	assert_int_equal(c.refused, 0);
	/* Also when there was none to forget before. */
	map(s, 31, 0x1000, 0x1000, 0, 11, "/a");
	map(s, 32, 0x1000, 0x1000, 0, 11, "/a");
	forked(s, 32, 32, 320);
	for (uint32_t pid = 40; pid < 45; pid++)
		map(s, pid, 0x1000, 0x1000, 0, 11, "/a");
	spaces_counts(s, &c);
	assert_true(c.processes == 3 && c.refused == 5);
	plain(s, SPOOL_EXIT, 32, 32);
	map(s, 50, 0x1000, 0x1000, 0, 11, "/a");
	in_file(s, 50, 0x1000, "/a", 0);
	spaces_free(s);
	spaces_free(t);
}

static void what_could_not_be_entered_hides_nothing_wrong(void **state)
{
	struct spaces_limits limits = { .mappings = 4 };
	struct spaces *s = spaces_new(&limits);

	(void)state;
	map(s, 1, 0x1000, 0x1000, 0, 11, "/a");
	map(s, 2, 0x1000, 0x1000, 0, 11, "/a");
	map(s, 2, 0x2000, 0x1000, 0, 12, "/b");
	/* no room: but /a is not there any more */
	map(s, 1, 0x1000, 0x1000, 0, 13, "/c");
	nowhere(s, 1, 0x1000, SPACE_NOWHERE);
	in_file(s, 2, 0x1000, "/a", 0);
	spaces_free(s);
}

static void processes_come_and_go(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct spaces_counts c;
	static bool alive[4096];
	uint64_t x = 3;

	(void)state;
	memset(alive, 0, sizeof(alive));
	for (int i = 0; i < 100000; i++) {
		uint32_t pid = 1 + next_random(&x) % 4095;

		if (alive[pid])
			plain(s, SPOOL_EXIT, pid, pid);
		else
			map(s, pid, 0x1000, 0x1000, (uint64_t)pid << 12, 11, "/a");
		alive[pid] = !alive[pid];
	}
	uint32_t n = 0;
	for (uint32_t pid = 1; pid < 4096; pid++) {
		n += alive[pid];
		if (alive[pid])
			in_file(s, pid, 0x1000, "/a", (uint64_t)pid << 12);
		else
			nowhere(s, pid, 0x1000, SPACE_NOPROCESS);
	}
	spaces_counts(s, &c);
	assert_int_equal(c.processes, n);
	assert_int_equal(c.mappings, n);
	spaces_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_found_with_its_offset),
		cmocka_unit_test(process_0_is_nobody),
		cmocka_unit_test(a_later_mapping_cuts_earlier_ones),
		cmocka_unit_test(code_of_no_file_is_told_from_an_unknown_place),
		cmocka_unit_test(fork_copies_and_exec_clears),
		cmocka_unit_test(random_mappings_agree_with_a_plain_model),
		cmocka_unit_test(a_shared_set_does_not_see_the_others_changes),
		cmocka_unit_test(a_hundred_thousand_mappings_in_any_order_are_found),
		cmocka_unit_test(what_goes_beyond_the_limits_is_counted),
		cmocka_unit_test(a_process_lives_as_long_as_its_last_thread),
		cmocka_unit_test(what_could_not_be_entered_hides_nothing_wrong),
		cmocka_unit_test(processes_come_and_go),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
