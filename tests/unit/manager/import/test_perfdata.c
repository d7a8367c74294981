/* test_perfdata.c - perf.data files made by hand (tests/unit/recording.h), of every form */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "tests/unit/recording.h"
#include "tests/unit/told.h"

enum { BUILD_ID = 2, ARCH = 6 };
#define HW_INDEX (UINT64_C(1) << 17)
#define COUNTERS (UINT64_C(1) << 19)

static const struct recording_attr cycles = {
	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .sample_id_all = true,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		       PERF_SAMPLE_BRANCH_STACK,
	.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
};

static struct told told_of;
static const char *const told = told_of.text;

static struct import_counts counts;
static struct err err;

static int read_recording(struct bytes file)
{
	const struct import_sink sink = told_sink(&told_of);
	struct arena *a = arena_new();

	err = (struct err){ 0 };
	int rc = perfdata_read(file, a, &sink, &counts, &err);
	arena_free(a);
	return rc;
}

static void branch(struct wr *w, uint64_t from, uint64_t to, uint64_t flags)
{
	wr_u64(w, from);
	wr_u64(w, to);
	wr_u64(w, flags);
}

static void sample_id(struct wr *w, uint32_t pid, uint64_t time)
{
	wr_u32(w, pid);
	wr_u32(w, pid + 1);
	wr_u64(w, time);
}

/* Of `cycles`: user mode, two branches. */
static void sample(struct wr *w, uint64_t time)
{
	size_t at = recording_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	wr_u64(w, 0x401000);
	sample_id(w, 7, time);
	wr_u64(w, 2);
	branch(w, 0x401010, 0x401020, 1);
	branch(w, 0x401030, 0x401000, 2);
	recording_end(w, at);
}

static void mmap2(struct wr *w, uint64_t time, bool build_id)
{
	size_t at = recording_begin(w, PERF_RECORD_MMAP2,
				    PERF_RECORD_MISC_USER | (build_id ? 1 << 14 : 0));

	wr_u32(w, 7);
	wr_u32(w, 7);
	wr_u64(w, 0x400000);
	wr_u64(w, 0x2000);
	wr_u64(w, 0x1000);
	if (build_id) {
		wr_u32(w, 8);
		memset(wr_reserve(w, 20), 0xab, 8);
	} else {
		wr_u32(w, 8);
		wr_u32(w, 1);
		wr_u64(w, 99);
		wr_u64(w, 0);
	}
	wr_u32(w, 5);
	wr_u32(w, 2);
	recording_string(w, "/bin/p");
	sample_id(w, 7, time);
	recording_end(w, at);
}

static const char one_sample[] = "30 7/8 sample 401000\n"
				 "30 7/8 stack 401010-401020m 401030-401000\n";

