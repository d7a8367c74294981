/* fuzz_counts.c - files of counts from any bytes, and any counts in a good one
 *
 * What is accepted says the same when it is written and read again.  Whatever an instrumented
 * program has counted, or anybody has written into its counters and slots, makes a profile that
 * can be read; and so does any heat, by which it is told what was counted.
 */
#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "editor/instrument/instrument.h"
#include "lib/arena.h"
#include "lib/countsfile.h"
#include "lib/err.h"
#include "lib/io.h"
#include "lib/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ORIGINAL_MAX = 1 << 16 };

/* A small program with an indirect call, and the file that its instrumented form would count
 * in. */
static struct bytes original, empty, heated;

static void prepare(void)
{
	static struct instrument_options options = { .original = "/p", .counts = "/p.counts" };
	static struct wr generation, counts, other, more;
	static struct profile none = { .clock = "tick" };
	struct instrument_stats stats;
	struct arena *a = arena_new();		/* for good */
	struct err err = { 0 };
	int fd = open("tests/fuzz/corpus/generation/c_relr", O_RDONLY | O_CLOEXEC);

	assert(fd >= 0);
	assert(io_read_all(fd, ORIGINAL_MAX, a, &original, &err) == 0);
	close(fd);
	assert(edit_instrument(original, &options, a, &generation, &counts, &stats, &err) == 0);
	empty = wr_bytes(&counts);
	none.original = digest_of(original);
	options.profile = &none;
	assert(edit_instrument(original, &options, a, &other, &more, &stats, &err) == 0);
	heated = wr_bytes(&more);
	assert(heated.n > empty.n);
}

static void try_file(struct bytes file)
{
	struct arena *a = arena_new();
	struct countsfile f, again;
	struct wr w = { 0 };
	struct err err = { 0 };

	if (countsfile_read(file, a, &f, &err) == 0) {
		struct countsfile_slot slot;

		(void)countsfile_counter(&f, f.ncounter - 1);
		if (f.nslot)
			(void)countsfile_slot(&f, f.nslot - 1, &slot);
		f.offset = countsfile_offset(f.path);
		countsfile_write(&f, &w);
		assert(countsfile_read(wr_bytes(&w), a, &again, &err) == 0);
		assert(again.base == f.base && again.size == f.size && again.nsite == f.nsite);
		assert(again.ncounter == f.ncounter && again.nslot == f.nslot);
		assert(strcmp(again.path, f.path) == 0 && again.map.n == f.map.n);
		assert(again.heat.n == f.heat.n);
		assert(digest_equal(&again.original, &f.original));
	}
	wr_free(&w);
	arena_free(a);
}

/* Counter 0 says that the program has run.  With other heat it is counted in as many places
 * or, where blind edges are in the way, in more or fewer: then it is refused. */
static void try_counts(struct bytes good, const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	uint8_t *copy = arena_alloc(a, good.n);
	struct countsfile f;
	struct profile profile;
	struct wr text = { 0 };
	struct err err = { 0 };

	memcpy(copy, good.p, good.n);
	assert(countsfile_read((struct bytes){ copy, good.n }, a, &f, &err) == 0);
	for (size_t i = 0; i < f.heat.n; i++)
		copy[good.n - f.heat.n + i] = size ? data[i % size] : 0;
	copy[f.offset] = 1;
	uint64_t room = f.size - 8, n = size < room ? size : room;
	if (n)
		memcpy(copy + f.offset + 8, data, n);
	int rc = edit_counts(original, (struct bytes){ copy, good.n }, a, &text, &err);
	assert(rc == 0 || f.heat.n);
	assert(rc < 0 || profile_read(wr_bytes(&text), a, &profile, &err) == 0);
	wr_free(&text);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!original.p)
		prepare();
	try_file((struct bytes){ data, size });
	try_counts(empty, data, size);
	try_counts(heated, data, size);
	return 0;
}
