/* test_space_save.c - address spaces on disk, and how much of it all a user may take */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/err.h"
#include "manager/samples/space.h"
#include "monitor/spool.h"

static void map(struct spaces *s, uint32_t pid, uint64_t addr, uint64_t inode, const char *path)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .pid = pid, .tid = pid };

	ev.mmap.addr = addr;
	ev.mmap.len = 0x1000;
	ev.mmap.inode = inode;
	ev.mmap.path = path;
	spaces_event(s, &ev);
}

static void plain(struct spaces *s, enum spool_kind kind, uint32_t pid)
{
	struct spool_event ev = { .kind = kind, .pid = pid, .tid = pid };

	spaces_event(s, &ev);
}

static void forked(struct spaces *s, uint32_t parent, uint32_t pid)
{
	struct spool_event ev = { .kind = SPOOL_FORK, .pid = pid, .tid = pid };

	ev.fork.parent_pid = parent;
	spaces_event(s, &ev);
}

/* The pages at 1, 3, 5 ... of one file. */
static void map_many(struct spaces *s, uint32_t pid, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		map(s, pid, (uint64_t)(2 * i + 1) << 12, 5, "/tmp/x");
}

static bool knows(struct spaces *s, uint32_t pid, uint64_t pc, const char *path)
{
	uint32_t file;
	file_off off;

	return spaces_find(s, pid, pc, &file, &off) == SPACE_FILE &&
	       strcmp(spaces_file(s, file)->path, path) == 0;
}

/* Users by pid: those below 1000 are root's, then a thousand each. */
static uint32_t owner(uint32_t pid)
{
	return pid / 1000 * 1000;
}

static struct spaces *limited(void)
{
	return spaces_new(&(struct spaces_limits){ .owner = owner });
}

/* --- a disk --- */

enum { ROWS = 64 << 10 };

static struct disk {
	struct wr list, row[ROWS];
	uint32_t put, gone;
	uint64_t bytes;			/* written by the last save() */
} disk;

static int change(void *ctx, uint32_t pid, struct bytes row, struct err *err)
{
	(void)ctx, (void)err;
	assert_true(pid < ROWS);
	if (pid == 0)
		for (uint32_t i = 0; i < ROWS; i++)
			wr_free(&disk.row[i]);
	disk.row[pid].n = 0;
	wr_raw(&disk.row[pid], row.p, row.n);
	disk.bytes += row.n;
	disk.put += row.p != NULL;
	disk.gone += row.p == NULL;
	return 0;
}

static void save(struct spaces *s)
{
	disk.put = disk.gone = 0;
	disk.list.n = 0;
	spaces_settle(s);
	spaces_save(s, &disk.list);
	disk.bytes = disk.list.n;
	assert_int_equal(spaces_changes(s, change, NULL, NULL), 0);
	spaces_saved(s);
}

static int load(struct spaces *s, struct err *err)
{
	if (spaces_load(s, wr_bytes(&disk.list), err) < 0)
		return -1;
	for (uint32_t pid = 1; pid < ROWS; pid++)
		if (disk.row[pid].n &&
		    spaces_load_row(s, pid, wr_bytes(&disk.row[pid]), err) < 0)
			return -1;
	return 0;
}

static int wipe(void **state)
{
	(void)state;
	(void)change(NULL, 0, (struct bytes){ NULL, 0 }, NULL);
	wr_free(&disk.list);
	return 0;
}

/* --- the tests --- */

static void saved_spaces_load_again_and_damage_is_refused(void **state)
{
	struct spaces *s = spaces_new(NULL), *t = spaces_new(NULL);
	struct spaces_counts c;
	struct err err;

	(void)state;
	map(s, 7, 0x1000, 11, "/a");
	map(s, 9, 0x1000, 12, "/gone");
	plain(s, SPOOL_EXIT, 9);
	map(s, 7, 0x2000, 0, "[vdso]");
	forked(s, 7, 8);
	save(s);
	assert_int_equal(load(t, &err), 0);
	assert_true(knows(t, 7, 0x1004, "/a") && knows(t, 8, 0x1004, "/a"));
	spaces_counts(t, &c);
	assert_int_equal(c.files, 1);		/* nobody maps /gone */
	assert_int_equal(c.mappings, 4);
	struct wr *const part[] = { &disk.list, &disk.row[7] };
	for (int k = 0; k < 2; k++) {
		struct wr *w = part[k];
		size_t whole = w->n;

		for (w->n = k; w->n < whole; w->n++) {		/* cut at every length */
			assert_int_equal(load(t, &err), -1);
			spaces_counts(t, &c);
			assert_int_equal(c.processes + c.mappings + c.files, 0);
		}
		for (size_t i = 0; i < w->n; i++) {		/* flipped bytes: no crash */
			w->p[i] ^= 0xff;
			(void)load(t, &err);
			w->p[i] ^= 0xff;
		}
	}
	/* A row of a process that is not in the list. */
	assert_int_equal(load(t, &err), 0);
	assert_int_equal(spaces_load_row(t, 99, wr_bytes(&disk.row[7]), &err), -1);
	spaces_free(s);
	spaces_free(t);
}

