/* splice.c - a generation into a running process, and out again
 *
 * Tested by tests/e2e/live.sh.
 */
#include "live/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/io.h"
#include "live/exchange.h"
#include "live/maps.h"
#include "live/plan.h"
#include "live/process.h"
#include "live/unwinder.h"

/* Code as files have it. */
static bool is_text(const struct live_map *m)
{
	return m->exec && m->read && !m->write && !m->shared && m->inode;
}

const struct live_map *live_find_text(pid_t pid, const struct live_maps *maps,
				      const struct live_plan *plan, int generation,
				      int *original, struct err *err)
{
	struct digest digest;

	for (uint32_t i = 0; i < maps->n; i++) {
		const struct live_map *m = &maps->map[i];

		if (!is_text(m) || m->end - m->start != plan->text_size)
			continue;
		if (m->offset == plan->generation_offset &&
		    live_map_is_file(pid, m, generation)) {
			*original = -1;
			return m;
		}
		if (m->offset != plan->original_offset)
			continue;
		int fd = live_map_open(pid, m, err);
		if (fd < 0)
			return NULL;
		if (digest_fd(fd, &digest, err) == 0 &&
		    digest_equal(&digest, &plan->original)) {
			*original = fd;
			return m;
		}
		close(fd);
	}
	err_set(err, ERR_REFUSED, "the original is not mapped there as it was loaded");
	return NULL;
}

static bool is_new(pid_t pid, const struct live_map *m, const struct live_new *s,
		   int generation)
{
	if (m->offset != s->offset || m->exec != s->exec)
		return false;
	return s->counters ? m->shared && m->write :
			     !m->write && live_map_is_file(pid, m, generation);
}

/* What of the generation is not there yet.  -1: something else is there. */
static int plan_new(pid_t pid, const struct live_maps *maps, const struct live_plan *plan,
		    uint64_t bias, int generation, struct live_exchange *x, struct err *err)
{
	for (uint32_t i = 0; i < plan->nfresh; i++) {
		struct live_new s = plan->fresh[i];
		const struct live_map *m = live_maps_at(maps, s.addr += bias);

		if (m && m->start == s.addr && m->end == s.addr + s.size &&
		    is_new(pid, m, &s, generation)) {
			if (!s.counters && live_process_unwritten(pid, m, generation, err) < 0)
				return -1;
			continue;
		}
		if (!live_maps_free_at(maps, s.addr, s.addr + s.size))
			return err_set(err, ERR_REFUSED, "the place of new text, 0x%" PRIx64
				       ", is taken", s.addr);
		x->add[x->nadd++] = s;
	}
	return 0;
}

static int prepare_on(pid_t pid, const struct live_maps *maps, const struct live_plan *plan,
		      int generation, bool nobody_catches, struct live_exchange *x,
		      struct err *err)
{
	const struct live_map *text = live_find_text(pid, maps, plan, generation, &x->from,
						     err);

	if (!text)
		return -1;
	*x = (struct live_exchange){ .pid = pid, .text = text->start, .size = plan->text_size,
				     .from = x->from, .to = generation,
				     .from_offset = plan->original_offset,
				     .to_offset = plan->generation_offset };
	if (x->from < 0)
		return 0;
	if ((!nobody_catches && live_unwinder_check(pid, maps, err) < 0) ||
	    live_process_clean(pid, text->start, err) < 0)
		return -1;
	return plan_new(pid, maps, plan, text->start - plan->text, generation, x, err);
}

int live_on(pid_t pid, const struct live_plan *plan, int generation,
	    const struct live_limits *limits, struct live_outcome *out, struct err *err)
{
	struct live_exchange x = { .from = -1 };
	struct live_maps maps = { 0 };
	int rc = -1;

	*out = (struct live_outcome){ 0 };
	if (live_process_check(pid, false, err) < 0 || live_maps_read(pid, &maps, err) < 0 ||
	    prepare_on(pid, &maps, plan, generation, limits->nobody_catches, &x, err) < 0)
		goto out;
	out->was_so = x.from < 0;
	rc = out->was_so ? 0 : live_exchange(&x, limits, out, err);
	out->base = x.text - plan->text;
out:
	if (x.from >= 0)
		close(x.from);
	live_maps_free(&maps);
	return rc;
}

/* -1: `out` is at fault, or the memory. */
static int copy_memory(pid_t pid, uint64_t addr, uint64_t size, int out, struct err *err)
{
	static uint8_t part[1 << 16];
	char path[64];
	int rc = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	for (uint64_t at = 0; at < size && rc == 0; at += sizeof(part)) {
		uint64_t left = size - at;
		size_t n = left < sizeof(part) ? left : sizeof(part);

		rc = pread(mem, part, n, (off_t)(addr + at)) != (ssize_t)n ?
		     err_set(err, ERR_SYS, "its counters cannot be read") :
		     io_write_all(out, part, n, err);
	}
	close(mem);
	return rc;
}

int live_read_counters(pid_t pid, const struct live_plan *plan, int generation, int out,
		       struct err *err)
{
	struct live_exchange x = { .nadd = 0 };
	struct live_maps maps = { 0 };
	int rc = -1, original = -1;

