/* maps.h - the mappings of a process, and where among them there is room */
#ifndef LIVE_MAPS_H
#define LIVE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

enum { MAPS_NAME = 256 };

struct live_map {
	uint64_t start, end, offset;
	uint64_t dev, inode;		/* 0, 0: of no file */
	bool read, write, exec, shared;
	char name[MAPS_NAME];		/* as far as it fits; "" for none */
};

struct live_maps {
	struct live_map *map;		/* [n], ascending */
	uint32_t n;
};

/* Decodes the text of /proc/PID/maps, which it changes.  -1 with ERR_INPUT.  The caller frees
 * *out. */
int live_maps_parse(char *text, struct live_maps *out, struct err *err);
/* Those of a process now; none of one that has ended. */
int live_maps_read(pid_t pid, struct live_maps *out, struct err *err);
void live_maps_free(struct live_maps *m);	/* twice is allowed */

/* A descriptor of the file that is mapped there; -1 with *err: ERR_REFUSED where that mapping
 * is no more (it may have executed another program meanwhile). */
int live_map_open(pid_t pid, const struct live_map *m, struct err *err);
/* Is it that file?  (On some file systems stat(2) and maps have other numbers of devices.) */
bool live_map_is_file(pid_t pid, const struct live_map *m, int fd);

/* The mapping that holds `addr`; NULL. */
const struct live_map *live_maps_at(const struct live_maps *m, uint64_t addr);
/* Nothing is mapped in [start, end). */
bool live_maps_free_at(const struct live_maps *m, uint64_t start, uint64_t end);

/* A place of `size` bytes for new text of a module whose mappings are [lo, hi), at `at` or,
 * where that is taken, as near above as may be: 0 when there is none.  A place is a page's
 * distance from other mappings at least, less than 2 GiB from all of the module, below what
 * `stack` bytes more of the main thread's stack need, and leaves the heap room to grow. */
uint64_t live_maps_room(const struct live_maps *m, uint64_t lo, uint64_t hi, uint64_t at,
			uint64_t size, uint64_t stack);

#endif
