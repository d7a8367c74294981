/* attribute.c - how many samples a second the Manager works off: spool file to store
 *
 * What is measured is ingest_spool_file(), all that the Manager does for a file: reading it,
 * finding the mapping of each sample, looking at each module's file, its block table and block
 * map from the store, counting, and the commit into profiles that have counts already.  Files,
 * store and spool are real; only what `morph-edit analyze` would say of the modules is told,
 * and once.
 *
 * 60 modules of 2,000 to 256,000 blocks; every second one is a generation whose text is all
 * new, in an order of its own.  A spool file has 200,000 samples (about 1 MiB, where the
 * Monitor begins the next one), in one of two loads:
 *
 *   used    as on a machine that compiles, tests and packs: two CPUs take turns; a process that
 *           was sampled is the next one on its CPU, too, four times of five; a few processes
 *           have most samples, and a few of their mappings; of a file's places, the k-th has
 *           1/k of the samples of the first; a process is begun for every 200 samples. (Of
 *           82,000 samples of such a machine 79 of 100 were of the process before, and there
 *           were 28 places for 100.)
 *   spread  each sample is of another one of 200 processes, in any of 20 mappings, and places
 *           hardly ever come twice: the worst for every cache
 *
 * What the load is like is printed with the rate, so that it can be compared with a real one.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "manager/store/ingest.h"
#include "monitor/spool.h"

enum { SAMPLES = 200000, PROCESSES = 200, FILES = 60, BLOCK = 20, BLOCKS_MAX = 2000 << 7,
       CPUS = 2, ROUNDS = 15, WARM = 10, USED_EXEC = 200, USED_MAPS = 8, SPREAD_EXEC = 2000,
       SPREAD_MAPS = 20 };

static const uint64_t base = 0x550000000000, step = 0x10000000, text = 0x401000,
		      text_off = 0x1000, new_text = 0x8000000, new_off = 0x7000000;

static const char *dir;
static struct stat file_stat[FILES];

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

/* --- modules --- */

static uint32_t blocks_of(unsigned file)
{
	return 2000u << file % 8;
}

static void name_of(unsigned file, char out[128])
{
	(void)snprintf(out, 128, "%s/lib%u.so", dir, file);
}

/* What the file is to its digest: the kind, and which one. */
static void write_file(unsigned file, const char *kind)
{
	char path[128], other[136];

	name_of(file, path);
	(void)snprintf(other, sizeof(other), "%s.new", path);
	FILE *f = fopen(other, "we");
	if (!f || fprintf(f, "%s %u", kind, file) < 0 || fclose(f) != 0 ||
	    rename(other, path) < 0 || stat(path, &file_stat[file]) < 0) {
		perror(path);
		exit(1);
	}
}

static int open_path(void *ctx, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	(void)ctx;
	return fd >= 0 ? fd : err_set(err, ERR_SYS, "'%s': open failed", path);
}

static bool allows(void *ctx, const char *path)
{
	(void)ctx;
	return strncmp(path, dir, strlen(dir)) == 0;
}

static int analyze(void *ctx, const char *path, int fd, struct wr *table, struct err *err)
{
	static struct blocktable_block block[BLOCKS_MAX];
	char kind[32];
	unsigned file;
	ssize_t n = pread(fd, kind, sizeof(kind) - 1, 0);

	(void)ctx;
	kind[n > 0 ? n : 0] = '\0';
	if (sscanf(kind, "original %u", &file) != 1)
		return err_set(err, ERR_INPUT, "'%s': not made here", path);
	uint32_t nblock = blocks_of(file);
	struct blockmap_seg seg = { text, text_off, nblock * (uint64_t)BLOCK };
	struct blocktable_fn fn = { text, nblock * BLOCK, 0 };
	struct blocktable t = { .base = text, .text_size = seg.size, .nseg = 1, .nfn = 1,
				.nblock = nblock, .seg = &seg, .fn = &fn, .block = block };
	for (uint32_t i = 0; i < nblock; i++)
		block[i] = (struct blocktable_block){ i * BLOCK, BLOCK, 5, 0 };
	check(digest_fd(fd, &t.original, err), err);
	blocktable_write(&t, table);
	return 0;
}

static struct digest digest_of_kind(unsigned file, const char *kind)
{
	char what[32];

	(void)snprintf(what, sizeof(what), "%s %u", kind, file);
	return digest_of((struct bytes){ (const uint8_t *)what, strlen(what) });
}