static void records_are_told_in_the_order_of_time(void **state)
{
	struct wr data = { 0 }, file = { 0 };
	size_t at;

	(void)state;
	sample(&data, 30);
	mmap2(&data, 20, false);
	at = recording_begin(&data, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	wr_u32(&data, 7);
	wr_u32(&data, 7);
	recording_string(&data, "a name that is long");
	sample_id(&data, 7, 10);
	recording_end(&data, at);
	at = recording_begin(&data, PERF_RECORD_FORK, 0);
	for (uint32_t i = 0; i < 4; i++)
		wr_u32(&data, i < 2 ? 9 - 2 * i : 9);
	wr_u64(&data, 40);
	sample_id(&data, 7, 40);
	recording_end(&data, at);
	at = recording_begin(&data, PERF_RECORD_LOST, 0);
	wr_u64(&data, 1);
	wr_u64(&data, 12);
	sample_id(&data, 7, 50);
	recording_end(&data, at);
	recording_file(&cycles, 1, wr_bytes(&data), NULL, 0, &file);
	assert_true(perfdata_is(wr_bytes(&file)));
	assert_int_equal(read_recording(wr_bytes(&file)), 0);
	assert_string_equal(told, "10 7/7 exec a name that is \n"
				  "20 7/7 mmap 400000+2000@1000 8:1 99 /bin/p\n"
				  "30 7/8 sample 401000\n"
				  "30 7/8 stack 401010-401020m 401030-401000\n"
				  "40 9/9 fork of 7\n"
				  "50 0/0 kind 6 12\n");
	assert_string_equal(counts.clock, "cycles");
	assert_int_equal(counts.samples, 1);
	assert_int_equal(counts.stacks, 1);
	assert_int_equal(counts.lost, 12);
	wr_free(&data);
	wr_free(&file);
}

static unsigned has(uint64_t set, uint64_t bit)
{
	return (set & bit) != 0;
}

/* A sample with any fields in front of its branches. */
static void any_sample(struct wr *w, const struct recording_attr *a)
{
	uint64_t t = a->sample_type;
	size_t at = recording_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	if (has(t, PERF_SAMPLE_IDENTIFIER))
		wr_u64(w, a->id);
	wr_u64(w, 0x401000);
	sample_id(w, 7, 30);
	for (unsigned i = 0; i < has(t, PERF_SAMPLE_ADDR); i++)
		wr_u64(w, 0xadd);
	if (has(t, PERF_SAMPLE_ID))
		wr_u64(w, a->id);
	for (unsigned i = 0; i < has(t, PERF_SAMPLE_STREAM_ID) + has(t, PERF_SAMPLE_CPU) +
				     has(t, PERF_SAMPLE_PERIOD); i++)
		wr_u64(w, 0x57);
	if (has(t, PERF_SAMPLE_READ)) {
		/* a group of two, each with an id, and both times; or one value with its id */
		bool group = a->read_format & PERF_FORMAT_GROUP;

		wr_u64(w, group ? 2 : 1);
		for (int i = 0; i < (group ? 6 : 1); i++)
			wr_u64(w, 5);
	}
	if (has(t, PERF_SAMPLE_CALLCHAIN)) {
		wr_u64(w, 3);
		(void)wr_reserve(w, 24);
	}
	if (has(t, PERF_SAMPLE_RAW)) {
		wr_u32(w, 12);
		(void)wr_reserve(w, 12);
	}
	wr_u64(w, 2);
	if (a->branch_sample_type & HW_INDEX)
		wr_u64(w, 3);
	branch(w, 0x401010, 0x401020, 1);
	branch(w, 0x401030, 0x401000, 2);
	if (a->branch_sample_type & COUNTERS)
		(void)wr_reserve(w, 16);
	recording_end(w, at);
}

static void any_fields_may_stand_in_front_of_the_branches(void **state)
{
	static const uint64_t field[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
		PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD, PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN,
		PERF_SAMPLE_RAW,
	};

	(void)state;
	for (unsigned set = 0; set < 1u << 12; set++) {
		struct recording_attr a = cycles;
		struct wr data = { 0 }, file = { 0 };

		a.id = 77;
		for (unsigned i = 0; i < 9; i++)
			a.sample_type |= set >> i & 1 ? field[i] : 0;
		a.read_format = set >> 9 & 1 ? PERF_FORMAT_GROUP | PERF_FORMAT_ID |
					       PERF_FORMAT_TOTAL_TIME_ENABLED |
					       PERF_FORMAT_TOTAL_TIME_RUNNING
					     : PERF_FORMAT_ID;
		a.branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
				       (set >> 10 & 1 ? HW_INDEX : 0) |
				       (set >> 11 & 1 ? COUNTERS : 0);
		any_sample(&data, &a);
		recording_file(&a, 1, wr_bytes(&data), NULL, 0, &file);
		assert_int_equal(read_recording(wr_bytes(&file)), 0);
		assert_string_equal(told, one_sample);
		wr_free(&data);
		wr_free(&file);
	}
}

static void the_time_of_other_records_is_found_whatever_stands_behind_it(void **state)
{
	static const uint64_t field[] = { PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
					  PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };

	(void)state;
	for (unsigned set = 0; set < 16; set++) {
		struct recording_attr a = cycles;
		struct wr data = { 0 }, file = { 0 };

		for (unsigned i = 0; i < 4; i++)
			a.sample_type |= set >> i & 1 ? field[i] : 0;
		for (uint32_t pid = 20; pid > 18; pid--) {	/* the later one first */
			size_t at = recording_begin(&data, PERF_RECORD_MMAP, 0);

			wr_u32(&data, pid);
			wr_u32(&data, pid);
			for (unsigned i = 0; i < 3; i++)
				wr_u64(&data, 0x1000);
			recording_string(&data, "/bin/q");
			sample_id(&data, pid, pid);
			for (unsigned i = 0; i < 4; i++)
				if (set >> i & 1)
					wr_u64(&data, 1);
			recording_end(&data, at);
		}
		recording_file(&a, 1, wr_bytes(&data), NULL, 0, &file);
		assert_int_equal(read_recording(wr_bytes(&file)), 0);
		assert_string_equal(
			told, "19 19/19 mmap 1000+1000@1000 4294967295:0 1 /bin/q\n"
			      "20 20/20 mmap 1000+1000@1000 4294967295:0 1 /bin/q\n");
		wr_free(&data);
		wr_free(&file);
	}
}

static void samples_of_the_first_event_count(void **state)
{
	struct recording_attr a[3] = { cycles, cycles, cycles };
	struct wr data = { 0 }, file = { 0 };

	(void)state;
	a[0].type = PERF_TYPE_SOFTWARE;
	a[0].config = PERF_COUNT_SW_DUMMY;
	a[2].config = PERF_COUNT_HW_CACHE_MISSES;
	for (unsigned i = 0; i < 3; i++) {
		a[i].sample_type |= PERF_SAMPLE_IDENTIFIER;
		a[i].id = 100 + i;
	}
	any_sample(&data, &a[2]);
	any_sample(&data, &a[1]);
	a[1].id = 999;				/* of nobody */
	any_sample(&data, &a[1]);
	a[1].id = 101;
	recording_file(a, 3, wr_bytes(&data), NULL, 0, &file);
	assert_int_equal(read_recording(wr_bytes(&file)), 0);
	assert_string_equal(told, one_sample);
	assert_int_equal(counts.others, 2);
	wr_free(&data);
	wr_free(&file);
}

static void stacks_of_chosen_branches_are_not_told(void **state)
{
	static const uint64_t chosen[] = {
		0, PERF_SAMPLE_BRANCH_ANY_CALL, PERF_SAMPLE_BRANCH_IND_CALL,
		PERF_SAMPLE_BRANCH_COND, PERF_SAMPLE_BRANCH_CALL_STACK,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_CALL_STACK,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX,
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++) {
		struct recording_attr a = cycles;
		struct wr data = { 0 }, file = { 0 };

		a.branch_sample_type = PERF_SAMPLE_BRANCH_USER | chosen[i];
		sample(&data, 30);
		recording_file(&a, 1, wr_bytes(&data), NULL, 0, &file);
		assert_int_equal(read_recording(wr_bytes(&file)), 0);
		assert_string_equal(told, "30 7/8 sample 401000\n");
		assert_int_equal(counts.stacks, 0);
		assert_int_equal(counts.chosen, 1);
		wr_free(&data);
		wr_free(&file);
	}
}

static void compressed_records_are_one_stream(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct wr data = { 0 }, packed = { 0 }, file = { 0 };
		bool pipe = i & 1, second = i & 2;

		mmap2(&data, 20, false);
		sample(&data, 30);
		/* pieces that cut records, or one for all */
		recording_compress(wr_bytes(&data), i & 4 ? 13 : 4096, second, &packed);
		(pipe ? recording_pipe : recording_file)(&cycles, 1, wr_bytes(&packed), NULL, 0,
							 &file);
		assert_int_equal(read_recording(wr_bytes(&file)), 0);
		assert_string_equal(strchr(told, '\n') + 1, one_sample);
		assert_string_not_equal(told, one_sample);
		wr_free(&data);
		wr_free(&packed);
		wr_free(&file);
	}
}

