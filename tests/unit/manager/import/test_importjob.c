/* test_importjob.c - what the reader of a recording may use, and what it says of more */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "manager/import/importjob.h"
#include "tests/unit/recording.h"

static const struct recording_attr cycles = {
	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME,
};

static struct err err;

/* What is told lives in `a`. */
static int import_in(struct arena *a, struct bytes file, struct imported *im)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.p, file.n), file.n);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = (struct err){ 0 };
	int rc = importjob_run(path, a, im, &err);
	close(fd);
	if (rc == 0)
		close(im->log_fd);
	return rc;
}

static int import(struct bytes file, struct import_counts *counts)
{
	struct arena *a = arena_new();
	struct imported im;
	int rc = import_in(a, file, &im);

	if (rc == 0)
		*counts = im.counts;
	arena_free(a);
	return rc;
}

static void sample(struct wr *w, uint64_t id)
{
	size_t at = recording_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	wr_u64(w, id);
	wr_u64(w, 0x401000);
	wr_u64(w, 7);
	wr_u64(w, 30);
	recording_end(w, at);
}

/* `n` records, which say nothing. */
static int import_packed(unsigned n, struct import_counts *counts)
{
	struct wr data = { 0 }, file = { 0 }, packed = { 0 };

	for (unsigned i = 0; i < n; i++)
		recording_end(&data, recording_begin(&data, PERF_RECORD_UNTHROTTLE, 0));
	sample(&data, 0);
	recording_compress(wr_bytes(&data), 1 << 20, false, &packed);
	recording_file(&cycles, 1, wr_bytes(&packed), NULL, 0, &file);
	assert_true(file.n < 1 << 20);
	int rc = import(wr_bytes(&file), counts);
	wr_free(&data);
	wr_free(&file);
	wr_free(&packed);
	return rc;
}

static void memory_is_limited_by_the_size(void **state)
{
	struct import_counts counts;

	(void)state;
	assert_int_equal(import_packed(100000, &counts), 0);
	assert_int_equal(counts.samples, 1);
#ifndef MORPH_SANITIZED
	assert_int_equal(import_packed(8 << 20, &counts), -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, " MiB, the limit for its size"));
#endif
}

/* Many events' ids and many samples of no event: all are held against all. */
static void time_is_limited(void **state)
{
	struct rlimit old, low;
	struct wr file = { 0 };
	struct import_counts counts;
	uint8_t event[256];

	(void)state;
	recording_pipe(&cycles, 1, (struct bytes){ NULL, 0 }, NULL, 0, &file);
	size_t from = file.n;
	assert_true(from > 16 + 8 && from <= sizeof(event));
	memcpy(event, file.p, from);
	for (unsigned i = 0; i < 40; i++) {
		size_t at = recording_begin(&file, 64, 0);

		wr_raw(&file, event + 16 + 8, from - 16 - 8);
		for (unsigned k = 0; k < 8000; k++)
			wr_u64(&file, 1);
		recording_end(&file, at);
	}
	for (unsigned i = 0; i < 200000; i++)
		sample(&file, 2);
	assert_int_equal(getrlimit(RLIMIT_CPU, &old), 0);
	low = old;
	low.rlim_cur = 2;
	assert_int_equal(setrlimit(RLIMIT_CPU, &low), 0);
	int rc = import(wr_bytes(&file), &counts);
	assert_int_equal(setrlimit(RLIMIT_CPU, &old), 0);
	assert_int_equal(rc, -1);
	assert_int_equal(err.kind, ERR_REFUSED);
	assert_non_null(strstr(err.text, "more than 2 s of CPU time"));
	wr_free(&file);
}

static void add_id(struct wr *ids, uint8_t byte, uint8_t size, const char *path)
{
	size_t at = recording_begin(ids, 67, 1 << 15);

	wr_u32(ids, UINT32_MAX);
	uint8_t *id = wr_reserve(ids, 24);
	memset(id, byte, size < 16 ? size : 16);
	id[20] = size;
	recording_string(ids, path);
	recording_end(ids, at);
}

static void two_files_of_one_path_are_told_apart(void **state)
{
	struct wr data = { 0 }, file = { 0 }, ids = { 0 };
	struct arena *a = arena_new();
	struct imported im;

	(void)state;
	sample(&data, 0);
	add_id(&ids, 0xcd, 16, "/bin/two");
	add_id(&ids, 0xab, 16, "/bin/two");
	add_id(&ids, 0xcd, 16, "/bin/one");
	add_id(&ids, 0xcd, 20, "/bin/one");	/* the same, with zeros */
	struct recording_feature f = { 2, wr_bytes(&ids) };
	recording_file(&cycles, 1, wr_bytes(&data), &f, 1, &file);
	assert_int_equal(import_in(a, wr_bytes(&file), &im), 0);
	assert_int_equal(im.nid, 2);
	assert_true(imported_id(&im, "/bin/two")->several);
	assert_false(imported_id(&im, "/bin/one")->several);
	assert_string_equal(imported_id(&im, "/bin/one")->hex,
			    "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd");
	assert_null(imported_id(&im, "/bin/none"));
	arena_free(a);
	wr_free(&data);
	wr_free(&file);
	wr_free(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(two_files_of_one_path_are_told_apart),
		cmocka_unit_test(memory_is_limited_by_the_size),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