static void make_generation(struct store *s, unsigned file, struct err *err)
{
	static struct blockmap_block block[BLOCKS_MAX];
	uint32_t nblock = blocks_of(file);
	struct blockmap_seg seg = { new_text, new_off, nblock * (uint64_t)BLOCK };
	struct blockmap map = { .generation = 1,
				.original = digest_of_kind(file, "original"), .orig_base = text,
				.gen_base = new_text, .hot_size = nblock * BLOCK, .nseg = 1,
				.nblock = nblock, .seg = &seg,
				.block = block };
	struct store_generation *g = calloc(1, sizeof(*g));
	struct store_module m;
	struct wr w = { 0 };
	char path[128];

	for (uint32_t i = 0; i < nblock; i++)
		block[i] = (struct blockmap_block){
			.gen = i * BLOCK, .gen_size = BLOCK,
			.orig = (uint32_t)((uint64_t)i * 7919 % nblock) * BLOCK,
			.orig_size = BLOCK
		};
	name_of(file, path);
	check(g && store_module_by_path(s, path, &m, err) == 1 ? 0 : -1, err);
	g->module = m.id;
	g->number = 1;
	g->digest = digest_of_kind(file, "generation");
	g->original = map.original;
	g->state = STATE_INSTALLED;
	blockmap_write(&map, &w);
	check(store_generation_add(s, g, wr_bytes(&w), &(struct store_profile){ 0 }, err), err);
	wr_free(&w);
	free(g);
	write_file(file, "generation");
}

static void make_modules(struct store *s, struct modules *ms, struct err *err)
{
	for (unsigned i = 0; i < FILES; i++) {
		enum module_look look;
		struct store_module m;
		char path[128];

		write_file(i, "original");
		name_of(i, path);
		check(modules_look(ms, path, &look, &m, err), err);
		check(modules_analyze(ms, &m, err), err);
		if (i % 2)
			make_generation(s, i, err);
	}
}

/* --- spool --- */

struct load {
	const char *name;
	bool used;
	unsigned maps, exec;
	uint64_t x;			/* of next_random() */
	uint32_t pid_on[CPUS];
	uint64_t same, distinct;	/* samples of their CPU's last process; places */
	uint8_t *seen;			/* a bit for each place of each file */
};

/* The i-th of the files that a process has mapped. */
static unsigned file_of(uint32_t pid, unsigned i)
{
	return (pid * 7 + i * 3) % FILES;
}

static void write_maps(struct spool_writer *w, const struct load *l, uint32_t pid,
		       uint64_t now_ns, struct err *err)
{
	char path[128];

	for (unsigned i = 0; i < l->maps; i++) {
		unsigned file = file_of(pid, i);
		const struct stat *st = &file_stat[file];
		struct spool_event ev = { .kind = SPOOL_MMAP, .time_ns = now_ns, .pid = pid,
					  .tid = pid };

		name_of(file, path);
		ev.mmap.addr = base + i * step;
		ev.mmap.len = blocks_of(file) * (uint64_t)BLOCK;
		ev.mmap.pgoff = file % 2 ? new_off : text_off;
		ev.mmap.dev_major = major(st->st_dev);
		ev.mmap.dev_minor = minor(st->st_dev);
		ev.mmap.inode = st->st_ino;
		ev.mmap.path = path;
		check(spool_write(w, &ev, err), err);
	}
}

static void begin_process(struct spool_writer *w, const struct load *l, uint32_t pid,
			  uint64_t now_ns, struct err *err)
{
	struct spool_event fork = {
		.kind = SPOOL_FORK, .time_ns = now_ns, .pid = pid, .tid = pid
	};
	struct spool_event exec = {
		.kind = SPOOL_EXEC, .time_ns = now_ns, .pid = pid, .tid = pid, .exec = { "x" }
	};

	fork.fork.parent_pid = 1 + pid % PROCESSES;
	check(spool_write(w, &fork, err), err);
	check(spool_write(w, &exec, err), err);
	write_maps(w, l, pid, now_ns, err);
}

static double uniform(uint64_t *x)
{
	return (double)(next_random(x) >> 11) / (double)(UINT64_C(1) << 53);
}

static uint32_t pick_pid(struct load *l, uint32_t sample)
{
	uint32_t *pid = &l->pid_on[sample % CPUS];
	uint64_t r = next_random(&l->x);

	if (l->used && *pid && r % 5) {
		l->same++;
		return *pid;
	}
	double u = uniform(&l->x);
	*pid = 1 + (uint32_t)(PROCESSES * (l->used ? u * u * u : u));
	return *pid;
}

/* Bytes from the beginning of the file's text. */
static uint64_t pick_place(struct load *l, unsigned file)
{
	uint64_t size = blocks_of(file) * (uint64_t)BLOCK, r = next_random(&l->x);

	if (l->used) {			/* each rank has its place */
		uint64_t rank = (uint64_t)exp(uniform(&l->x) * log((double)size / 200));

		return rank * UINT64_C(0x9e3779b97f4a7c15) % size;
	}
	uint64_t range = size >> r % 12;
	return (r >> 8) % range;
}

static void note_place(struct load *l, unsigned file, uint64_t at)
{
	uint64_t bit = (uint64_t)file * BLOCKS_MAX * BLOCK + at;

	l->distinct += !(l->seen[bit / 8] >> bit % 8 & 1);
	l->seen[bit / 8] |= (uint8_t)(1 << bit % 8);
}

