/* counting.c - takes the counters of processes that run counting generations; see counting.h
 *
 * inotify tells at once when somebody opens the file, be it to run it or as a library, but not
 * who; the kernel's records of mappings (mappings.h) tell that, but only to who looks.  So then
 * those who have mapped it are looked at, a few times within a second: are the counters where
 * the file says?  They are there as soon as its first instructions have run, which may have to
 * wait on a busy machine.
 *
 * Everybody who can read the file can open and map it, and everybody can map other files as
 * often as he likes, which brings records, too.  So reading those and looking take a twentieth
 * of the time at most, and end early; nothing is looked at of a process with many mappings, and
 * of a generation that enough runs have been taken of.  Processes that are missed by that lose
 * their counts.
 *
 * Tested by tests/unit/manager/parent/test_counting.c and tests/e2e/counted.sh.
 */
#include "manager/parent/counting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"
#include "manager/parent/mappings.h"
#include "manager/parent/role.h"

enum { PAGE = 4096 };
enum { SEEN = 64 };			/* processes at a time that are looked at */
enum { MOST_MAPPINGS = 4096, MOST_BYTES = 64 << 20 };
/* CPU time for looking: one part of so many, the most that is saved up, the most and the least
 * at once. */
enum { SHARE = 20, SAVED_US = 250000, LOOK_US = 50000, LEAST_US = 200 };
enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
/* After a file was opened, or seen to be mapped, in ms: a large library's counters are there
 * when it has been relocated, which is half of what a short run takes. */
static const unsigned look_ms[] = { 0, 2, 6, 15, 30, 45, 60, 80, 100, 120, 150, 200, 300, 400,
				    1000 };
enum { NLOOK = sizeof(look_ms) / sizeof(look_ms[0]) };

struct watched {			/* wd < 0: none */
	char path[PATH_MAX];
	struct digest generation;
	uint64_t dev, inode, at, size;
	unsigned runs;			/* that were taken */
	int wd;
};

/* A process that has mapped the file, until it is held or was looked at for long enough. */
struct seen {				/* pid 0: none */
	pid_t pid;
	struct watched *of;
	uint64_t until_ms;
};

struct held {				/* pid 0: none */
	pid_t pid;
	int pidfd, memory;
	int clock;			/* counts its CPU time, also when it has ended; or -1 */
	uint64_t inode;			/* of the memory: forks have the same */
	uint64_t since_ms;
	uint32_t uid;
	struct watched *of;
	bool left;			/* the process has executed the file again since */
	bool taken;			/* it was read; held so that it is not found again */
};

struct counting {
	int inotify;
	struct mappings *mappings;	/* NULL: nothing is watched */
	struct watched watched[COUNTING_WATCHED];
	struct seen seen[SEEN];
	unsigned nseen;			/* since it began: the next place, modulo SEEN */
	struct held held[COUNTING_HELD];
	uint64_t opened_ms;		/* when a file was opened or seen to be mapped last */
	unsigned look;			/* the next one; NLOOK: none is due */
	int64_t left_us;		/* that may be spent on looking; less than 0: spent */
	uint64_t left_ms;		/* when left_us was so much */
	uint64_t shared_dev;		/* the device of all shared memory without a name */
};

struct mapping {
	uint64_t from, to, inode;
	unsigned major, minor;
	char perms[5], path[PATH_MAX];
};

static bool next_mapping(FILE *maps, char **line, size_t *size, struct mapping *m)
{
	uint64_t offset;
	int path = 0;

	if (getline(line, size, maps) < 0 ||
	    sscanf(*line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &m->from, &m->to, m->perms, &offset, &m->major, &m->minor, &m->inode,
		   &path) < 7)
		return false;
	(*line)[strcspn(*line, "\n")] = '\0';
	(void)snprintf(m->path, sizeof(m->path), "%s", path ? *line + path : "");
	return true;
}

/* 0, which is no device, if the kernel does not tell. */
static uint64_t device_of_shared_memory(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct mapping *m = memory_new(1, sizeof(*m));
	FILE *maps = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	uint64_t dev = 0;

	while (p != MAP_FAILED && maps && !dev && next_mapping(maps, &line, &size, m))
		if (m->from == (uintptr_t)p)
			dev = makedev(m->major, m->minor);
	if (maps)
		(void)fclose(maps);
	if (p != MAP_FAILED)
		(void)munmap(p, PAGE);
	free(line);
	free(m);
	return dev;
}

struct counting *counting_new(void)
{
	struct counting *c = memory_new(1, sizeof(*c));

	c->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	c->look = NLOOK;
	c->left_us = SAVED_US;
	c->left_ms = role_now_ms();
	c->shared_dev = device_of_shared_memory();
	for (int i = 0; i < COUNTING_WATCHED; i++)
		c->watched[i].wd = -1;
	return c;
}

