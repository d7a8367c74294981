/* test_spool.c - what was written comes back, whatever happened to the file */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/wr.h"
#include "monitor/spool_format.h"
#include "tests/unit/descriptors.h"

enum { UNIT = 1 << SPOOL_TIME_SHIFT };

static int memory_file(const void *p, size_t n)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, p, n, 0), (ssize_t)n);
	return fd;
}

static struct spool_event sample(uint64_t i)
{
	return (struct spool_event){ .kind = SPOOL_SAMPLE,
				     .time_ns = (1000 + i * 61) * UNIT,
				     .pid = (uint32_t)(100 + i % 70),
				     .tid = (uint32_t)(100 + i % 70 + i % 2),
				     .sample = { .pc = 0x400000 + i * 77 % 50000,
						 .kernel = i % 5 == 0 } };
}

static void assert_same(const struct spool_event *a, const struct spool_event *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	if (a->kind == SPOOL_SAMPLE) {
		assert_int_equal(a->sample.pc, b->sample.pc);
		assert_int_equal(a->sample.kernel, b->sample.kernel);
	}
}

/* A file of n samples; its bytes in *out. */
static void make_file(uint64_t n, struct wr *out)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct err err;
	struct stat st;
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 4000000, &err);

	assert_non_null(w);
	for (uint64_t i = 0; i < n; i++) {
		struct spool_event ev = sample(i);

		assert_int_equal(spool_write(w, &ev, &err), 0);
	}
	assert_int_equal(spool_flush(w, true, &err), 0);
	spool_writer_free(w);
	assert_int_equal(fstat(fd, &st), 0);
	(void)wr_reserve(out, (size_t)st.st_size);
	assert_int_equal(pread(fd, out->p, out->n, 0), st.st_size);
	close(fd);
}

/* Reads all of it.  Every event must be one of sample(), ascending; returns how many there
 * were. */
static uint64_t read_samples(const void *p, size_t n, uint64_t *bad)
{
	int fd = memory_file(p, n);
	struct err err;
	struct spool_reader *r = spool_reader_open(fd, &err);
	struct spool_event ev;
	uint64_t count = 0, last = 0;

	if (!r) {
		close(fd);
		*bad = UINT64_MAX;
		return 0;
	}
	while (spool_read(r, &ev)) {
		uint64_t i = (ev.time_ns / UNIT - 1000) / 61;
		struct spool_event want = sample(i);

		assert_same(&ev, &want);
		assert_true(count == 0 || i > last);
		last = i;
		count++;
	}
	*bad = spool_reader_bad_blocks(r);
	spool_reader_free(r);
	close(fd);
	return count;
}

static void samples_come_back(void **state)
{
	struct wr f = { 0 };
	uint64_t bad;

	(void)state;
	make_file(20000, &f);
	assert_int_equal(read_samples(f.p, f.n, &bad), 20000);
	assert_int_equal(bad, 0);
	wr_free(&f);
}

