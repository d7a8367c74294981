/* attribute.c - how many samples a second the Manager works off: spool file to store
 *
 * Spool files of 200,000 samples (about 1 MiB, where the Monitor begins the next one), as a busy
 * machine makes them: 200 processes, 20 mappings each, of 60 files; most samples in few blocks of
 * each file; every second file is a generation, with a block map; a fork, an exec and new mappings every
 * 2,000 samples.  Measured is the CPU time from
 * opening a file to the commit of its counts into profiles that have counts already.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/attribute.h"
#include "manager/store.h"
#include "monitor/spool.h"

enum { SAMPLES = 200000, PROCESSES = 200, MAPS = 20, FILES = 60, BLOCKS = 60000, ROUNDS = 21,
       WARM = 20 };

static const uint64_t base = 0x550000000000, step = 0x10000000;

static void check(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	(void)fprintf(stderr, "%s\n", err->text);	/* exits anyway */
	exit(1);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void write_maps(struct spool_writer *w, uint32_t pid, uint64_t now_ns, struct err *err)
{
	char path[64];

	for (unsigned i = 0; i < MAPS; i++) {
		unsigned file = (pid * 7 + i * 3) % FILES;
		struct spool_event ev = { .kind = SPOOL_MMAP, .time_ns = now_ns, .pid = pid,
					  .tid = pid };

		(void)snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/lib%u.so", file);
		ev.mmap.addr = base + i * step;
		ev.mmap.len = BLOCKS * 20;
		ev.mmap.pgoff = 0x1000;
		ev.mmap.dev_major = 254;
		ev.mmap.inode = 1000 + file;
		ev.mmap.path = path;
		check(spool_write(w, &ev, err), err);
	}
}

/* Most samples in few blocks. */
static uint64_t place(uint64_t *x)
{
	uint64_t r = next_random(x);
	uint64_t range = (uint64_t)BLOCKS * 20 >> r % 12;

	return (r >> 8) % (range ? range : 1);
}

static uint64_t make_spool(int fd, struct err *err)
{
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, err);
	uint64_t x = 88172645463325252u, now_ns = 1000000000;

	check(w ? 0 : -1, err);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		write_maps(w, pid, now_ns, err);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t pid = 1 + (uint32_t)(next_random(&x) % PROCESSES);
		struct spool_event ev = { .kind = SPOOL_SAMPLE, .time_ns = now_ns, .pid = pid,
					  .tid = pid };

		now_ns += 2000000;
		if (i % 2000 == 0) {
			struct spool_event fork = { .kind = SPOOL_FORK, .time_ns = now_ns,
						    .pid = pid, .tid = pid };
			struct spool_event exec = { .kind = SPOOL_EXEC, .time_ns = now_ns,
						    .pid = pid, .tid = pid, .exec = { "x" } };

			fork.fork.parent_pid = 1 + pid % PROCESSES;
			check(spool_write(w, &fork, err), err);
			check(spool_write(w, &exec, err), err);
			write_maps(w, pid, now_ns, err);
		}
		ev.sample.pc = base + next_random(&x) % MAPS * step + place(&x);
		check(spool_write(w, &ev, err), err);
	}
	check(spool_flush(w, true, err), err);
	spool_writer_free(w);

	struct stat st;
	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static struct blocktable table;
static struct blockmap map;

static int resolve(void *ctx, const struct space_file *file, struct attribute_target *out,
		   struct err *err)
{
	(void)ctx;
	(void)err;
	*out = (struct attribute_target){ file->inode - 999, &table,
					  file->inode % 2 ? &map : NULL, file->inode % 2 };
	return 1;
}

static void make_table(void)
{
	static struct blockmap_seg seg = { 0x1000, 0x1000, BLOCKS * 20 };
	static struct blocktable_fn fn = { 0x1000, BLOCKS * 20, 0 };
	static struct blocktable_block block[BLOCKS];

	for (uint32_t i = 0; i < BLOCKS; i++)
		block[i] = (struct blocktable_block){ i * 20, 20, 5, 0 };
	table = (struct blocktable){ .base = 0x1000, .text_size = BLOCKS * 20, .nseg = 1, .nfn = 1,
				     .nblock = BLOCKS, .seg = &seg, .fn = &fn, .block = block };
}