static void let_go(struct held *h)
{
	if (!h->pid)
		return;
	close(h->pidfd);
	if (h->memory >= 0)
		close(h->memory);
	if (h->clock >= 0)
		close(h->clock);
	*h = (struct held){ 0 };
}

static void forget(struct counting *c, struct watched *w)
{
	for (int i = 0; i < COUNTING_HELD; i++)
		if (c->held[i].of == w)
			let_go(&c->held[i]);
	for (int i = 0; i < SEEN; i++)
		if (c->seen[i].of == w)
			c->seen[i].pid = 0;
	if (w->wd >= 0)
		(void)inotify_rm_watch(c->inotify, w->wd);	/* the file may be gone */
	w->wd = -1;
}

void counting_free(struct counting *c)
{
	if (!c)
		return;
	for (int i = 0; i < COUNTING_WATCHED; i++)
		forget(c, &c->watched[i]);
	mappings_free(c->mappings);
	if (c->inotify >= 0)
		close(c->inotify);
	free(c);
}

void counting_forget(struct counting *c, const char *path)
{
	for (int i = 0; i < COUNTING_WATCHED; i++)
		if (c->watched[i].wd >= 0 && strcmp(c->watched[i].path, path) == 0)
			forget(c, &c->watched[i]);
}

/* Where the path's entry is, or a free one. */
static struct watched *place_of(struct counting *c, const char *path)
{
	struct watched *free = NULL;

	for (int i = 0; i < COUNTING_WATCHED; i++) {
		struct watched *w = &c->watched[i];

		if (w->wd < 0)
			free = w;
		else if (strcmp(w->path, path) == 0)
			return w;
	}
	return free;
}

int counting_find(int proof_fd, const char *path, uint64_t *at, uint64_t *size, struct err *err)
{
	char text[512], *line;

	ssize_t n = pread(proof_fd, text, sizeof(text) - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	line = strstr(text, "\ncounters ");
	if (!line || sscanf(line, "\ncounters %" SCNu64 " %" SCNu64, at, size) != 2)
		return err_set(err, ERR_INPUT, "'%s': the proof names no counters", path);
	return 0;
}

int counting_may_watch(struct counting *c, const char *path, uint64_t at, uint64_t size,
		       struct err *err)
{
	if (at % PAGE || !size || at > INT64_MAX)
		return err_set(err, ERR_INPUT, "'%s': counters that cannot be", path);
	if (size > MOST_BYTES)
		return err_set(err, ERR_REFUSED, "'%s': counters of %" PRIu64 " bytes, more "
			       "than %d", path, size, MOST_BYTES);
	if (!place_of(c, path))
		return err_set(err, ERR_REFUSED, "'%s': %d programs are counted already", path,
			       COUNTING_WATCHED);
	if (!c->mappings)
		c->mappings = mappings_new(err);
	return c->mappings ? 0 : -1;
}

int counting_watch(struct counting *c, const char *path, const struct digest *generation,
		   uint64_t at, uint64_t size, struct err *err)
{
	struct stat st;

	counting_forget(c, path);
	if (counting_may_watch(c, path, at, size, err) < 0)
		return -1;
	struct watched *w = place_of(c, path);
	if (lstat(path, &st) < 0)
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	int wd = inotify_add_watch(c->inotify, path, IN_OPEN | IN_DONT_FOLLOW);
	if (wd < 0)
		return err_set(err, ERR_SYS, "'%s': inotify: %s", path, strerror(errno));
	(void)snprintf(w->path, sizeof(w->path), "%s", path);	/* stat() took it: fits */
	w->generation = *generation;
	w->dev = st.st_dev;
	w->inode = st.st_ino;
	w->at = at;
	w->size = size;
	w->runs = 0;
	w->wd = wd;
	return 0;
}

/* --- a process that began --- */

static struct held *free_place(struct counting *c)
{
	for (int i = 0; i < COUNTING_HELD; i++)
		if (!c->held[i].pid)
			return &c->held[i];
	return NULL;
}

/* Who runs it; false of one that cannot be dumped: then its files are root's. */
static bool may_take(pid_t pid, uint32_t *uid)
{
	char path[64];
	struct stat self, file;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &self) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	*uid = self.st_uid;
	return stat(path, &file) == 0 && file.st_uid == self.st_uid;
}

/* On some file systems the device in maps is another one than stat() tells. */
static bool is_of(const struct mapping *m, const struct watched *w)
{
	return m->inode == w->inode &&
	       (makedev(m->major, m->minor) == w->dev || strcmp(m->path, w->path) == 0);
}

/* Opens what is mapped there, if it is shared memory without a name.  What that is cannot be
 * told by the name in maps, which a mount namespace of the process's own can make up, and can
 * change after it was read: so it is found without asking any file system, and opened after. */
