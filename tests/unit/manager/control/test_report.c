/* test_report.c - where the time goes, as the daemon tells it: by module, and by procedure */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <fcntl.h>

#include "lib/blocktable.h"
#include "lib/err.h"
#include "manager/samples/attribute.h"
#include "manager/work/work.h"
#include "tests/unit/daemon.h"

static const char policy[] = "idle:\n  check_s: 3600\n";

/* Two functions, of which the second has two blocks. */
static void put_table(struct daemon *d, const struct digest *original)
{
	struct blocktable_fn fn[] = { { 0x1000, 0x40, 0 }, { 0x2000, 0x90, 0 } };
	struct blocktable_block block[] = { { 0, 0x40, 9, 0 }, { 0x1000, 0x10, 3, 1 },
					    { 0x1010, 0x80, 20, 1 } };
	struct blockmap_seg seg = { 0x1000, 0x1000, 0x2000 };
	struct blocktable t = { .original = *original, .base = 0x1000, .text_size = 0xd0,
				.nseg = 1, .nfn = 2, .nblock = 3, .seg = &seg, .fn = fn,
				.block = block };
	struct wr w = { 0 };
	struct err err;

	blocktable_write(&t, &w);
	if (store_table_put(d->m.work.store, original, wr_bytes(&w), &err) < 0)
		fail_msg("%s", err.text);
	wr_free(&w);
}

/* A program of root's with so many samples in each of its blocks. */
static void put_module(struct daemon *d, const char *path, uint32_t first, uint32_t second,
		       uint32_t third)
{
	struct blockcount count[] = { { 0, first }, { 1, second }, { 2, third } };
	struct attribute_module am = { .samples = first + second + third, .ncount = 3,
				       .count = count };
	struct attribution a = { .nmodule = 1, .module = &am };
	struct store_fading fading = { 1, 3600, 600, 0 };
	struct store_module m = { .owner = 0 };
	struct err err;

	(void)snprintf(m.path, sizeof(m.path), "%s", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)		/* it is nowhere */
		memset(m.original.b, path[strlen(path) - 1], sizeof(m.original.b));
	else
		assert_int_equal(digest_fd(fd, &m.original, &err), 0);
	close(fd);
	m.present = m.original;
	put_table(d, &m.original);
	if (store_module_put(d->m.work.store, &m, &err) < 0)
		fail_msg("%s", err.text);
	am.module = (uint64_t)m.id;
	if (store_add_attribution(d->m.work.store, path, &a, (struct bytes){ 0 }, &fading,
				  &err) < 0)
		fail_msg("%s", err.text);
}

static void report(struct daemon *d, int argc, const char *const *argv, const char *want)
{
	int code;
	char *text = daemon_ask(d, 0, argc, argv, &code);

	assert_int_equal(code, 0);
	assert_string_equal(text, want);
	free(text);
	daemon_now_ms += 60000;
}

static void procedures_are_told_most_first(void **state)
{
	static const char *const one[] = { "report", "/usr/bin/a" },
				 *const limited[] = { "report", "/usr/bin/a", "--limit=1" };
	struct daemon d;

	(void)state;
	daemon_open(&d, policy);
	put_module(&d, "/usr/bin/a", 20, 10, 50);
	put_module(&d, "/usr/bin/b", 20, 0, 0);
	report(&d, 2, one,
	       "\ntable procedures\n"
	       "/usr/bin/a\tfn_2000\t60.000000\t75.000000\t75.000000\t8192\t144\t\n"
	       "/usr/bin/a\tfn_1000\t20.000000\t25.000000\t100.000000\t4096\t64\t\n");
	report(&d, 3, limited,
	       "\ntable procedures\n"
	       "/usr/bin/a\tfn_2000\t60.000000\t75.000000\t75.000000\t8192\t144\t\n"
	       "/usr/bin/a\t[all others]\t20.000000\t25.000000\t100.000000\t\t\t\n");
	daemon_close(&d);
}

/* Of programs that are not analysed no procedures are known. */
static void programs_are_told_most_first(void **state)
{
	static const char *const all[] = { "report", "--limit=3" };
	struct daemon d;

	(void)state;
	daemon_open(&d, policy);
	put_module(&d, "/usr/bin/b", 20, 0, 0);
	put_module(&d, "/usr/bin/a", 20, 10, 50);
	report(&d, 2, all,
	       "\ntable modules\n"
	       "/usr/bin/a\t80.000000\t80.000000\t80.000000\t0\t\n"
	       "/usr/bin/b\t20.000000\t20.000000\t100.000000\t0\t\n"
	       "table procedures\n"
	       "[all others]\t\t100.000000\t100.000000\t100.000000\t\t\t\n");
	daemon_close(&d);
}

enum { PATH_BYTES = 96 };

/* A daemon with one module, of which jobs say that. */
static void open_with_job(struct daemon *d, const char *says, char path[PATH_BYTES])
{
	daemon_open(d, policy);
	(void)snprintf(path, PATH_BYTES, "%s/a", d->dir);
	daemon_write(path, "a program");
	put_module(d, path, 20, 10, 50);
	d->job_says = says;
}

