/* maps.c - the mappings of a process, and where among them there is room
 *
 * The kernel writes /proc/PID/maps; only the names at the ends of its lines are others'.  It
 * replaces line breaks in them.
 *
 * ROOM      Above the module, because addresses in ELF files ascend.  The heap grows upwards
 *           from behind the program, and malloc() only falls back on mappings where it cannot:
 *           new text is in front of the heap, in the gap that the kernel leaves there by
 *           chance, or HEAP bytes and more behind it.  The stack grows down from the top.
 *
 * Tested by tests/unit/live/test_maps.c.
 */
#include "live/maps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/err.h"

enum { PAGE = 4096, MAX_BYTES = 64 << 20 };
/* HEAP, for growth, was chosen; REACH is that of a distance of 32 bits, and some for what the
 * module's own end is not told by its mappings. */
static const uint64_t HEAP = (uint64_t)1 << 30, REACH = ((uint64_t)1 << 31) - (1 << 24);

/* A number in base `base` with one of the characters of `end` behind it, which is passed. */
static bool take(const char **p, int base, const char *end, uint64_t *out)
{
	char *after;

	if (!isxdigit((unsigned char)**p))
		return false;
	*out = strtoull(*p, &after, base);
	if (*after == '\0' || !strchr(end, *after))
		return false;
	*p = after + 1;
	return true;
}

/* By hand: the process may stand still for it, and have thousands of lines. */
static int parse_line(const char *p, struct live_map *m)
{
	uint64_t major_no, minor_no;

	m->name[0] = '\0';
	if (!take(&p, 16, "-", &m->start) || !take(&p, 16, " ", &m->end) ||
	    m->start >= m->end || strnlen(p, 5) < 5 || p[4] != ' ')
		return -1;
	m->read = p[0] == 'r';
	m->write = p[1] == 'w';
	m->exec = p[2] == 'x';
	m->shared = p[3] == 's';
	p += 5;
	if (!take(&p, 16, " ", &m->offset) || !take(&p, 16, ":", &major_no) ||
	    !take(&p, 16, " ", &minor_no) || !isdigit((unsigned char)*p))
		return -1;
	char *name;
	m->inode = strtoull(p, &name, 10);
	m->dev = makedev((unsigned)major_no, (unsigned)minor_no);
	name += strspn(name, " ");
	size_t n = strnlen(name, sizeof(m->name) - 1);
	memcpy(m->name, name, n);
	m->name[n] = '\0';
	return 0;
}

int live_maps_parse(char *text, struct live_maps *out, struct err *err)
{
	struct live_maps m = { 0 };
	uint32_t room = 0;
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (m.n == room) {
			struct live_map *more = realloc(m.map, (room = room * 2 + 64) *
							sizeof(*more));

			if (!more)
				abort();
			m.map = more;
		}
		if (parse_line(line, &m.map[m.n]) < 0 ||
		    (m.n > 0 && m.map[m.n].start < m.map[m.n - 1].end)) {
			free(m.map);
			return err_set(err, ERR_INPUT, "line %u of the mappings", m.n + 1);
		}
		m.n++;
	}
	*out = m;
	return 0;
}

int live_maps_read(pid_t pid, struct live_maps *out, struct err *err)
{
	size_t n = 0, room = 1 << 16;
	char path[64], *text = malloc(room);
	ssize_t got = -1;
	int rc = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && text && (got = read(fd, text + n, room - n - 1)) > 0) {
		n += (size_t)got;
		if (room - n > PAGE)
			continue;
		char *more = room < MAX_BYTES ? realloc(text, room *= 2) : NULL;
		if (!more)
			break;
		text = more;
	}
	if (got != 0) {
		err_set(err, ERR_SYS, "'%s': %s", path, got > 0 ? "too long" : strerror(errno));
	} else {
		text[n] = '\0';
		rc = live_maps_parse(text, out, err);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}

void live_maps_free(struct live_maps *m)
{
	free(m->map);
	*m = (struct live_maps){ 0 };
}

int live_map_open(pid_t pid, const struct live_map *m, struct err *err)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		       m->start, m->end);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		err_set(err, ERR_REFUSED, "its mappings have changed");
	else if (fd < 0)
		err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	return fd;
}

bool live_map_is_file(pid_t pid, const struct live_map *m, int fd)
{
	struct stat a, b;
	struct err ignored;
	int mapped = m->inode ? live_map_open(pid, m, &ignored) : -1;
	bool is = mapped >= 0 && fstat(mapped, &a) == 0 && fstat(fd, &b) == 0 &&
		  a.st_dev == b.st_dev && a.st_ino == b.st_ino;

	if (mapped >= 0)
		close(mapped);
	return is;
}

const struct live_map *live_maps_at(const struct live_maps *m, uint64_t addr)
{
	uint32_t lo = 0, hi = m->n;		/* which of them end behind `addr` */

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (m->map[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo < m->n && m->map[lo].start <= addr ? &m->map[lo] : NULL;
}

bool live_maps_free_at(const struct live_maps *m, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->map[i].start < end && start < m->map[i].end)
			return false;
	return true;
}

static bool is_name(const struct live_map *m, const char *name)
{
	return strcmp(m->name, name) == 0;
}

/* The first place at or behind `at` that ends in front of the mapping `next`; 0: none. */
static uint64_t place_before(const struct live_map *next, uint64_t at, uint64_t size,
			     uint64_t stack)
{
	uint64_t end = next->start - PAGE;

	if (is_name(next, "[stack]"))
		end = stack < end ? end - stack : 0;
	return at < end && size <= end - at ? at : 0;
}

uint64_t live_maps_room(const struct live_maps *m, uint64_t lo, uint64_t hi, uint64_t at,
			uint64_t size, uint64_t stack)
{
	uint64_t from = at > hi + PAGE ? at : hi + PAGE, found = 0;

	for (uint32_t i = 0; i < m->n && !found; i++) {
		const struct live_map *map = &m->map[i];

		if (map->end <= from)
			continue;
		if (map->start > from)
			found = place_before(map, from, size, stack);
		if (!found && map->end + PAGE > from)
			from = map->end + (is_name(map, "[heap]") ? HEAP : PAGE);
	}
	/* behind the last one there is nothing that a program may map */
	return found && found + size - lo < REACH ? found : 0;
}
