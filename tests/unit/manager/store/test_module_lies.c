/* test_module_lies.c - what a job that was taken over has told of one module, and the spool,
 * in which there are samples of all
 */
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
#include "tests/unit/spooled.h"

enum { SAMPLES = 5 };

static char path[96];
static struct store *store;
static struct modules *modules;
static struct ingest *intake;

/* Two blocks of 16 bytes at file offset 0x1000. */
static int analyze(void *ctx, const char *p, int fd, struct wr *table, struct err *err)
{
	static struct blockmap_seg seg = { 0x401000, 0x1000, 0x1000 };
	static struct blocktable_fn fn = { 0x401000, 0x20, 0 };
	static struct blocktable_block block[] = { { 0, 16, 4, 0 }, { 16, 16, 4, 0 } };
	struct blocktable t = { .base = 0x401000, .text_size = 0x1000, .nseg = 1, .nfn = 1,
				.nblock = 2, .seg = &seg, .fn = &fn, .block = block };

	(void)ctx, (void)p;
	if (digest_fd(fd, &t.original, err) < 0)
		return -1;
	blocktable_write(&t, table);
	return 0;
}

static void write_file(const char *text)
{
	char other[128];

	(void)snprintf(other, sizeof(other), "%s.new", path);
	int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(rename(other, path), 0);
}

static struct store_module look(void)
{
	struct store_module m;
	enum module_look how;
	struct err err = { 0 };

	if (modules_look(modules, path, &how, &m, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

static int setup(void **state)
{
	static const struct module_services by = { .open = spooled_open, .analyze = analyze,
						   .allows = spooled_is_ours };
	char name[96];

	(void)state;
	(void)snprintf(dir, sizeof(dir), "/var/tmp/morph-lies-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/prog", dir);
	(void)snprintf(name, sizeof(name), "%s/store", dir);
	store = store_open(name, NULL);
	modules = modules_new(store, &by);
	intake = ingest_new(store, modules, NULL);
	write_file("original");
	return store && intake ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	ingest_free(intake);
	modules_free(modules);
	store_close(store);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

/* A spool file with samples of the file at the path, and some of nobody. */
static int take_in(const char *name, uint32_t pid)
{
	struct spool_event ev = spooled_mmap(pid, path, 0, 0x4000);
	struct err err = { 0 };
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);

	assert_int_equal(spool_write(w, &ev, NULL), 0);
	ev = (struct spool_event){ .kind = SPOOL_SAMPLE, .pid = pid, .tid = pid };
	ev.sample.pc = SPOOLED_AT + 0x1004;
	for (int i = 0; i < SAMPLES; i++)
		assert_int_equal(spool_write(w, &ev, NULL), 0);
	ev.sample.kernel = true;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	int rc = ingest_spool_file(intake, fd, name, NULL, &err);
	if (rc < 0)
		print_message("# %s\n", err.text);
	close(fd);
	return rc;
}

static uint64_t count_of(enum counter which)
{
	uint64_t n[NCOUNTER];

	assert_int_equal(store_counters(store, n, NULL), 0);
	return n[which];
}

/* Its map is what the job gave out beside the generation; only that one is proven. */
static void a_map_that_is_none_costs_its_own_module(void **state)
{
	static const char *const lie[] = { "", "x", "MORPHMAP\1\2\3\4\5\6\7\10\11\12\13\14" };
	struct store_generation *g = calloc(1, sizeof(*g));
	struct store_module m;

	(void)state;
	m = look();
	assert_int_equal(take_in("1", 7), 1);
	assert_int_equal(count_of(COUNTER_KNOWN), SAMPLES);
	for (uint32_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		char text[32], name[8];

		(void)snprintf(text, sizeof(text), "generation %u", i);
		(void)snprintf(name, sizeof(name), "%u", i + 2);
		*g = (struct store_generation){ .module = m.id, .number = i + 1,
						.original = m.original,
						.state = STATE_INSTALLED };
		g->digest = digest_of((struct bytes){ (uint8_t *)text, strlen(text) });
		assert_int_equal(store_generation_add(store, g, (struct bytes){
				(const uint8_t *)lie[i], strlen(lie[i]) },
				&(struct store_profile){ 0 }, NULL), 0);
		write_file(text);
		assert_int_equal(look().generation, i + 1);
		assert_int_equal(take_in(name, 100 + i), 1);
		assert_int_equal(count_of(COUNTER_KERNEL), i + 2);
		assert_int_equal(count_of(COUNTER_OUTSIDE), (i + 1) * SAMPLES);
		assert_false(store_is_damaged(store));
	}
	assert_int_equal(count_of(COUNTER_KNOWN), SAMPLES);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_map_that_is_none_costs_its_own_module, setup,
						teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