/* Of the job's text each table is read up to its end, and nothing else. */
static void what_the_analysis_says_is_told_in_tables(void **state)
{
	static const char said[] =
		"module /usr/bin/a\n\nreasons\nreason  functions  bytes\n"
		"movable  12  3456  none\n"
		"an indirect jump   2  99  jump\n\nconfidence\nconfidence  work  branches\n"
		"high  90.5  80.25\nlow  9.5  19.75\n\nprofile\nleft_out\n"
		"samples in no block\n\nnothing\n";
	const char *argv[] = { "explain", NULL };
	char path[PATH_BYTES];
	struct daemon d;
	int code;

	(void)state;
	open_with_job(&d, said, path);
	argv[1] = path;
	/* behind what it comes to */
	char *text = daemon_ask(&d, 0, 2, argv, &code), *tables = strstr(text, "table reasons");
	assert_int_equal(code, 0);
	assert_non_null(tables);
	assert_string_equal(tables,
	       "table reasons\n"
	       "movable\t12\t3456\tnone\t\n"
	       "an indirect jump\t2\t99\tjump\t\n"
	       "table confidence\n"
	       "high\t90.500000\t80.250000\t\n"
	       "low\t9.500000\t19.750000\t\n"
	       "table profile\n"
	       "samples in no block\t\n");
	free(text);
	daemon_close(&d);
}

/* Samples of instructions of the module, in its second and third block. */
static void put_places(struct daemon *d, const char *path)
{
	struct attribute_place place[] = { { 0x2000, 1, 7 }, { 0x2004, 1, 3 },
					   { 0x2010, 2, 50 } };
	struct attribute_module am = { .nplace = 3, .place = place };
	struct attribution a = { .nmodule = 1, .module = &am };
	struct store_fading fading = { 1, 3600, 600, 0 };
	struct store_module m;
	struct err err;

	assert_int_equal(store_module_by_path(d->m.work.store, path, &m, &err), 1);
	am.module = (uint64_t)m.id;
	if (store_add_attribution(d->m.work.store, "places", &a, (struct bytes){ 0 }, &fading,
				  &err) < 0)
		fail_msg("%s", err.text);
}

static void where_cycles_go_is_told_where_instructions_are_known(void **state)
{
	/* and lines of others, which are none of it */
	static const char said[] =
		"function\t2000\t60\t5\tat-least\ncause\tdivision\t10.5\t60.25\n"
		"block\t2000\t16\t3\t10\t5\thigh\t12\t3\nnonsense\tx\n"
		"insn\t2000\t7\t5\t4\t1\t-\t\ninsn\t2004\t3\t5\t8\t2\t2000\tdivision\n"
		"insn\t2002\t3\t5\t8\t2\t2000\tbackwards\ncut off";
	const char *argv[] = { "annotate", NULL, "fn_2000" };
	char path[PATH_BYTES];
	struct daemon d;
	int code;

	(void)state;
	open_with_job(&d, said, path);
	argv[1] = path;
	char *text = daemon_ask(&d, 0, 3, argv, &code);
	assert_int_equal(code, 0);
	assert_null(strstr(text, "table causes"));	/* by blocks alone */
	assert_non_null(strstr(text, "\ntable blocks\n8192\t16\t3\t10.000000\t3.333333\t"));
	free(text);
	daemon_now_ms += 60000;
	put_places(&d, path);
	text = daemon_ask(&d, 0, 3, argv, &code);
	assert_int_equal(code, 0);
	char *tables = strstr(text, "table function");
	assert_non_null(strstr(text, "of 60 samples of the function, 60 are known by"));
	assert_non_null(tables);
	assert_string_equal(tables,
	       "table function\n2000\t60\t5\tat-least\t\n"
	       "table causes\ndivision\t10.5\t60.25\t\n"
	       "table blocks\n2000\t16\t3\t10\t3.333333\t5\thigh\t12\t3\t\n"
	       "table instructions\n2000\t7\t5\t4\t1\t\t-\t\t\t\n"
	       "2004\t3\t5\t8\t2\t\t2000\tdivision\t\t\n");
	free(text);
	daemon_now_ms += 60000;
	/* the job fails: what is known is told */
	d.job_says = NULL;
	text = daemon_ask(&d, 0, 3, argv, &code);
	assert_non_null(strstr(text, "what they wait for cannot be said: " DAEMON_NO_JOB));
	assert_non_null(strstr(text, "\ntable blocks\n8192\t16\t3\t10.000000\t3.333333\t"));
	free(text);
	daemon_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(procedures_are_told_most_first),
		cmocka_unit_test(programs_are_told_most_first),
		cmocka_unit_test(what_the_analysis_says_is_told_in_tables),
		cmocka_unit_test(where_cycles_go_is_told_where_instructions_are_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
