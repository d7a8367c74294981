/* test_spool_procedure.c - the names of the kernel's procedures in a spool file */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/spool_format.h"

/* More names than a block remembers, each twice and more, the longest among them. */
static struct spool_event in_kernel(uint64_t i, char name[SPOOL_PROCEDURE_MAX + 2])
{
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .time_ns = i << SPOOL_TIME_SHIFT,
				  .pid = 7, .tid = (uint32_t)(7 + i % 40),
				  .sample = { .pc = 0x400000 + i } };
	int n = snprintf(name, SPOOL_PROCEDURE_MAX + 2, "procedure_%d", (int)(i * i % 641));

	if (i % 100 == 0)
		memset(name + n, 'x', SPOOL_PROCEDURE_MAX + 1 - (size_t)n);
	name[SPOOL_PROCEDURE_MAX] = '\0';
	ev.sample.kernel = i % 3 != 0;
	ev.sample.procedure = i % 4 ? name : NULL;
	ev.sample.has_state = i % 5 == 0;
	ev.sample.state.rflags = i;
	ev.sample.kernel_pc = 0xffffffff81234567 + i;
	return ev;
}

static void the_kernel_s_procedures_come_back_and_no_addresses(void **state)
{
	char name[SPOOL_PROCEDURE_MAX + 2];
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);
	struct spool_event ev;
	struct stat st;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++) {
		ev = in_kernel(i, name);
		assert_int_equal(spool_write(w, &ev, NULL), 0);
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	for (uint64_t i = 0; i < 5000; i++) {
		const struct spool_event want = in_kernel(i, name);

		assert_int_equal(spool_read(r, &ev), 1);
		assert_int_equal(ev.sample.pc, want.sample.pc);
		assert_int_equal(ev.sample.kernel, want.sample.kernel);
		assert_int_equal(ev.sample.kernel_pc, 0);
		assert_int_equal(ev.sample.has_state, want.sample.has_state);
		if (want.sample.has_state)
			assert_int_equal(ev.sample.state.rflags, i);
		if (!want.sample.kernel || !want.sample.procedure)
			assert_null(ev.sample.procedure);
		else
			assert_string_equal(ev.sample.procedure, want.sample.procedure);
	}
	assert_int_equal(spool_read(r, &ev), 0);
	assert_int_equal(spool_reader_bad_blocks(r), 0);
	spool_reader_free(r);
	assert_int_equal(fstat(fd, &st), 0);
	assert_in_range(st.st_size, 5000, 5000 * 40);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_s_procedures_come_back_and_no_addresses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