static void every_kind_comes_back(void **state)
{
	static const struct spool_event in[] = {
		{ SPOOL_FORK, 5 * UNIT, 7, 7, .fork = { 6 } },
		{ SPOOL_EXEC, 6 * UNIT, 7, 7, .exec = { "fifteen chars.." } },
		{ SPOOL_MMAP, 7 * UNIT, 7, 8,
		  .mmap = { 0x7fff12345000, 0x3000, 0x1000, 254, 3, 12345, 99,
			    "/usr/lib/a\nb (deleted)" } },
		{ SPOOL_MMAP, 7 * UNIT, 9, 9,
		  .mmap = { 0x1234567, 0x89, 3, 254, 3, 12345, 99,
			    "/usr/lib/a\nb (deleted)" } },
		{ SPOOL_MMAP, 7 * UNIT, 9, 9,
		  .mmap = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX,
			    UINT64_MAX, UINT64_MAX, "" } },
		{ SPOOL_SAMPLE, 7 * UNIT, UINT32_MAX, 0,
		  .sample = { .pc = UINT64_MAX, .kernel = true } },
		{ SPOOL_SAMPLE, 7 * UNIT, 0, UINT32_MAX, .sample = { .pc = 0 } },
		{ SPOOL_LOST, 8 * UNIT, 0, 0, .lost = UINT64_MAX },
		{ SPOOL_THROTTLE, 9 * UNIT, 0, 0, .lost = 1 },
		{ SPOOL_GAP, 9 * UNIT, 0, 0, .lost = 12 },
		{ SPOOL_KILLED, 9 * UNIT, 7, 8, .signal = 11 },
		{ SPOOL_CRASH, 9 * UNIT, 7, 8, .crash = { UINT64_MAX, 11, UINT32_MAX } },
		{ SPOOL_EXIT, (UINT64_MAX >> SPOOL_TIME_SHIFT) * UNIT, 7, 7, .lost = 0 },
	};
	enum { N = sizeof(in) / sizeof(in[0]) };
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "cpu-clock", 1009, NULL);
	struct spool_event ev;

	(void)state;
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(spool_write(w, &in[i], NULL), 0);
	assert_int_equal(spool_flush(w, true, NULL), 0);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	assert_string_equal(spool_reader_clock(r), "cpu-clock");
	assert_int_equal(spool_reader_period_ns(r), 1009);
	assert_true(spool_reader_start_ns(r) > 0 && spool_reader_start_wall_ns(r) > 0);
	for (unsigned i = 0; i < N; i++) {
		assert_int_equal(spool_read(r, &ev), 1);
		assert_same(&ev, &in[i]);
		if (ev.kind == SPOOL_MMAP) {
			assert_string_equal(ev.mmap.path, in[i].mmap.path);
			ev.mmap.path = in[i].mmap.path;
			assert_memory_equal(&ev.mmap, &in[i].mmap, sizeof(ev.mmap));
		} else if (ev.kind == SPOOL_EXEC) {
			assert_string_equal(ev.exec.comm, in[i].exec.comm);
		} else if (ev.kind == SPOOL_FORK) {
			assert_int_equal(ev.fork.parent_pid, in[i].fork.parent_pid);
		} else if (ev.kind == SPOOL_KILLED) {
			assert_int_equal(ev.signal, in[i].signal);
		} else if (ev.kind == SPOOL_CRASH) {
			assert_memory_equal(&ev.crash, &in[i].crash, sizeof(ev.crash));
		} else if (ev.kind != SPOOL_SAMPLE && ev.kind != SPOOL_EXIT) {
			assert_int_equal(ev.lost, in[i].lost);
		}
	}
	assert_int_equal(spool_read(r, &ev), 0);
	assert_int_equal(spool_reader_bad_blocks(r), 0);
	spool_reader_free(r);
	spool_writer_free(w);
	close(fd);
}

/* Longest paths, more of them than a block remembers, and more tasks than it has slots for. */
static void tables_of_a_block_may_overflow(void **state)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 1, NULL);
	char path[SPOOL_PATH_MAX + 10], want[SPOOL_PATH_MAX + 10];
	struct spool_event ev;

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		(void)snprintf(path, sizeof(path), "/%u/%0*u", i % 400,
			       i % 50 ? 4 : SPOOL_PATH_MAX, 0);
		ev = (struct spool_event){ SPOOL_MMAP, i, i, i, .mmap = { .inode = i % 400,
					   .path = path } };
		assert_int_equal(spool_write(w, &ev, NULL), 0);
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	for (unsigned i = 0; i < 2000; i++) {
		(void)snprintf(want, sizeof(want), "/%u/%0*u", i % 400,
			       i % 50 ? 4 : SPOOL_PATH_MAX, 0);
		want[SPOOL_PATH_MAX] = '\0';
		assert_int_equal(spool_read(r, &ev), 1);
		assert_int_equal(ev.pid, i);
		assert_string_equal(ev.mmap.path, want);
	}
	assert_int_equal(spool_read(r, &ev), 0);
	spool_reader_free(r);
	spool_writer_free(w);
	close(fd);
}

/* The i-th of a long row: every register may move far, or not at all. */
static struct spool_event state_sample(uint64_t i, uint8_t *stack)
{
	static uint8_t memory[STATEMEMORY_MAX];
	struct spool_event ev = sample(i);