static void only_what_changed_is_written(void **state)
{
	struct spaces *s = spaces_new(NULL), *t = spaces_new(NULL);
	struct err err;

	(void)state;
	for (uint32_t pid = 1; pid <= 100; pid++)
		map_many(s, pid, 100);
	save(s);
	assert_int_equal(disk.put, 100);
	const uint64_t all = disk.bytes;
	save(s);
	assert_int_equal(disk.put + disk.gone, 0);
	assert_true(disk.bytes < 1000);			/* the list */
	spaces_run(s, 5)->time_ns = 12345;
	save(s);
	assert_int_equal(disk.put + disk.gone, 0);
	map(s, 6, 0xffff000, 9, "/other");
	plain(s, SPOOL_EXEC, 7);
	plain(s, SPOOL_EXIT, 8);
	forked(s, 9, 101);
	plain(s, SPOOL_EXIT, 10);			/* and its number is used again */
	map(s, 10, 0x5000, 8, "/a/new/program");
	save(s);
	assert_int_equal(disk.put, 4);			/* 6, 7, 101, 10 */
	assert_int_equal(disk.gone, 2);			/* 8, 10 */
	assert_true(disk.bytes < all / 10);
	assert_int_equal(load(t, &err), 0);
	assert_int_equal(spaces_run(t, 5)->time_ns, 12345);
	assert_true(knows(t, 6, 0xffff000, "/other") && knows(t, 6, 0x1000, "/tmp/x"));
	assert_false(knows(t, 7, 0x1000, "/tmp/x"));
	assert_null(spaces_run(t, 8));
	assert_true(knows(t, 101, 0x1000, "/tmp/x"));
	assert_true(knows(t, 10, 0x5000, "/a/new/program") && !knows(t, 10, 0x1000, "/tmp/x"));
	/* What was loaded is on disk. */
	save(t);
	assert_int_equal(disk.put + disk.gone, 0);
	spaces_free(s);
	spaces_free(t);
}

/* Another boot, or a list that is damaged: no row of the old ones stays. */
static void new_spaces_do_away_with_old_rows(void **state)
{
	struct spaces *s = spaces_new(NULL);
	struct err err;

	(void)state;
	map(s, 7, 0x1000, 11, "/a");
	save(s);
	spaces_free(s);
	s = spaces_new(NULL);
	map(s, 8, 0x1000, 11, "/a");
	save(s);
	assert_int_equal(disk.row[7].n, 0);
	assert_int_equal(load(s, &err), 0);
	disk.list.n--;
	assert_int_equal(load(s, &err), -1);
	save(s);
	assert_int_equal(disk.row[8].n, 0);
	spaces_free(s);
}

/* As many as the kernel lets a process have. */
static void a_process_with_too_many_mappings_has_none(void **state)
{
	enum { PROCESSES = 24, MAPPINGS = 65400 };
	struct spaces *s = limited(), *t = limited();
	struct spaces_counts c;
	struct err err;

	(void)state;
	map_many(s, 1, 100);				/* root's */
	for (uint32_t i = 0; i < PROCESSES; i++)
		map_many(s, 1000 + i, MAPPINGS);
	spaces_counts(s, &c);
	assert_int_equal(c.processes, 1 + PROCESSES);
	assert_int_equal(c.mappings, 100);
	assert_int_equal(c.refused, PROCESSES * MAPPINGS);
	save(s);
	assert_true(disk.bytes < 4096);
	assert_true(knows(s, 1, 0x1000, "/tmp/x"));
	uint32_t file;
	file_off off;
	assert_int_equal(spaces_find(s, 1000, 0x1000, &file, &off), SPACE_NOPROCESS);
	/* Nor have its children, nor it when it was saved, till it executes something. */
	assert_int_equal(load(t, &err), 0);
	forked(t, 1000, 1100);
	map(t, 1000, 0x1000, 5, "/tmp/x");
	map(t, 1100, 0x1000, 5, "/tmp/x");
	assert_false(knows(t, 1000, 0x1000, "/tmp/x") || knows(t, 1100, 0x1000, "/tmp/x"));
	plain(t, SPOOL_EXEC, 1100);
	map(t, 1100, 0x1000, 5, "/tmp/x");
	assert_true(knows(t, 1100, 0x1000, "/tmp/x"));
	spaces_free(s);
	spaces_free(t);
}

