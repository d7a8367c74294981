/* test_whose.c - from the spool to the store: whose samples a module's profile has, as long as
 * it has them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/samples/userset.h"
#include "policy/share.h"
#include "tests/unit/spooled.h"

enum { TEXT = 4096, BLOCK = 64, ANNA = 1000, BEN, CARA, DAY_S = 86400 };

static char program[96];
static struct store *store;
static struct modules *modules;
static struct ingest *ingest;

/* Processes 1000 to 1002 are of those users, 5 of root; of the others nothing is told. */
static int whose(void *ctx, uint32_t pid, uint64_t before_ns, uint32_t *uid)
{
	(void)ctx;
	(void)before_ns;
	*uid = pid == 5 ? USERSET_SYSTEM : pid;
	return pid == 5 || (pid >= ANNA && pid <= CARA);
}

static int analyze(void *ctx, const char *p, int fd, struct wr *table, struct err *err)
{
	struct blockmap_seg seg = { 0x401000, 0x1000, TEXT };
	struct blocktable_fn fn = { 0x401000, TEXT, 0 };
	struct blocktable_block block[TEXT / BLOCK];
	struct blocktable t = { .base = 0x401000, .text_size = 1 << 20, .nseg = 1, .nfn = 1,
				.nblock = TEXT / BLOCK, .seg = &seg, .fn = &fn,
				.block = block };

	(void)ctx;
	(void)p;
	for (uint32_t i = 0; i < TEXT / BLOCK; i++)
		block[i] = (struct blocktable_block){ i * BLOCK, BLOCK, 4, 0 };
	if (digest_fd(fd, &t.original, err) < 0)
		return -1;
	blocktable_write(&t, table);
	return 0;
}

static const struct module_services services = { .open = spooled_open, .analyze = analyze,
						 .allows = spooled_is_ours };