static void write_sample(struct spool_writer *w, struct load *l, uint32_t pid, uint64_t now_ns,
			 struct err *err)
{
	struct spool_event ev = {
		.kind = SPOOL_SAMPLE, .time_ns = now_ns, .pid = pid, .tid = pid
	};
	uint64_t r = next_random(&l->x);
	unsigned map = l->used ? (unsigned)__builtin_ctzll(r | 1u << (l->maps - 1))
			       : (unsigned)(r % l->maps);
	uint64_t at = pick_place(l, file_of(pid, map));

	note_place(l, file_of(pid, map), at);
	ev.sample.pc = base + map * step + at;
	check(spool_write(w, &ev, err), err);
}

static int make_spool(struct load *l, uint64_t *bytes, struct err *err)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, err);
	uint64_t now_ns = 1000000000;
	struct stat st;

	l->seen = calloc(FILES * (size_t)BLOCKS_MAX * BLOCK / 8 + 1, 1);
	check(w && l->seen ? 0 : -1, err);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		write_maps(w, l, pid, now_ns, err);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t pid = pick_pid(l, i);

		now_ns += 2000000;
		if (i % l->exec == 0)
			begin_process(w, l, pid, now_ns, err);
		write_sample(w, l, pid, now_ns, err);
	}
	check(spool_flush(w, true, err), err);
	spool_writer_free(w);
	free(l->seen);
	*bytes = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	return fd;
}

/* --- measuring --- */

static double cpu_s(void)
{
	struct timespec ts;

	/* cannot fail with this clock */
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Seconds of CPU for one reading of the spool. */
static double work_off(struct ingest *g, int fd, int round, struct err *err)
{
	struct attribution sum = { 0 };
	uint64_t seen = 0;
	char name[16];

	(void)snprintf(name, sizeof(name), "%d.spool", round);
	double begin = cpu_s();
	check(ingest_spool_file(g, fd, name, &sum, err), err);
	double used = cpu_s() - begin;
	for (int i = 0; i < NCOUNTER; i++)
		seen += sum.counter[i];
	if (seen != SAMPLES || sum.counter[COUNTER_KNOWN] != SAMPLES) {
		(void)fprintf(stderr, "%llu of %d samples\n",
			      (unsigned long long)sum.counter[COUNTER_KNOWN], SAMPLES);
		exit(1);
	}
	attribution_free(&sum);
	return used;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct ingest *g, struct load *l, int warm, int rounds, struct err *err)
{
	double used[ROUNDS];
	uint64_t bytes;
	int fd = make_spool(l, &bytes, err);

	for (int i = 0; i < warm; i++)
		(void)work_off(g, fd, i, err);		/* fills the profiles; not measured */
	for (int i = 0; i < rounds; i++)
		used[i] = work_off(g, fd, warm + i, err);
	qsort(used, (size_t)rounds, sizeof(used[0]), by_value);
	printf("| %s | %.2f | %.2f | %.1f | %.0f | %.0f | %.0f |\n", l->name,
	       (double)l->same / SAMPLES, (double)l->distinct / SAMPLES,
	       (double)bytes / SAMPLES, SAMPLES / used[0], SAMPLES / used[rounds / 2],
	       SAMPLES / used[rounds - 1]);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct module_services services = { .open = open_path, .analyze = analyze,
						  .allows = allows };
	struct load load[] = {
		{ .name = "used", .used = true, .maps = USED_MAPS, .exec = USED_EXEC,
		  .x = 88172645463325252u },
		{ .name = "spread", .maps = SPREAD_MAPS, .exec = SPREAD_EXEC,
		  .x = 88172645463325252u },
	};
	struct err err = { 0 };
	int warm = WARM, rounds = ROUNDS;
	char name[128];

	if (argc != 2 && argc != 5) {
		(void)fprintf(stderr, "usage: attribute EMPTY_DIRECTORY [WARM ROUNDS LOAD]\n");
		return 2;
	}
	if (argc == 5) {
		warm = atoi(argv[2]);
		rounds = atoi(argv[3]);
	}
	if (rounds < 1 || rounds > ROUNDS)
		return 2;
	dir = argv[1];
	(void)snprintf(name, sizeof(name), "%s/store", dir);
	struct store *s = store_open(name, &err);
	check(s ? 0 : -1, &err);
	struct modules *ms = modules_new(s, &services);
	make_modules(s, ms, &err);
	for (unsigned i = 0; i < sizeof(load) / sizeof(load[0]); i++) {
		if (argc == 5 && strcmp(argv[4], load[i].name) != 0)
			continue;
		struct ingest *g = ingest_new(s, ms, &err);
		check(g ? 0 : -1, &err);
		measure(g, &load[i], warm, rounds, &err);
		ingest_free(g);
	}
	modules_free(ms);
	store_close(s);
	return 0;
}