/* All of the text is new, in an order of its own. */
static void make_map(void)
{
	static struct blockmap_seg seg = { 0x1000, 0x1000, BLOCKS * 20 };
	static struct blockmap_block block[BLOCKS];

	for (uint32_t i = 0; i < BLOCKS; i++)
		block[i] = (struct blockmap_block){ .gen = i * 20, .gen_size = 20,
			.orig = (uint32_t)((uint64_t)i * 7919 % BLOCKS) * 20, .orig_size = 20 };
	map = (struct blockmap){ .generation = 1, .orig_base = 0x1000, .gen_base = 0x1000,
				 .hot_size = BLOCKS * 20, .nseg = 1, .nblock = BLOCKS, .seg = &seg,
				 .block = block };
}

static double cpu_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);	/* cannot fail with this clock */
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Seconds of CPU for one reading of the spool. */
static double work_off(int fd, struct store *s, int round, struct err *err)
{
	const struct attribute_resolver resolver = { .resolve = resolve };
	struct attribution result = { 0 };
	struct wr saved = { 0 };
	char name[16];
	const struct store_fading fading = { .span_s = 60, .half_life_s = 7 * 86400 };
	double begin = cpu_s();

	struct spool_reader *r = spool_reader_open(fd, err);
	check(r ? 0 : -1, err);
	struct spaces *spaces = spaces_new(NULL);
	struct attribute *a = attribute_new(spaces);
	attribute_spool(a, r);
	check(attribute_resolve(a, &resolver, &result, err), err);
	spaces_save(spaces, &saved);
	(void)snprintf(name, sizeof(name), "%d", round);
	check(store_add_attribution(s, name, &result, wr_bytes(&saved), &fading, err), err);
	double used = cpu_s() - begin;

	uint64_t seen = 0;
	for (int i = 0; i < NCOUNTER; i++)
		seen += result.counter[i];
	if (seen != SAMPLES || result.counter[COUNTER_KNOWN] != SAMPLES) {
		(void)fprintf(stderr, "%llu of %d samples\n", (unsigned long long)seen, SAMPLES);
		exit(1);
	}
	wr_free(&saved);
	attribution_free(&result);
	attribute_free(a);
	spaces_free(spaces);
	spool_reader_free(r);
	return used;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	double used[ROUNDS];
	int fd = memfd_create("spool", MFD_CLOEXEC);

	if (argc != 2 || fd < 0) {
		(void)fprintf(stderr, "usage: attribute EMPTY_STORE_DIRECTORY\n");
		return 2;
	}
	make_table();
	make_map();
	uint64_t bytes = make_spool(fd, &err);
	struct store *s = store_open(argv[1], &err);
	check(s ? 0 : -1, &err);
	for (unsigned i = 0; i < FILES; i++) {
		struct store_module m = { .text_bytes = BLOCKS * 20 };

		(void)snprintf(m.path, sizeof(m.path), "/lib%u", i);
		check(store_module_put(s, &m, &err), &err);
	}
	for (int i = 0; i < WARM; i++)
		(void)work_off(fd, s, i, &err);		/* fills the profiles; not measured */
	for (int i = 0; i < ROUNDS; i++)
		used[i] = work_off(fd, s, WARM + i, &err);
	store_close(s);
	qsort(used, ROUNDS, sizeof(used[0]), by_value);
	printf("samples %d\nspool_bytes_per_sample %.2f\nsamples_per_cpu_second_best %.0f\n"
	       "samples_per_cpu_second_median %.0f\nsamples_per_cpu_second_worst %.0f\n",
	       SAMPLES, (double)bytes / SAMPLES, SAMPLES / used[0], SAMPLES / used[ROUNDS / 2],
	       SAMPLES / used[ROUNDS - 1]);
	return 0;
}