static void build_ids_come_with_mappings_and_as_a_feature(void **state)
{
	struct wr data = { 0 }, file = { 0 }, ids = { 0 };

	(void)state;
	mmap2(&data, 20, true);
	for (unsigned i = 0; i < 2; i++) {	/* with its size, and of old without */
		size_t at = recording_begin(&ids, 67, i ? 0 : 1 << 15);

		wr_u32(&ids, UINT32_MAX);
		uint8_t *id = wr_reserve(&ids, 24);
		id[0] = 0xcd;
		id[20] = i ? 0 : 16;
		recording_string(&ids, i ? "/bin/old" : "/bin/new");
		recording_end(&ids, at);
	}
	struct recording_feature f = { BUILD_ID, wr_bytes(&ids) };
	recording_file(&cycles, 1, wr_bytes(&data), &f, 1, &file);
	assert_int_equal(read_recording(wr_bytes(&file)), 0);
	assert_string_equal(told, "id 16 bytes cd.. /bin/new\nid 20 bytes cd.. /bin/old\n"
				  "id 8 bytes ab.. /bin/p\n"
				  "20 7/7 mmap 400000+2000@1000 4294967295:0 1 /bin/p\n");
	wr_free(&data);
	wr_free(&ids);
	wr_free(&file);
}