static void write_program(const char *text)
{
	int fd = open(program, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(ftruncate(fd, 0x1000 + TEXT), 0);
	close(fd);
}

static int begin(void **state)
{
	const struct userset_source source = { whose, NULL };
	struct err err;

	(void)state;
	(void)snprintf(dir, sizeof(dir), "/var/tmp/morph-whose-XXXXXX");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(program, sizeof(program), "%s/program", dir);
	write_program("\177ELF one");
	store = store_open(dir, &err);
	assert_non_null(store);
	modules = modules_new(store, &services);
	ingest = ingest_new(store, modules, &err);
	assert_non_null(ingest);
	ingest_whose(ingest, &source, true);
	return 0;
}

static int end(void **state)
{
	char command[96];

	(void)state;
	ingest_free(ingest);
	modules_free(modules);
	store_close(store);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

struct use {
	uint32_t pid, samples;
};

static void put(struct spool_writer *w, struct spool_event *ev, uint64_t time_s)
{
	ev->tid = ev->pid;
	ev->time_ns = time_s * 1000000000;
	assert_int_equal(spool_write(w, ev, NULL), 0);
}

/* A spool file, begun at that time, in which each process has its samples, a second apart. */
static void take_in(uint64_t time_s, const struct use *use, int n)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);
	struct err err = { 0 };
	char name[32];

	for (int i = 0; i < n; i++) {
		struct spool_event ev = { .kind = SPOOL_EXEC, .pid = use[i].pid,
					  .exec.comm = "program" };

		put(w, &ev, time_s);
		ev = spooled_mmap(use[i].pid, program, 0x1000, TEXT);
		put(w, &ev, time_s);
		for (uint32_t k = 0; k < use[i].samples; k++) {
			ev = (struct spool_event){ .kind = SPOOL_SAMPLE, .pid = use[i].pid };
			ev.sample.pc = SPOOLED_AT + k % (TEXT / BLOCK) * BLOCK;
			put(w, &ev, time_s + k);
		}
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	(void)snprintf(name, sizeof(name), "%016llx.spool", (unsigned long long)time_s);
	if (ingest_spool_file(ingest, fd, name, NULL, &err) != 1)
		fail_msg("%s", err.text);
	close(fd);
}

static struct store_module module(void)
{
	struct store_module m;

	assert_int_equal(store_module_by_path(store, program, &m, NULL), 1);
	return m;
}

static double of(uint32_t uid)
{
	struct share_use *use;
	double samples = 0;
	uint32_t n;

	assert_int_equal(store_whose_get(store, module().id, &use, &n, NULL), 0);
	for (uint32_t i = 0; i < n; i++)
		if (use[i].uid == uid)
			samples += use[i].samples;
	free(use);
	return samples;
}

static uint64_t of_all(uint32_t uid)
{
	struct usersums s = { 0 };
	uint64_t samples = 0;

	assert_int_equal(store_user_samples(store, &s, NULL), 0);
	for (uint32_t i = 0; i < s.n; i++)
		if (s.at[i].uid == uid)
			samples += s.at[i].samples;
	usersums_free(&s);
	return samples;
}

static void each_has_his_samples(void **state)
{
	const struct use first[] = { { ANNA, 30 }, { BEN, 20 }, { 5, 10 }, { 77, 4 } };
	const struct use second[] = { { ANNA, 5 }, { CARA, 6 } };

	(void)state;
	ingest_half_life(ingest, 1e12);
	take_in(50000, first, 4);
	take_in(60000, second, 2);
	assert_true(of(ANNA) > 34.9 && of(ANNA) < 35.1);
	assert_true(of(BEN) > 19.9 && of(BEN) < 20.1);
	assert_true(of(CARA) > 5.9 && of(USERSET_SYSTEM) > 9.9);
	assert_true(of(USERSET_UNKNOWN) > 3.9 && of(USERSET_UNKNOWN) < 4.1);
	assert_int_equal(of_all(ANNA), 35);
	assert_int_equal(of_all(USERSET_SYSTEM), 10);
	assert_int_equal(of_all(USERSET_UNKNOWN), 4);
	struct store_module m = module();
	assert_true(m.samples + m.outside > 74.9 && m.samples + m.outside < 75.1);
}

/* What is known of a user goes as his samples go. */
static void it_fades_with_the_profile(void **state)
{
	const struct use first[] = { { ANNA, 1000 } }, later[] = { { BEN, 1000 } };

	(void)state;
	ingest_half_life(ingest, 500);		/* each file covers two of them */
	take_in(50000, first, 1);
	for (int i = 1; i <= 6; i++)
		take_in(50000 + 10000 * (uint64_t)i, later, 1);
	struct store_module m = module();
	assert_true(of(ANNA) < 2);
	assert_true(of(BEN) > 900);
	double known = of(ANNA) + of(BEN), all = m.samples + m.outside;
	assert_true(known > 0.97 * all && known < 1.03 * all);
}

/* Where recent samples are kept and old ones fade, nobody has more than he has. */
static void what_is_forgotten_at_once_is_of_nobody(void **state)
{
	const struct use old[] = { { ANNA, 1000 }, { BEN, 1000 } };
	const struct use recent[] = { { CARA, 500 } };
	struct store_use h;

	(void)state;
	ingest_half_life(ingest, 1e12);
	take_in(50000, old, 2);
	assert_int_equal(store_use_begin(store, module().id, "", NULL), 0);
	take_in(60000, recent, 1);
	assert_int_equal(store_use_get(store, module().id, &h, NULL), 0);
	assert_int_equal(store_profile_fade(store, module().id, 0.01, &h.recent, NULL), 0);
	store_profile_free(&h.recent);
	assert_true(module().samples > 500);
	assert_true(of(ANNA) <= 11 && of(BEN) <= 11 && of(CARA) <= 6);
}

static void another_program_there_begins_anew(void **state)
{
	const struct use use[] = { { ANNA, 30 } };

	(void)state;
	take_in(50000, use, 1);
	assert_true(of(ANNA) > 29);
	write_program("\177ELF two");
	enum module_look look;
	struct store_module m;
	assert_int_equal(modules_look(modules, program, &look, &m, NULL), 0);
	assert_int_equal(look, MODULE_CHANGED);
	assert_true(of(ANNA) == 0);
}

/* In the kernel, in code made at run time, in no module at all. */
static void a_user_has_his_samples_wherever_they_are(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .pid = BEN };

	(void)state;
	ev.sample.kernel = true;
	for (uint64_t i = 0; i < 12; i++) {
		put(w, &ev, 50000 + i);
		ev.sample.kernel = i < 6;
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	assert_int_equal(ingest_spool_file(ingest, fd, "0000000000000001.spool", NULL, NULL),
			 1);
	close(fd);
	assert_int_equal(of_all(BEN), 12);
}

/* Unless it is asked for, nothing is kept of what anybody runs, and what was goes. */
static void who_does_not_ask_keeps_nothing(void **state)
{
	const struct use use[] = { { ANNA, 30 } };

	(void)state;
	take_in(50000, use, 1);
	assert_true(of(ANNA) > 29);
	ingest_whose(ingest, NULL, false);
	assert_int_equal(store_whose_clear(store, NULL), 0);
	take_in(60000, use, 1);
	assert_true(of(ANNA) == 0 && of(USERSET_UNKNOWN) == 0);
	assert_int_equal(of_all(ANNA), 60);
	assert_true(module().samples > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_has_his_samples, begin, end),
		cmocka_unit_test_setup_teardown(it_fades_with_the_profile, begin, end),
		cmocka_unit_test_setup_teardown(what_is_forgotten_at_once_is_of_nobody, begin,
						end),
		cmocka_unit_test_setup_teardown(another_program_there_begins_anew, begin, end),
		cmocka_unit_test_setup_teardown(a_user_has_his_samples_wherever_they_are, begin,
						end),
		cmocka_unit_test_setup_teardown(who_does_not_ask_keeps_nothing, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
