/* made.h - a program of tests/fuzz/corpus/debugfile and a generation of it */
#ifndef TESTS_UNIT_EDITOR_DEBUG_MADE_H
#define TESTS_UNIT_EDITOR_DEBUG_MADE_H

#include <fcntl.h>
#include <unistd.h>

#include "editor/optimize.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "lib/io.h"

static inline struct bytes made_file(const char *name, struct arena *a)
{
	const char *path = arena_printf(a, "tests/fuzz/corpus/debugfile/%s", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bytes file = { 0 };
	struct err err = { 0 };

	if (fd < 0 || io_read_all(fd, 1 << 24, a, &file, &err) < 0)
		fail_msg("%s: cannot be read", path);
	(void)close(fd);
	return file;
}

/* Appends the generation to `out`, which is empty. */
static inline void made_generation(struct bytes file, uint64_t seed, struct arena *a,
				   struct wr *out)
{
	struct edit_options options = {
		.all = true, .shuffle = true, .seed = seed, .generation = 1
	};
	struct wr map = { 0 };
	struct edit_stats stats;
	struct err err = { 0 };

	if (edit_optimize(file, NULL, &options, a, out, &map, &stats, &err) < 0)
		fail_msg("no generation: %s", err.text);
	wr_free(&map);
}

#endif