static void other_machines_are_refused_by_name(void **state)
{
	struct wr data = { 0 }, room = { 0 };

	(void)state;
	sample(&data, 30);
	for (unsigned i = 0; i < 2; i++) {
		struct wr file = { 0 };
		struct recording_feature f = { ARCH, recording_text("aarch64", &room) };
		__typeof__(&recording_file) make = i ? recording_pipe : recording_file;

		make(&cycles, 1, wr_bytes(&data), &f, 1, &file);
		assert_int_equal(read_recording(wr_bytes(&file)), -1);
		assert_int_equal(err.kind, ERR_REFUSED);
		assert_non_null(strstr(err.text, "recorded on aarch64"));
		f.bytes = recording_text("x86_64", &room);
		file.n = 0;
		make(&cycles, 1, wr_bytes(&data), &f, 1, &file);
		assert_int_equal(read_recording(wr_bytes(&file)), 0);
		memcpy(file.p, "2ELIFREP", 8);
		assert_int_equal(read_recording(wr_bytes(&file)), -1);
		assert_non_null(strstr(err.text, "big-endian"));
		memcpy(file.p, "PERFFILE", 8);
		assert_int_equal(read_recording(wr_bytes(&file)), -1);
		assert_non_null(strstr(err.text, "first version"));
		wr_free(&file);
	}
	wr_free(&data);
	wr_free(&room);
}

static void attributes_of_old_are_shorter(void **state)
{
	static const int bytes[] = { -1, 64, 72, 80, 128 };

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(bytes) / sizeof(bytes[0]); i++) {
		__typeof__(&recording_file) make = i % 2 ? recording_pipe : recording_file;
		struct recording_attr a[2] = { cycles, cycles };
		struct wr data = { 0 }, file = { 0 };

		for (unsigned k = 0; k < 2; k++) {
			a[k].bytes = bytes[i / 2];
			a[k].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
					   PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
			a[k].id = 70 + k;
		}
		a[1].config = PERF_COUNT_HW_CACHE_MISSES;
		for (unsigned k = 0; k < 2; k++) {
			size_t at = recording_begin(&data, PERF_RECORD_SAMPLE,
						    PERF_RECORD_MISC_USER);

			wr_u64(&data, a[k].id);
			wr_u64(&data, 0x401000);
			sample_id(&data, 7, 30);
			recording_end(&data, at);
		}
		make(a, 2, wr_bytes(&data), NULL, 0, &file);
		assert_int_equal(read_recording(wr_bytes(&file)), 0);
		assert_string_equal(told, "30 7/8 sample 401000\n");
		assert_int_equal(counts.others, 1);
		wr_free(&data);
		wr_free(&file);
	}
}

