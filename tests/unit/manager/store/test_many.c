/* test_many.c - 2,000 profiled modules, 200 of them with a generation: every sample is where it
 * belongs, and the memory is bounded
 *
 * Files, store and spool are real; the analyses are told, since only the Editor could make
 * them.  What it costs is printed, not judged: bench/many.sh keeps it.
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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "tests/unit/spooled.h"

enum { MODULES = 2000, GENERATIONS = 200, FUNCTIONS = 500, BLOCKS = 10 * FUNCTIONS, BLOCK = 16,
       SAMPLES = 20 /* of each module in a spool file */ };
#define TEXT (BLOCKS * (uint64_t)BLOCK)

static const uint64_t base = 0x401000, text_off = 0x1000, new_base = 0x900000,
		      new_off = 0x100000;

static struct store *store;
static struct modules *modules;
static unsigned analyses;

static void name_of(unsigned i, char out[96])
{
	(void)snprintf(out, 96, "%s/prog%04u", dir, i);
}

static int analyze(void *ctx, const char *p, int fd, struct wr *table, struct err *err)
{
	static struct blockmap_seg seg = { 0x401000, 0x1000, TEXT };
	static struct blocktable_fn fn[FUNCTIONS];
	static struct blocktable_block block[BLOCKS];
	struct blocktable t = { .base = base, .text_size = TEXT, .nseg = 1, .nfn = FUNCTIONS,
				.nblock = BLOCKS, .seg = &seg, .fn = fn, .block = block };

	(void)ctx;
	(void)p;
	analyses++;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		fn[i] = (struct blocktable_fn){ base + 10 * BLOCK * i, 10 * BLOCK, 0 };
	for (uint32_t i = 0; i < BLOCKS; i++)
		block[i] = (struct blocktable_block){ i * BLOCK, BLOCK, 4, i / 10 };
	if (digest_fd(fd, &t.original, err) < 0)
		return -1;
	blocktable_write(&t, table);
	return 0;
}

static const struct module_services services = { .open = spooled_open, .analyze = analyze,
						 .allows = spooled_is_ours };

static void write_file(unsigned i, const char *what)
{
	char path[96], other[104], text[64];

	name_of(i, path);
	(void)snprintf(other, sizeof(other), "%s.new", path);
	(void)snprintf(text, sizeof(text), "%s of %u", what, i);
	int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(rename(other, path), 0);
}

static struct digest digest_text(unsigned i, const char *what)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%s of %u", what, i);
	return digest_of((struct bytes){ (const uint8_t *)text, strlen(text) });
}

static uint64_t cpu_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Most that was resident, in KiB. */
static unsigned long peak_kib(void)
{
	unsigned long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		(void)sscanf(line, "VmHWM: %lu", &kib);
	if (f)
		(void)fclose(f);
	return kib;
}

/* One process for each module; samples in SAMPLES different blocks, in the new text of a
 * generation. */
static int spool(unsigned ngenerations)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, NULL);
	char path[96];

	assert_non_null(w);
	for (uint32_t i = 0; i < MODULES; i++) {
		uint64_t off = i < ngenerations ? new_off : text_off;

		name_of(i, path);
		struct spool_event ev = spooled_mmap(100 + i, path, off, TEXT);
		ev.time_ns = 1000 + i;
		ev.tid = 100 + i;
		assert_int_equal(spool_write(w, &ev, NULL), 0);
		ev = (struct spool_event){ .kind = SPOOL_SAMPLE,
					   .time_ns = 1000 + i, .pid = 100 + i,
					   .tid = 100 + i };
		for (uint64_t k = 0; k < SAMPLES; k++) {
			ev.sample.pc = SPOOLED_AT + (i + 7 * k) % BLOCKS * BLOCK + 3;
			assert_int_equal(spool_write(w, &ev, NULL), 0);
		}
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	return fd;
}

static void take_in(struct ingest *g, unsigned ngenerations, const char *name, const char *what)
{
	struct attribution sum = { 0 };
	struct err err = { 0 };
	int fd = spool(ngenerations);
	uint64_t begun_ms = cpu_ms();

	if (ingest_spool_file(g, fd, name, &sum, &err) != 1)
		fail_msg("%s", err.text);
	print_message("# %s: %lu ms of CPU time\n", what, (unsigned long)(cpu_ms() - begun_ms));
	assert_int_equal(sum.counter[COUNTER_KNOWN], MODULES * SAMPLES);
	assert_int_equal(sum.nmodule, MODULES);
	attribution_free(&sum);
	close(fd);
}