	if (!plan->fresh[0].counters)
		return err_set(err, ERR_REFUSED, "it does not count");
	if (live_process_check(pid, false, err) < 0 || live_maps_read(pid, &maps, err) < 0)
		return -1;
	const struct live_map *text = live_find_text(pid, &maps, plan, generation, &original,
						     err);
	uint64_t bias = text ? text->start - plan->text : 0;
	if (text && plan_new(pid, &maps, plan, bias, generation, &x, err) == 0)
		rc = x.nadd ? err_set(err, ERR_REFUSED, "it has never counted") :
			      copy_memory(pid, plan->fresh[0].addr + bias,
					  plan->fresh[0].size, out, err);
	if (original >= 0)
		close(original);
	live_maps_free(&maps);
	return rc;
}

/* The mapping in front of it, of the file that the module was loaded from; NULL. */
static const struct live_map *before(const struct live_maps *maps, const struct live_map *map)
{
	const struct live_map *m = map > maps->map ? map - 1 : NULL;

	return m && m->end == map->start && m->inode && !m->shared &&
	       (m->inode != map->inode || m->dev != map->dev) ? m : NULL;
}

bool live_is_spliced(const struct live_maps *maps, const struct live_map *map,
		     const char *folder)
{
	size_t n = strlen(folder);

	return is_text(map) && strncmp(map->name, folder, n) == 0 &&
	       (map->name[n] == '/' || map->name[n] == '\0' ||
		strcmp(map->name + n, " (deleted)") == 0) &&
	       before(maps, map);
}

bool live_is_spliced_by(pid_t pid, const struct live_maps *maps, const struct live_map *map,
			int generation)
{
	struct stat st;

	return is_text(map) && fstat(generation, &st) == 0 && map->inode == st.st_ino &&
	       before(maps, map) && live_map_is_file(pid, map, generation);
}

/* The two files differ there by a jump here and there, and by nothing more: they are of the
 * same program. */
static int check_alike(const struct live_exchange *x, struct err *err)
{
	enum { CHUNK = 1 << 16, MOST = 64, PART = 4 };
	static uint8_t a[CHUNK], b[CHUNK];
	uint64_t run = 0, all = 0;

	/* the original may end in the last page */
	for (uint64_t at = 0; at < x->size - LIVE_PAGE; at += CHUNK) {
		uint64_t left = x->size - LIVE_PAGE - at;
		ssize_t n = left < CHUNK ? (ssize_t)left : CHUNK;

		if (pread(x->from, a, (size_t)n, (off_t)(x->from_offset + at)) != n ||
		    pread(x->to, b, (size_t)n, (off_t)(x->to_offset + at)) != n)
			return err_set(err, ERR_SYS, "what is mapped there cannot be read");
		for (ssize_t i = 0; i < n; i++) {
			run = a[i] == b[i] ? 0 : run + 1;
			all += a[i] != b[i];
			if (run > MOST || all > x->size / PART)
				return err_set(err, ERR_REFUSED, "what is mapped in front of "
					       "it is not the original");
		}
	}
	return 0;
}

static int off_one(pid_t pid, const struct live_maps *maps, const struct live_map *map,
		   const struct live_limits *limits, struct live_outcome *out, struct err *err)
{
	struct live_exchange x = { .pid = pid, .text = map->start,
				   .size = map->end - map->start,
				   .from_offset = map->offset, .to_offset = map->offset,
				   .back = true,
				   .locked = live_process_locked(pid, map->start) };
	int rc = -1;

	x.from = live_map_open(pid, map, err);
	x.to = x.from < 0 ? -1 : live_map_open(pid, before(maps, map), err);
	if (x.to >= 0 && check_alike(&x, err) == 0 &&
	    live_process_unwritten(pid, map, x.from, err) == 0)
		rc = live_exchange(&x, limits, out, err);
	if (x.to >= 0)
		close(x.to);
	if (x.from >= 0)
		close(x.from);
	return rc;
}

/* Those of the folder, or NULL: of that file. */
static int off(pid_t pid, const char *folder, int generation, const struct live_limits *limits,
	       struct live_outcome *out, struct err *err)
{
	struct live_outcome one;
	struct live_maps maps = { 0 };
	int rc = 0;

	*out = (struct live_outcome){ .was_so = true };
	if (live_process_check(pid, true, err) < 0 || live_maps_read(pid, &maps, err) < 0)
		return -1;
	for (uint32_t i = 0; i < maps.n && rc == 0; i++) {
		const struct live_map *m = &maps.map[i];

		if (folder ? !live_is_spliced(&maps, m, folder) :
			     !live_is_spliced_by(pid, &maps, m, generation))
			continue;
		rc = off_one(pid, &maps, m, limits, &one, err);
		out->was_so = false;
		out->tries += one.tries;
		out->pause_ns = one.pause_ns > out->pause_ns ? one.pause_ns : out->pause_ns;
	}
	live_maps_free(&maps);
	return rc;
}

int live_off(pid_t pid, const char *folder, const struct live_limits *limits,
	     struct live_outcome *out, struct err *err)
{
	return off(pid, folder, -1, limits, out, err);
}

int live_off_file(pid_t pid, int generation, const struct live_limits *limits,
		  struct live_outcome *out, struct err *err)
{
	return off(pid, NULL, generation, limits, out, err);
}