	ev.sample.kernel = i % 4 == 1;		/* as in logs of stacks */
	ev.sample.has_state = i % 3 != 0;
	ev.sample.state.rflags = 0x202 ^ i % 64;
	for (unsigned r = 0; r < SPOOL_NGPR; r++)
		ev.sample.state.gpr[r] = (i >> r) * UINT64_C(0x9e3779b97f4a7c15);
	ev.sample.state.stack_bytes = i % 50 == 1 ? SPOOL_STACK_MAX : (uint32_t)(i % 5 * 8);
	for (uint32_t k = 0; k < ev.sample.state.stack_bytes; k++)
		stack[k] = (uint8_t)(i + k);
	ev.sample.state.stack = stack;
	ev.sample.state.memory_bytes = i % 7 == 1 ? STATEMEMORY_MAX : (uint32_t)(i % 3 * 100);
	for (uint32_t k = 0; k < ev.sample.state.memory_bytes; k++)
		memory[k] = (uint8_t)(3 * i + k);
	ev.sample.state.memory = memory;
	return ev;
}

static void states_come_back_beside_samples_without(void **state)
{
	enum { N = 3000 };
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 1, NULL);
	static uint8_t stack[SPOOL_STACK_MAX];
	struct spool_event ev, want;
	struct spool_counts counts;

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		ev = state_sample(i, stack);
		assert_int_equal(spool_write(w, &ev, NULL), 0);
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_counts(w, &counts);
	assert_int_equal(counts.samples, N);
	assert_int_equal(counts.states, N - N / 3);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	for (uint64_t i = 0; i < N; i++) {
		want = state_sample(i, stack);
		assert_int_equal(spool_read(r, &ev), 1);
		assert_same(&ev, &want);
		assert_int_equal(ev.sample.has_state, want.sample.has_state);
		if (!ev.sample.has_state)
			continue;
		const struct spool_state *a = &ev.sample.state, *b = &want.sample.state;
		assert_int_equal(a->rflags, b->rflags);
		assert_memory_equal(a->gpr, b->gpr, sizeof(a->gpr));
		assert_int_equal(a->stack_bytes, b->stack_bytes);
		assert_memory_equal(a->stack, b->stack, b->stack_bytes);
		assert_int_equal(a->memory_bytes, b->memory_bytes);
		assert_memory_equal(a->memory, b->memory, b->memory_bytes);
	}
	assert_int_equal(spool_read(r, &ev), 0);
	assert_int_equal(spool_reader_bad_blocks(r), 0);
	spool_reader_free(r);
	spool_writer_free(w);
	close(fd);
}

static void an_earlier_time_is_taken_as_the_last(void **state)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct spool_writer *w = spool_writer_new_file(fd, "tick", 1, NULL);
	struct spool_event a = sample(10), b = sample(9), ev;

	(void)state;
	assert_int_equal(spool_write(w, &a, NULL), 0);
	assert_int_equal(spool_write(w, &b, NULL), 0);
	assert_int_equal(spool_flush(w, false, NULL), 0);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	assert_int_equal(spool_read(r, &ev), 1);
	assert_int_equal(spool_read(r, &ev), 1);
	assert_int_equal(ev.time_ns, a.time_ns);
	assert_int_equal(ev.sample.pc, b.sample.pc);
	spool_reader_free(r);
	spool_writer_free(w);
	close(fd);
}

/* Where the blocks of a good file begin, and how many samples are before each. */
struct layout {
	size_t at[64];
	uint64_t before[65];
	unsigned n;
};

static void find_blocks(const struct wr *f, struct layout *out)
{
	uint64_t bad;

	out->n = 0;
	for (size_t at = SPOOL_GRID; at < f->n; at += SPOOL_GRID) {
		uint32_t magic;

		memcpy(&magic, f->p + at, sizeof(magic));
		if (magic != SPOOL_BLOCK_MAGIC)
			continue;
		assert_true(out->n < 64);
		out->at[out->n] = at;
		out->before[out->n++] = read_samples(f->p, at, &bad);
	}
	out->before[out->n] = read_samples(f->p, f->n, &bad);
}

/* Is byte `at` of a header, or close to where a block begins or ends?  There every place is
 * tried, of what is alike some. */