struct expected {
	unsigned n, generations;
	uint64_t samples;
};

static bool check_module(void *ctx, const struct store_module *m)
{
	struct expected *e = ctx;

	e->n++;
	e->generations += m->generation != 0;
	assert_true(m->samples > (double)e->samples - 0.5 &&
		    m->samples < (double)e->samples + 0.5);
	return true;
}

static void check_store(uint64_t samples, unsigned ngenerations)
{
	struct expected e = { .samples = samples };

	assert_int_equal(store_module_each(store, check_module, &e, NULL), 0);
	assert_int_equal(e.n, MODULES);
	assert_int_equal(e.generations, ngenerations);
}

/* Block i of the new text is block BLOCKS - 1 - i of the original. */
static void make_generation(unsigned i)
{
	static struct blockmap_block block[BLOCKS];
	struct blockmap_seg seg = { new_base, new_off, TEXT };
	struct blockmap map = { .generation = 1,
				.original = digest_text(i, "original"), .orig_base = base,
				.gen_base = new_base, .hot_size = (uint32_t)TEXT, .nseg = 1,
				.nblock = BLOCKS, .seg = &seg,
				.block = block };
	struct store_generation *g = calloc(1, sizeof(*g));
	struct store_module m;
	struct wr w = { 0 };
	char path[96];

	assert_non_null(g);
	for (uint32_t k = 0; k < BLOCKS; k++)
		block[k] = (struct blockmap_block){ k * BLOCK, BLOCK, (BLOCKS - 1 - k) * BLOCK,
						    BLOCK, false };
	name_of(i, path);
	assert_int_equal(store_module_by_path(store, path, &m, NULL), 1);
	g->module = m.id;
	g->number = 1;
	g->digest = digest_text(i, "generation");
	g->original = map.original;
	g->state = STATE_INSTALLED;
	blockmap_write(&map, &w);
	assert_int_equal(store_generation_add(store, g, wr_bytes(&w),
					      &(struct store_profile){ 0 }, NULL),
			 0);
	wr_free(&w);
	free(g);
	write_file(i, "generation");
}

static void count_swapped(void *ctx, enum module_look look, const struct store_module *m)
{
	(void)m;
	*(unsigned *)ctx += look == MODULE_SWAPPED;
}

static void thousands_of_modules_are_told_apart(void **state)
{
	unsigned swapped = 0;
	char name[96];

	(void)state;
	/* Thousands of files and commits: in memory where that can be had. */
	(void)snprintf(dir, sizeof(dir), "%s/morph-many-XXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/var/tmp");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(name, sizeof(name), "%s/store", dir);
	for (unsigned i = 0; i < MODULES; i++)
		write_file(i, "original");
	store = store_open(name, NULL);
	assert_non_null(store);
	modules = modules_new(store, &services);
	struct ingest *g = ingest_new(store, modules, NULL);

	take_in(g, 0, "1.spool", "2,000 modules for the first time");
	take_in(g, 0, "2.spool", "a spool file of 2,000 known ones");
	check_store(2 * SAMPLES, 0);
	assert_int_equal(analyses, MODULES);

	uint64_t begun_ms = cpu_ms();
	for (unsigned i = 0; i < GENERATIONS; i++)
		make_generation(i);
	assert_int_equal(modules_look_all(modules, count_swapped, &swapped, NULL), 0);
	assert_int_equal(swapped, GENERATIONS);
	print_message("# 200 generations entered and found: %lu ms of CPU time\n",
		      (unsigned long)(cpu_ms() - begun_ms));
	begun_ms = cpu_ms();
	assert_int_equal(modules_look_all(modules, NULL, NULL, NULL), 0);
	print_message("# a look at all of them: %lu ms of CPU time\n",
		      (unsigned long)(cpu_ms() - begun_ms));
	take_in(g, GENERATIONS, "3.spool", "a spool file, 200 of them generations");
	check_store(3 * SAMPLES, GENERATIONS);
	assert_int_equal(analyses, MODULES);
#ifndef MORPH_SANITIZED
	print_message("# resident at most: %lu KiB\n", peak_kib());
	assert_true(peak_kib() < 64 * 1024);
#else
	(void)peak_kib;
#endif
	ingest_free(g);
	modules_free(modules);
	store_close(store);
	(void)snprintf(name, sizeof(name), "rm -rf '%s'", dir);
	assert_int_equal(system(name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_of_modules_are_told_apart),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