static void a_user_with_too_many_loses_the_largest(void **state)
{
	struct spaces *s = limited();
	struct spaces_counts c;

	(void)state;
	map_many(s, 1, 4000);				/* root's */
	for (uint32_t i = 0; i < 20; i++)
		map_many(s, 2 + i, 4000);
	map_many(s, 2000, 100);				/* somebody's */
	map_many(s, 1000, 50);				/* the user's ordinary ones */
	map_many(s, 1001, 60);
	for (uint32_t i = 2; i < 100; i++)
		map_many(s, 1000 + i, 4000);
	save(s);
	spaces_counts(s, &c);
	assert_int_equal(c.mappings, 21 * 4000 + 100 + 50 + 60 + 8 * 4000);
	assert_int_equal(c.refused, 90 * 4000);
	assert_true(knows(s, 1000, 0x1000, "/tmp/x") && knows(s, 1001, 0x1000, "/tmp/x"));
	assert_true(knows(s, 2000, 0x1000, "/tmp/x") && knows(s, 21, 0x1000, "/tmp/x"));
	const uint64_t bytes = disk.bytes;
	assert_true(bytes < 31 * 4000 * 16);
	save(s);
	assert_int_equal(disk.put + disk.gone, 0);
	assert_true(disk.bytes < bytes / 100);
	spaces_free(s);
}

/* A set that children share counts for each, so that they cannot make much of little. */
static void children_count_too(void **state)
{
	struct spaces *s = limited();
	struct spaces_counts c;

	(void)state;
	map_many(s, 1000, 4000);
	for (uint32_t i = 1; i < 200; i++)
		forked(s, 1000, 1000 + i);
	save(s);
	spaces_counts(s, &c);
	assert_int_equal(c.mappings, 8 * 4000);
	assert_true(disk.bytes < 8 * 4000 * 16);
	spaces_free(s);
}

static void a_user_leaves_others_room_for_processes(void **state)
{
	struct spaces *s = spaces_new(&(struct spaces_limits){
		.owner = owner, .processes = 100, .user_processes = 50 });
	struct spaces_counts c;

	(void)state;
	for (uint32_t i = 0; i < 90; i++)
		map(s, 1000 + i, 0x1000, 5, "/tmp/x");
	save(s);
	spaces_counts(s, &c);
	assert_int_equal(c.processes, 50);
	assert_int_equal(c.refused, 40);
	for (uint32_t i = 0; i < 50; i++)
		map(s, 2000 + i, 0x1000, 5, "/tmp/x");
	for (uint32_t i = 0; i < 50; i++)
		assert_true(knows(s, 2000 + i, 0x1000, "/tmp/x"));
	spaces_free(s);
}

static void paths_are_bounded_together(void **state)
{
	struct spaces *s = spaces_new(&(struct spaces_limits){ .path_bytes = 100 });
	struct spaces_counts c;
	char path[16];

	(void)state;
	for (uint32_t i = 0; i < 50; i++) {
		(void)snprintf(path, sizeof(path), "/%09u", i);
		map(s, 1, (uint64_t)(i + 1) << 12, i + 1, path);
	}
	spaces_counts(s, &c);
	assert_int_equal(c.files, 10);
	assert_int_equal(c.refused, 40);
	assert_true(knows(s, 1, 0x1000, "/000000000"));
	assert_false(knows(s, 1, 0xb000, "/000000010"));
	spaces_free(s);
}