static int open_shared(const struct counting *c, const char *path, uint64_t bytes)
{
	struct statx st;
	char again[64];
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;

	if (place < 0)
		return -1;
	(void)snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	if (c->shared_dev &&
	    statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) == 0 &&
	    makedev(st.stx_dev_major, st.stx_dev_minor) == c->shared_dev &&
	    S_ISREG(st.stx_mode) && !st.stx_nlink && st.stx_size == bytes)
		fd = open(again, O_RDONLY | O_CLOEXEC);
	close(place);
	return fd;
}

/* Finds the counters of a process that has the file mapped: their descriptor, or -1. */
static int open_counters(const struct counting *c, pid_t pid, const struct watched *w)
{
	char path[96], *line = NULL;
	uint64_t base = 0, bytes = (w->size + PAGE - 1) & -(uint64_t)PAGE;
	size_t size = 0;
	struct mapping *m = memory_new(1, sizeof(*m));
	int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	for (int i = 0; maps && i < MOST_MAPPINGS && next_mapping(maps, &line, &size, m); i++) {
		if (!base && is_of(m, w))
			base = m->from;
		if (!base || m->from != base + w->at || m->to - m->from != bytes ||
		    strcmp(m->perms, "rw-s") != 0 ||
		    strcmp(m->path, "/dev/zero (deleted)") != 0)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			       (int)pid, m->from, m->to);
		fd = open_shared(c, path, bytes);
		break;
	}
	if (maps)
		(void)fclose(maps);
	free(line);
	free(m);
	return fd;
}

static bool shares(const struct counting *c, uint64_t inode)
{
	for (int i = 0; i < COUNTING_HELD; i++)
		if (c->held[i].pid && c->held[i].inode == inode)
			return true;
	return false;
}

/* It has executed the file again: the memory in which it counted before has no more to come. */
static void leave(struct counting *c, const struct watched *w, pid_t pid)
{
	for (int i = 0; i < COUNTING_HELD; i++)
		if (c->held[i].pid == pid && c->held[i].of == w)
			c->held[i].left = true;
}

/* Of a process and what it starts from now on. */
static int open_clock(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Whether it needs no more looking at. */
static bool hold(struct counting *c, struct watched *w, pid_t pid)
{
	struct held *h = free_place(c);
	struct held new = { .pid = pid, .memory = -1, .clock = -1, .of = w };
	struct stat st;

	if (!h)
		return false;
	new.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (new.pidfd < 0)
		return true;
	if (may_take(pid, &new.uid))
		new.memory = open_counters(c, pid, w);
	bool found = new.memory >= 0;
	/* Asked again: meanwhile it can have executed a set-id program. */
	if (!found || fstat(new.memory, &st) < 0 || shares(c, st.st_ino) ||
	    !may_take(pid, &new.uid)) {
		let_go(&new);
		return found;
	}
	new.inode = st.st_ino;
	new.since_ms = role_now_ms();
	new.clock = open_clock(pid);
	leave(c, w, pid);
	*h = new;
	return true;
}

static uint64_t cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);	/* cannot fail for this clock */
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* It may have its number from another file's mapping, too: what it has mapped is looked up. */
static void on_mapping(void *arg, pid_t pid, uint64_t inode)
{
	struct counting *c = arg;
	uint64_t now = role_now_ms();

	for (int i = 0; i < COUNTING_WATCHED; i++) {
		struct watched *w = &c->watched[i];
		bool known = w->wd < 0 || w->inode != inode;

		for (int k = 0; k < SEEN && !known; k++)
			if (c->seen[k].pid == pid && c->seen[k].of == w) {
				known = now < c->seen[k].until_ms;
				c->seen[k].pid = known ? pid : 0;
			}
		if (known)
			continue;
		c->opened_ms = now;
		c->look = 0;
		c->seen[c->nseen++ % SEEN] = (struct seen){
			pid, w, now + 2 * look_ms[NLOOK - 1]
		};
	}
}

/* The last that were seen come first: they have the most time left. */
static void look(struct counting *c, uint64_t now)
{
	uint64_t end_us = cpu_us() + LOOK_US;

	for (unsigned i = 1; i <= SEEN && cpu_us() < end_us; i++) {
		struct seen *s = &c->seen[(c->nseen - i) % SEEN];

		if (s->pid && (hold(c, s->of, s->pid) || now >= s->until_ms))
			s->pid = 0;
	}
}

/* --- a process that ended --- */