static bool is_telling(const struct wr *f, const struct layout *l, size_t at)
{
	enum { CLOSE = 4 * SPOOL_BLOCK_HEADER };	/* more than a step */

	if (at < 2 * SPOOL_GRID || f->n - at <= CLOSE)
		return true;
	for (unsigned i = 0; i < l->n; i++) {
		uint32_t size;

		memcpy(&size, f->p + l->at[i] + 4, sizeof(size));
		size_t end = l->at[i] + SPOOL_BLOCK_HEADER + size;
		if (at + CLOSE - l->at[i] <= 2 * CLOSE || at + CLOSE - end <= 2 * CLOSE)
			return true;
	}
	return false;
}

static void a_cut_costs_the_block_it_is_in(void **state)
{
	struct wr f = { 0 };
	struct layout l;
	uint64_t bad;

	(void)state;
	make_file(7000, &f);
	find_blocks(&f, &l);
	assert_true(l.n >= 3);
	for (size_t n = 0; n < f.n; n += is_telling(&f, &l, n + 1) ? 1 : 29) {
		uint64_t got = read_samples(f.p, n, &bad);
		unsigned whole = 0;

		if (n < SPOOL_HEADER_BYTES) {
			assert_int_equal(bad, UINT64_MAX);	/* refused */
			continue;
		}
		while (whole < l.n) {
			uint32_t size;

			memcpy(&size, f.p + l.at[whole] + 4, sizeof(size));
			if (l.at[whole] + SPOOL_BLOCK_HEADER + size > n)
				break;
			whole++;
		}
		assert_int_equal(got, l.before[whole]);
		bool in_block = whole < l.n && n > l.at[whole], in_header = n < SPOOL_GRID;
		assert_int_equal(bad, in_block || in_header);
	}
	wr_free(&f);
}

static void a_flipped_bit_costs_the_block_it_is_in(void **state)
{
	struct wr f = { 0 };
	struct layout l;
	uint64_t bad;

	(void)state;
	make_file(7000, &f);
	find_blocks(&f, &l);
	for (size_t bit = 0; bit < f.n * 8; bit += is_telling(&f, &l, bit / 8) ? 1 : 231) {
		unsigned b = l.n;

		f.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		uint64_t got = read_samples(f.p, f.n, &bad);
		for (unsigned i = 0; i < l.n; i++)
			if (bit / 8 >= l.at[i])
				b = i;
		if (b == l.n || bad == 0) {	/* header, or padding between blocks */
			assert_int_equal(got, l.before[l.n]);
			assert_true(bad <= 1);
		} else {
			assert_int_equal(bad, 1);
			assert_int_equal(got, l.before[l.n] - (l.before[b + 1] - l.before[b]));
		}
		f.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	wr_free(&f);
}

static void both_headers_gone_or_a_newer_version_is_refused(void **state)
{
	struct wr f = { 0 };
	struct err err;

	(void)state;
	make_file(10, &f);
	f.p[8] = f.p[SPOOL_HEADER_COPY + 8] = SPOOL_VERSION + 1;
	int fd = memory_file(f.p, f.n);
	assert_null(spool_reader_open(fd, &err));
	assert_non_null(strstr(err.text, "version 8"));
	close(fd);
	f.p[0] = 'X';
	f.p[SPOOL_HEADER_COPY + 20] ^= 1;
	fd = memory_file(f.p, f.n);
	assert_null(spool_reader_open(fd, &err));
	assert_non_null(strstr(err.text, "not a log of samples"));
	close(fd);
	wr_free(&f);
}

/* A block whose CRC is right and whose content is a lie. */
static void a_lying_block_is_bad_and_the_next_one_good(void **state)
{
	static const struct {
		uint8_t b[16];
		size_t n;
	} lie[] = {
		{ { 0, 0x05, 0, 0 }, 4 },	  /* a task slot never filled */
		{ { 0, 0x3f, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0 },
		  10 },	/* pid over 32 bits */
		{ { 0, 0x80, 0, 1, 0 }, 5 },	/* kind 0 */
		{ { 0, 0x8a, 0, 1, 0, 0 }, 6 },	/* kind 10 */
		{ { 0, 0x8f, 0, 1, 0, 0 }, 6 },	/* state of a task never filled in */
		{ { 0, 0x8f, 0x85, 0, 1, 0 }, 6 },	/* state of no sample */
		{ { 0, 0x8f, 0x5f, 1, 0, 0, 5, 0 }, 16 }, /* state cut short */
		{ { 0, 0x83, 0, 1, 0, 7 }, 6 },	/* file number never given */
		{ { 0, 0x83, 0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0x7f }, 12 }, /* path too long */
		{ { 0, 0x82, 0, 1, 0, 16, 'a', 'b' }, 8 },	/* name too long */
		{ { 0, 0x82, 0, 1, 0, 2, 'a', 0 }, 8 },	/* NUL in a name */
		{ { 0, 0x85, 0, 1 }, 4 },	  /* ends too early */
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x85, 1, 1, 0 },
		  14 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		struct wr f = { 0 };
		struct bytes payload = { lie[i].b, lie[i].n };
		uint64_t bad;
		uint32_t size = (uint32_t)lie[i].n;

		make_file(10, &f);
		struct wr g = { 0 };
		wr_raw(&g, f.p, SPOOL_GRID);
		wr_u32(&g, SPOOL_BLOCK_MAGIC);
		wr_u32(&g, size);
		wr_u32(&g, spool_crc((struct bytes){ (const uint8_t *)&size, 4 }, payload));
		wr_raw(&g, lie[i].b, lie[i].n);
		wr_align(&g, SPOOL_GRID);
		wr_raw(&g, f.p + SPOOL_GRID, f.n - SPOOL_GRID);
		assert_int_equal(read_samples(g.p, g.n, &bad), 10);
		assert_int_equal(bad, 1);
		wr_free(&f);
		wr_free(&g);
	}
}