static void files_that_nobody_has_mapped_are_forgotten(void **state)
{
	struct spaces *s = spaces_new(NULL), *t = spaces_new(NULL);
	struct spaces_counts c;
	struct err err;
	char path[16];

	(void)state;
	map(s, 1, 0x7000, 4711, "/late");
	for (uint32_t i = 0; i < 5000; i++) {
		(void)snprintf(path, sizeof(path), "/f%u", i);
		map(s, 2, 0x1000, i + 1, path);		/* each over the last */
	}
	map(s, 2, 0x9000, 4712, "/kept");
	forked(s, 2, 3);				/* they share */
	forked(s, 2, 4);
	spaces_compact(s);
	spaces_counts(s, &c);
	assert_int_equal(c.files, 4);	/* /late, /kept, the first that 2 had, and its last */
	for (uint32_t pid = 2; pid <= 4; pid++)
		assert_true(knows(s, pid, 0x1000, "/f4999") && knows(s, pid, 0x9000, "/kept"));
	assert_true(knows(s, 1, 0x7000, "/late"));
	map(s, 5, 0x1000, 4712, "/kept");		/* found again, not entered twice */
	spaces_counts(s, &c);
	assert_int_equal(c.files, 4);
	spaces_compact(s);				/* too few to bother */
	save(s);
	assert_int_equal(load(t, &err), 0);
	for (uint32_t pid = 2; pid <= 4; pid++)
		assert_true(knows(t, pid, 0x1000, "/f4999") && knows(t, pid, 0x9000, "/kept"));
	spaces_free(s);
	spaces_free(t);
}

/* Files with names as long as they can be, n of them from `first` on. */
static void map_long(struct spaces *s, uint32_t pid, uint32_t first, uint32_t n)
{
	static char path[SPOOL_PATH_MAX + 1];

	memset(path, 'x', SPOOL_PATH_MAX);
	for (uint32_t i = first; i < first + n; i++) {
		(void)snprintf(path, 32, "/%030u", i);
		path[31] = 'x';
		map(s, pid, (uint64_t)(i + 1) << 12, i + 1, path);
	}
}

/* And what is left of the room. */
static void map_short(struct spaces *s, uint32_t pid, uint32_t first)
{
	char path[16];

	for (uint32_t i = 0; i < 1000; i++) {
		(void)snprintf(path, sizeof(path), "/%07u", first + i);
		map(s, pid, UINT64_C(1) << 32 | i << 12, 1000000 + i, path);
	}
}

static void end_file(struct spaces *s)
{
	spaces_settle(s);
	spaces_compact(s);
}

/* As the mappings that he has, or what they are called, would take it. */
static void long_names_take_nobody_elses_room(void **state)
{
	struct spaces *s = limited();
	struct spaces_counts c;

	(void)state;
	map(s, 5, 0x1000, 1, "/roots");
	map(s, 3000, 0x1000, 1, "/others");
	for (uint32_t i = 0; i < 200; i++) {
		map_long(s, 1000 + i % 20, i * 250, 250);
		end_file(s);
	}
	map_short(s, 1006, 0);
	end_file(s);
	map(s, 2000, 0x1000, 1, "/a/new/program");
	assert_true(knows(s, 2000, 0x1004, "/a/new/program"));
	assert_true(knows(s, 5, 0x1004, "/roots") && knows(s, 3000, 0x1004, "/others"));
	/* what he may have he has */
	map(s, 1030, 0x1000, 2, "/his/program");
	assert_true(knows(s, 1030, 0x1004, "/his/program"));
	end_file(s);
	spaces_counts(s, &c);
	assert_in_range(c.files, 4, 2048);
	spaces_free(s);
}

/* One spool file after the other has some more, of processes that have ended by its end. */
static void names_of_what_has_ended_take_no_room(void **state)
{
	struct spaces *s = limited();

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		map_long(s, 7, i * 250, 250);
		plain(s, SPOOL_EXIT, 7);
		end_file(s);
		map(s, 9, 0x1000, 1, "/a/new/program");
		assert_true(knows(s, 9, 0x1004, "/a/new/program"));
		plain(s, SPOOL_EXIT, 9);
	}
	/* and of root's, that filled it */
	for (uint32_t i = 0; i < 40; i++) {
		map_long(s, 10 + i, i * 250, 250);
		map_short(s, 10 + i, i * 1000);
		end_file(s);
	}
	for (uint32_t i = 0; i < 40; i++)
		plain(s, SPOOL_EXIT, 10 + i);
	end_file(s);
	map(s, 9, 0x1000, 1, "/another/program");
	assert_true(knows(s, 9, 0x1004, "/another/program"));
	spaces_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, wipe, wipe)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(long_names_take_nobody_elses_room),
		TEST(names_of_what_has_ended_take_no_room),
		TEST(saved_spaces_load_again_and_damage_is_refused),
		TEST(only_what_changed_is_written),
		TEST(new_spaces_do_away_with_old_rows),
		TEST(a_process_with_too_many_mappings_has_none),
		TEST(a_user_with_too_many_loses_the_largest),
		TEST(children_count_too),
		TEST(a_user_leaves_others_room_for_processes),
		TEST(paths_are_bounded_together),
		TEST(files_that_nobody_has_mapped_are_forgotten),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