/* Only what was touched takes room in the copy. */
static int copy(int memory, uint64_t size)
{
	static uint8_t buffer[1 << 16];
	int fd = memfd_create("morph-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool ok = fd >= 0 && ftruncate(fd, (off_t)size) == 0;
	off_t at = ok ? lseek(memory, 0, SEEK_DATA) : -1;

	while (ok && at >= 0 && at < (off_t)size) {
		size_t want = sizeof(buffer) < size - (uint64_t)at ? sizeof(buffer)
								    : size - (uint64_t)at;
		ssize_t n = pread(memory, buffer, want, at);

		ok = n > 0 && pwrite(fd, buffer, (size_t)n, at) == n;
		at = ok ? lseek(memory, at + n, SEEK_DATA) : -1;
	}
	if (ok && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool has_ended(const struct held *h)
{
	struct pollfd p = { h->pidfd, POLLIN, 0 };

	return h->left || poll(&p, 1, 0) > 0;
}

/* Where the kernel does not count it, not more than it can have been. */
static uint32_t cpu_ms(const struct held *h, uint64_t now)
{
	uint64_t ns, ms = now - h->since_ms;

	if (h->clock >= 0 && read(h->clock, &ns, sizeof(ns)) == (ssize_t)sizeof(ns))
		ms = ns / 1000000;
	return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

static bool take(struct held *h, uint64_t now, struct counting_taken *out)
{
	*out = (struct counting_taken){ .generation = h->of->generation, .uid = h->uid,
					.ms = cpu_ms(h, now),
					.fd = copy(h->memory, h->of->size) };
	close(h->memory);
	h->memory = -1;
	h->taken = true;
	return out->fd >= 0;
}

static bool is_long(const struct held *h, uint64_t now)
{
	return !h->taken && now >= h->since_ms + COUNTING_LONG_MS;
}

/* --- both --- */

int counting_poll(const struct counting *c, struct pollfd p[COUNTING_POLL])
{
	uint64_t now = role_now_ms(), next = UINT64_MAX;

	bool may = c->left_us > 0;
	p[0] = (struct pollfd){ may ? c->inotify : -1, POLLIN, 0 };
	p[1] = (struct pollfd){ may && c->mappings ? mappings_fd(c->mappings) : -1, POLLIN, 0 };
	if (c->left_us <= 0)
		next = c->left_ms + (uint64_t)(1 - c->left_us) * SHARE / 1000 + 1;
	else if (c->look < NLOOK)
		next = c->opened_ms + look_ms[c->look];
	for (int i = 0; i < COUNTING_HELD; i++) {
		const struct held *h = &c->held[i];

		p[2 + i] = (struct pollfd){ h->pid ? h->pidfd : -1, POLLIN, 0 };
		if (h->pid && !h->taken && h->since_ms + COUNTING_LONG_MS < next)
			next = h->since_ms + COUNTING_LONG_MS;
	}
	return next == UINT64_MAX ? -1 : next > now ? (int)(next - now) : 0;
}

static void earn(struct counting *c, uint64_t now)
{
	int64_t earned = (int64_t)(now - c->left_ms) * 1000 / SHARE;

	c->left_us = c->left_us + earned < SAVED_US ? c->left_us + earned : SAVED_US;
	c->left_ms = now;
}

/* What a queue holds by default, 16,384 events: who opens files faster than they are read here
 * does not keep us in the loop. */
enum { READS = 64 };

static bool read_events(struct counting *c, uint64_t now)
{
	char buffer[4096];
	bool any = false;

	for (int i = 0; i < READS && read(c->inotify, buffer, sizeof(buffer)) > 0; i++) {
		c->opened_ms = now;
		c->look = 0;
		any = true;
	}
	return any;
}

static bool watches_any(const struct counting *c)
{
	for (int i = 0; i < COUNTING_WATCHED; i++)
		if (c->watched[i].wd >= 0)
			return true;
	return false;
}

/* Looks, if it is time to, for processes that began. */
static void find(struct counting *c, uint64_t now)
{
	uint64_t begin_us = cpu_us();

	earn(c, now);
	if (c->left_us <= 0)
		return;
	bool any = read_events(c, now), late = false;
	if (c->mappings)
		any |= mappings_read(c->mappings, on_mapping, c);
	while (c->look < NLOOK && now >= c->opened_ms + look_ms[c->look]) {
		c->look++;
		late = true;
	}
	if (late)
		look(c, now);
	c->left_us -= (late || any ? LEAST_US : 0) + (int64_t)(cpu_us() - begin_us);
}

bool counting_step(struct counting *c, struct counting_taken *out)
{
	uint64_t now = role_now_ms();

	if (c->mappings && !watches_any(c)) {
		mappings_free(c->mappings);
		c->mappings = NULL;
	}
	find(c, now);
	for (int i = 0; i < COUNTING_HELD; i++) {
		struct held *h = &c->held[i];
		struct watched *of = h->of;

		if (!h->pid)
			continue;
		bool ended = has_ended(h);
		bool told = !h->taken && (ended || is_long(h, now)) && take(h, now, out);
		if (ended)
			let_go(h);
		if (told && ++of->runs == COUNTING_RUNS)
			forget(c, of);
		if (told)
			return true;
	}
	return false;
}