static void the_crc_is_the_usual_one(void **state)
{
	static const uint8_t text[] = "123456789";

	(void)state;
	for (uint64_t i = 0; i <= 9; i++)
		assert_int_equal(
			spool_crc((struct bytes){ text, i }, (struct bytes){ text + i, 9 - i }),
			0xcbf43926);
}

static void an_endless_sparse_file_ends(void **state)
{
	struct wr f = { 0 };
	uint64_t bad;

	(void)state;
	make_file(10, &f);
	int fd = memory_file(f.p, f.n);
	assert_int_equal(ftruncate(fd, INT64_MAX / 2), 0);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	struct spool_event ev;
	for (bad = 0; spool_read(r, &ev); bad++)
		;
	assert_int_equal(bad, 10);
	spool_reader_free(r);
	close(fd);
	wr_free(&f);
}

static char folder[] = "/tmp/morph-test-spool.XXXXXX";

static int folder_new(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/morph-test-spool.XXXXXX");
	assert_non_null(mkdtemp(folder));
	return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Sums over the files 1..most; removes them and the folder. */
static uint64_t folder_sum(int dirfd, uint64_t most, uint64_t *bytes, uint64_t *gap,
			   uint64_t *files)
{
	uint64_t samples = 0;

	*bytes = *gap = *files = 0;
	for (uint64_t i = 1; i <= most; i++) {
		char name[32];
		struct stat st;
		struct spool_event ev;

		(void)snprintf(name, sizeof(name), "%016llx.spool", (unsigned long long)i);
		int fd = openat(dirfd, name, O_RDONLY);
		if (fd < 0)
			continue;
		++*files;
		assert_int_equal(fstat(fd, &st), 0);
		*bytes += (uint64_t)st.st_size;
		struct spool_reader *r = spool_reader_open(fd, NULL);
		while (spool_read(r, &ev)) {
			samples += ev.kind == SPOOL_SAMPLE;
			*gap += ev.kind == SPOOL_GAP ? ev.lost : 0;
		}
		assert_int_equal(spool_reader_bad_blocks(r), 0);
		spool_reader_free(r);
		close(fd);
		assert_int_equal(unlinkat(dirfd, name, 0), 0);
	}
	close(dirfd);
	assert_int_equal(rmdir(folder), 0);
	return samples;
}

static void the_oldest_file_is_dropped_and_counted(void **state)
{
	int dirfd = folder_new();
	struct spool_writer *w = spool_writer_new(dirfd, "tick", 1, 1 << 20, NULL);
	enum { N = 600000 };
	uint64_t bytes, gap, files;
	struct spool_counts c;

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		struct spool_event ev = sample(i);

		assert_int_equal(spool_write(w, &ev, NULL), 0);
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_counts(w, &c);
	spool_writer_free(w);
	uint64_t left = folder_sum(dirfd, 1000, &bytes, &gap, &files);
	assert_int_equal(c.samples, N);
	assert_true(c.files_dropped > 10 && c.samples_dropped > 0);
	assert_int_equal(left + c.samples_dropped, N);
	assert_true(bytes <= 1 << 20 && bytes > 900 << 10);
	assert_true(files >= 15 && files <= 17);
	assert_true(gap > 0 && gap <= c.samples_dropped);
}

static void a_later_writer_goes_on_behind_the_files_it_finds(void **state)
{
	int dirfd = folder_new();
	uint64_t bytes, gap, files;
	struct spool_event ev = sample(0);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct spool_writer *w = spool_writer_new(dirfd, "tick", 1, 1 << 20, NULL);

		assert_int_equal(spool_write(w, &ev, NULL), 0);
		assert_int_equal(spool_flush(w, i == 1, NULL), 0);
		spool_writer_free(w);
	}
	assert_int_equal(folder_sum(dirfd, 3, &bytes, &gap, &files), 3);
	assert_int_equal(files, 3);
}

