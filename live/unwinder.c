/* unwinder.c - may something in a process unwind its stack?
 *
 * An unwinder finds no rows for new text, in no loaded object: an exception would end the
 * process, although somebody may have caught it.
 *
 * LOADED    The libraries that unwind are known by name.  Cancelling threads loads one.
 * LINKED IN An unwinder that is a part of a program, or of a library, has to ask the C library
 *           what is loaded, by one of two functions, so the file holds the name of one, as its
 *           loader wants it.  What else is in the file does not matter.  The loader and the C
 *           library, which have these functions, do not count, nor does libbsd, which makes
 *           random numbers of what they tell.
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/unwinder.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "live/maps.h"

enum { CHUNK = 1 << 20 };

static const char *const unwinders[] = { "libgcc_s", "libstdc++", "libunwind", "libc++" };
static const char *const harmless[] = { "libc.so", "libc-", "ld-linux", "ld-2", "ld-musl",
					"libbsd.so" };
/* With the end of the name; in front may be more, of which linkers make one text. */
static const char asked[][16] = { "dl_iterate_phdr", "_dl_find_object" };
enum { NASKED = sizeof(asked) / sizeof(asked[0]), NAME = sizeof(asked[0]) };

#define BEGINS_LIKE_ONE_OF(name, of) begins_like(name, of, sizeof(of) / sizeof((of)[0]))

/* The one that it begins with; NULL. */
static const char *begins_like(const char *name, const char *const *of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, of[i], strlen(of[i])) == 0)
			return of[i];
	return NULL;
}

static const char *base_name(const struct live_map *m)
{
	const char *slash = strrchr(m->name, '/');

	return slash ? slash + 1 : m->name;
}

/* Is code of the file mapped, too?  What is only data has nothing that is called. */
static bool has_code(const struct live_maps *maps, const struct live_map *of)
{
	for (uint32_t i = 0; i < maps->n; i++) {
		const struct live_map *m = &maps->map[i];

		if (m->exec && m->inode == of->inode && m->dev == of->dev)
			return true;
	}
	return false;
}

/* Chunks overlap by what a name needs. */
static bool asks(int fd, const struct live_map *m, uint8_t *chunk)
{
	uint64_t size = m->end - m->start;

	for (uint64_t at = 0; at < size; at += CHUNK - NAME) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		ssize_t got = pread(fd, chunk, n, (off_t)(m->offset + at));

		for (size_t i = 0; got > 0 && i < NASKED; i++)
			if (memmem(chunk, (size_t)got, asked[i], NAME))
				return true;
		if (got < (ssize_t)n)
			break;			/* the file ends */
	}
	return false;
}

static int check_file(pid_t pid, const struct live_map *m, uint8_t *chunk, struct err *err)
{
	int fd = live_map_open(pid, m, err);

	if (fd < 0)
		return -1;
	bool found = asks(fd, m, chunk);
	close(fd);
	return found ? err_set(err, ERR_REFUSED, "it may unwind its stack (by code in '%s')",
			       m->name) : 0;
}

int live_unwinder_check(pid_t pid, const struct live_maps *maps, struct err *err)
{
	uint8_t *chunk = malloc(CHUNK);
	int rc = 0;

	if (!chunk)
		abort();
	for (uint32_t i = 0; i < maps->n && rc == 0; i++) {
		const char *name = base_name(&maps->map[i]);
		const char *like = BEGINS_LIKE_ONE_OF(name, unwinders);

		if (like)
			rc = err_set(err, ERR_REFUSED, "it may unwind its stack (%s)", like);
	}
	for (uint32_t i = 0; i < maps->n && rc == 0; i++) {
		const struct live_map *m = &maps->map[i];

		if (m->inode && m->read && !m->shared && has_code(maps, m) &&
		    !BEGINS_LIKE_ONE_OF(base_name(m), harmless))
			rc = check_file(pid, m, chunk, err);
	}
	free(chunk);
	return rc;
}
