/* test_kernelnames.c - lists of the kernel's procedures, as it shows them and otherwise */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/kernelnames.h"
#include "monitor/spool.h"

static struct kernelnames *names_of(const char *list, struct err *err)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	assert_int_equal(write(fd, list, strlen(list)), strlen(list));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return kernelnames_read(fd, err);
}

static const char list[] =
	"0000000000000000 A fixed_percpu_data\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000100 t __pfx_do_read\n"
	"ffffffff81000110 t do_read\n"
	"ffffffff81000180 W do_write\n"
	"ffffffff81300000 T far_away\n"
	"ffffffff82000000 D some_data\n"
	"ffffffffc0100000 t of_module\t[mod]\n"
	"ffffffffc0001000 t before_it\t[mod]\n"
	"not a line\n"
	"ffffffffc0200000 t unfinished";

static void an_address_is_in_the_procedure_that_begins_before_it(void **state)
{
	struct kernelnames *k = names_of(list, NULL);

	(void)state;
	assert_non_null(k);
	assert_string_equal(kernelnames_at(k, 0xffffffff81000000), "_stext");
	assert_string_equal(kernelnames_at(k, 0xffffffff8100010f), "_stext");
	assert_string_equal(kernelnames_at(k, 0xffffffff81000110), "do_read");
	assert_string_equal(kernelnames_at(k, 0xffffffff8100017f), "do_read");
	assert_string_equal(kernelnames_at(k, 0xffffffff81000180), "do_write");
	assert_string_equal(kernelnames_at(k, 0xffffffffc0001004), "before_it [mod]");
	assert_string_equal(kernelnames_at(k, 0xffffffffc0100004), "of_module [mod]");
	struct kernelnames_range r = kernelnames_of(k, "do_read");
	assert_int_equal(r.start, 0xffffffff81000110);
	assert_int_equal(r.end, 0xffffffff81000180);
	r = kernelnames_of(k, "nothing");
	assert_true(r.start == 0 && r.end == 0);
	kernelnames_free(k);
}

static void what_is_in_none_has_no_name(void **state)
{
	struct kernelnames *k = names_of(list, NULL);

	(void)state;
	assert_null(kernelnames_at(k, 0xffffffff80ffffff));
	assert_null(kernelnames_at(k, 0xffffffff81200000));	/* far behind do_write */
	assert_null(kernelnames_at(k, 0xffffffff82000000));	/* data */
	assert_null(kernelnames_at(k, 0xffffffffc0200000));
	assert_null(kernelnames_at(k, 0x401000));
	assert_null(kernelnames_at(k, 0));
	kernelnames_free(k);
}

static void addresses_that_are_not_shown_are_no_names(void **state)
{
	struct err err;

	(void)state;
	assert_null(names_of("0000000000000000 T _stext\n0000000000000000 t do_read\n", &err));
	assert_non_null(strstr(err.text, "shows no addresses"));
	assert_null(names_of("", &err));
}

static void strange_lines_are_left_out(void **state)
{
	char *lines = malloc(300000), name[400];
	size_t n = 0;

	(void)state;
	memset(name, 'y', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	n += (size_t)sprintf(lines, "ffffffff81000000 T good\nffffffff81000010 t %s\n"
			     "ffffffff81000020 t ev\033[31mil\nffffffff81000030 t \n", name);
	memset(lines + n, 'x', 150000);		/* no line at all */
	n += 150000;
	n += (size_t)sprintf(lines + n, "\nffffffff81000040 t behind\n");
	struct kernelnames *k = names_of(lines, NULL);
	assert_non_null(k);
	assert_string_equal(kernelnames_at(k, 0xffffffff81000035), "good");
	assert_string_equal(kernelnames_at(k, 0xffffffff81000041), "behind");
	kernelnames_free(k);
	free(lines);
}

static void a_sample_in_the_kernel_is_named_and_no_other(void **state)
{
	struct kernelnames *k = names_of(list, NULL);
	struct spool_event ev = { .kind = SPOOL_SAMPLE };

	(void)state;
	ev.sample.kernel_pc = 0xffffffff81000111;
	kernelnames_tell(k, &ev);
	assert_null(ev.sample.procedure);
	ev.sample.kernel = true;
	kernelnames_tell(NULL, &ev);
	assert_null(ev.sample.procedure);
	kernelnames_tell(k, &ev);
	assert_string_equal(ev.sample.procedure, "do_read");
	kernelnames_free(k);
}

static void this_kernel_s_own_list_is_read(void **state)
{
	struct err err;
	int fd = kernelnames_open(&err);
	struct kernelnames *k = fd < 0 ? NULL : kernelnames_read(fd, &err);

	(void)state;
	if (!k) {
		print_message("# %s\n", err.text);
		skip();
	}
	struct kernelnames_range r = kernelnames_of(k, "asm_sysvec_apic_timer_interrupt");
	assert_true(r.start && r.end > r.start);
	assert_string_equal(kernelnames_at(k, r.start + 1), "asm_sysvec_apic_timer_interrupt");
	kernelnames_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_in_the_procedure_that_begins_before_it),
		cmocka_unit_test(what_is_in_none_has_no_name),
		cmocka_unit_test(addresses_that_are_not_shown_are_no_names),
		cmocka_unit_test(strange_lines_are_left_out),
		cmocka_unit_test(a_sample_in_the_kernel_is_named_and_no_other),
		cmocka_unit_test(this_kernel_s_own_list_is_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