/* Its first block is written long after the events in it. */
static void a_file_begins_when_its_first_event_was(void **state)
{
	int dirfd = folder_new();
	struct spool_writer *w = spool_writer_new(dirfd, "tick", 1, 1 << 20, NULL);
	struct spool_event ev = sample(0);
	uint64_t bytes, gap, files;

	(void)state;
	ev.time_ns = 5 * UNIT;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
	ev.time_ns = 9 * UNIT;
	assert_int_equal(spool_write(w, &ev, NULL), 0);
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_free(w);
	int fd = openat(dirfd, "0000000000000001.spool", O_RDONLY);
	struct spool_reader *r = spool_reader_open(fd, NULL);
	assert_int_equal(spool_reader_start_ns(r), 5 * UNIT);
	spool_reader_free(r);
	close(fd);
	assert_int_equal(folder_sum(dirfd, 1, &bytes, &gap, &files), 2);
}

/* The disk refuses to grow the file (RLIMIT_FSIZE), then has space again. */
static void a_full_disk_costs_the_block_and_writing_goes_on(void **state)
{
	struct rlimit old, small = { 20000, RLIM_INFINITY };
	int dirfd = folder_new();
	struct spool_writer *w = spool_writer_new(dirfd, "tick", 1, 64 << 20, NULL);
	uint64_t bytes, gap, files, i = 0, failed = 0;
	struct spool_counts c;
	struct err err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (; i < 10000; i++) {
		struct spool_event ev = sample(i);

		failed += spool_write(w, &ev, &err) < 0;
	}
	assert_true(failed > 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	for (; i < 20000; i++) {
		struct spool_event ev = sample(i);

		assert_int_equal(spool_write(w, &ev, &err), 0);
	}
	assert_int_equal(spool_flush(w, true, NULL), 0);
	spool_writer_counts(w, &c);
	spool_writer_free(w);
	uint64_t left = folder_sum(dirfd, 10, &bytes, &gap, &files);
	assert_true(c.samples_dropped > 1000);
	assert_int_equal(left + c.samples_dropped, 20000);
	assert_int_equal(gap, c.samples_dropped);
	assert_int_equal(c.samples, 20000);
}

static unsigned open_before;

static int count_descriptors(void **state)
{
	(void)state;
	open_before = descriptors();
	return 0;
}

static int none_stays_open(void **state)
{
	(void)state;
	assert_int_equal(descriptors(), open_before);
	return 0;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, count_descriptors, none_stays_open)
	const struct CMUnitTest tests[] = {
		T(samples_come_back),
		T(every_kind_comes_back),
		T(tables_of_a_block_may_overflow),
		T(states_come_back_beside_samples_without),
		T(an_earlier_time_is_taken_as_the_last),
		T(a_cut_costs_the_block_it_is_in),
		T(a_flipped_bit_costs_the_block_it_is_in),
		T(both_headers_gone_or_a_newer_version_is_refused),
		T(a_lying_block_is_bad_and_the_next_one_good),
		T(the_crc_is_the_usual_one),
		T(an_endless_sparse_file_ends),
		T(the_oldest_file_is_dropped_and_counted),
		T(a_later_writer_goes_on_behind_the_files_it_finds),
		T(a_file_begins_when_its_first_event_was),
		T(a_full_disk_costs_the_block_and_writing_goes_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