static void ids_are_no_more_than_the_file(void **state)
{
	struct recording_attr a[2] = { cycles, cycles };
	struct wr data = { 0 }, file = { 0 };
	const uint64_t at = 104 + 2 * 8, all = 400;

	(void)state;
	a[0].id = a[1].id = 5;
	for (unsigned i = 0; i < 2; i++)
		a[i].sample_type |= PERF_SAMPLE_IDENTIFIER;
	for (unsigned i = 0; i < 4; i++)
		any_sample(&data, &a[0]);
	recording_file(a, 2, wr_bytes(&data), NULL, 0, &file);
	assert_int_equal(read_recording(wr_bytes(&file)), 0);
	assert_true(file.n > all && file.n < 2 * all);
	for (unsigned i = 0; i < 2; i++)	/* both name nearly all of it */
		memcpy(file.p + at + i * (128 + 16ull) + 128 + 8, &all, 8);
	memset(file.p + at + 128, 0, 8);
	memset(file.p + at + 128 + 16 + 128, 0, 8);
	assert_int_equal(read_recording(wr_bytes(&file)), -1);
	assert_non_null(strstr(err.text, "more ids than it has room for"));
	wr_free(&data);
	wr_free(&file);
}

static void a_file_that_is_cut_short_is_an_error(void **state)
{
	struct wr data = { 0 }, packed = { 0 }, file = { 0 }, room = { 0 };
	struct recording_feature f = { ARCH, recording_text("x86_64", &room) };

	(void)state;
	mmap2(&data, 20, false);
	sample(&data, 30);
	recording_compress(wr_bytes(&data), 13, true, &packed);
	recording_file(&cycles, 1, wr_bytes(&packed), &f, 1, &file);
	assert_int_equal(read_recording(wr_bytes(&file)), 0);
	for (size_t n = 0; n < file.n; n++) {
		uint8_t *cut = malloc(n + 1);	/* sanitizers see reads past it */

		memcpy(cut, file.p, n);
		assert_int_equal(read_recording((struct bytes){ cut, n }), -1);
		assert_true(err.text[0] != '\0');
		free(cut);
	}
	wr_free(&data);
	wr_free(&packed);
	wr_free(&file);
	wr_free(&room);
}

static void damage_never_tells_more_than_there_is(void **state)
{
	struct wr data = { 0 }, file = { 0 };
	unsigned failed = 0;

	(void)state;
	mmap2(&data, 20, true);
	sample(&data, 30);
	recording_file(&cycles, 1, wr_bytes(&data), NULL, 0, &file);
	for (size_t i = 0; i < file.n; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			file.p[i] ^= (uint8_t)(1u << bit);
			failed += read_recording(wr_bytes(&file)) < 0;
			assert_true(counts.samples <= 1 && counts.stacks <= 1);
			file.p[i] ^= (uint8_t)(1u << bit);
		}
	assert_true(failed > 100);
	wr_free(&data);
	wr_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_told_in_the_order_of_time),
		cmocka_unit_test(any_fields_may_stand_in_front_of_the_branches),
		cmocka_unit_test(the_time_of_other_records_is_found_whatever_stands_behind_it),
		cmocka_unit_test(samples_of_the_first_event_count),
		cmocka_unit_test(stacks_of_chosen_branches_are_not_told),
		cmocka_unit_test(compressed_records_are_one_stream),
		cmocka_unit_test(build_ids_come_with_mappings_and_as_a_feature),
		cmocka_unit_test(other_machines_are_refused_by_name),
		cmocka_unit_test(attributes_of_old_are_shorter),
		cmocka_unit_test(ids_are_no_more_than_the_file),
		cmocka_unit_test(a_file_that_is_cut_short_is_an_error),
		cmocka_unit_test(damage_never_tells_more_than_there_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
