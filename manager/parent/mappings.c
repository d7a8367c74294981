/* mappings.c - which processes map which files to execute them; see mappings.h
 *
 * The rings are written by the kernel alone, which never overwrites what was not read.
 *
 * Tested by tests/unit/manager/parent/test_counting.c.
 */
#include "manager/parent/mappings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/memory.h"

enum { PAGE = 4096, DATA_BYTES = 4 * PAGE, WAKE_BYTES = DATA_BYTES / 2 };

struct ring {
	int fd;
	struct perf_event_mmap_page *page;	/* followed by the data; NULL: not mapped */
};

struct mappings {
	int epoll;
	unsigned n;
	struct ring *ring;
};

/* PERF_RECORD_MMAP2; the file's name and padding follow. */
struct record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, size, offset;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
};

static int event_open(unsigned cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.watermark = 1,
		.wakeup_watermark = WAKE_BYTES,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 1: done; 0: that CPU is offline; -1. */
static int open_ring(struct mappings *m, unsigned cpu, struct err *err)
{
	struct ring *r = &m->ring[m->n];
	struct epoll_event wanted = { .events = EPOLLIN };

	int fd = event_open(cpu);
	if (fd < 0)
		return errno == ENODEV ? 0 :
		       err_set(err, ERR_SYS, "CPU %u: perf_event_open for mappings: %s", cpu,
			       strerror(errno));
	*r = (struct ring){ .fd = fd };
	m->n++;
	void *page = mmap(NULL, PAGE + DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED || epoll_ctl(m->epoll, EPOLL_CTL_ADD, fd, &wanted) < 0)
		return err_set(err, ERR_SYS, "CPU %u: the ring for mappings: %s", cpu,
			       strerror(errno));
	r->page = page;
	return 1;
}

struct mappings *mappings_new(struct err *err)
{
	struct mappings *m = memory_new(1, sizeof(*m));
	long ncpu = sysconf(_SC_NPROCESSORS_CONF);
	int rc = 1;

	m->ring = memory_new(ncpu > 0 ? (size_t)ncpu : 1, sizeof(*m->ring));
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll < 0)
		rc = err_set(err, ERR_SYS, "epoll: %s", strerror(errno));
	for (long cpu = 0; cpu < ncpu && rc >= 0; cpu++)
		rc = open_ring(m, (unsigned)cpu, err);
	if (rc >= 0)
		return m;
	mappings_free(m);
	return NULL;
}

void mappings_free(struct mappings *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->n; i++) {
		if (m->ring[i].page)
			(void)munmap(m->ring[i].page, PAGE + DATA_BYTES);
		close(m->ring[i].fd);
	}
	if (m->epoll >= 0)
		close(m->epoll);
	free(m->ring);
	free(m);
}

int mappings_fd(const struct mappings *m)
{
	return m->epoll;
}

/* What is at a position of the ring, which may wrap anywhere. */
static void ring_copy(const struct ring *r, uint64_t at, void *out, size_t n)
{
	const uint8_t *data = (const uint8_t *)r->page + PAGE;
	size_t from = at % DATA_BYTES, first = n < DATA_BYTES - from ? n : DATA_BYTES - from;

	memcpy(out, data + from, first);
	memcpy((uint8_t *)out + first, data, n - first);
}

/* Whether it was half full. */
static bool ring_read(struct ring *r, void (*each)(void *arg, pid_t pid, uint64_t inode),
		      void *arg)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->page->data_tail;
	bool full = head - at >= WAKE_BYTES;

	while (at < head) {
		struct record x = { 0 };

		ring_copy(r, at, &x.header, sizeof(x.header));
		if (x.header.size < sizeof(x.header))
			break;		/* cannot be */
		if (x.header.type == PERF_RECORD_MMAP2 && x.header.size >= sizeof(x)) {
			ring_copy(r, at, &x, sizeof(x));
			each(arg, (pid_t)x.pid, x.inode);
		}
		at += x.header.size;
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	return full;
}

bool mappings_read(struct mappings *m, void (*each)(void *arg, pid_t pid, uint64_t inode),
		   void *arg)
{
	bool full = false;

	for (unsigned i = 0; i < m->n; i++)
		full |= ring_read(&m->ring[i], each, arg);
	return full;
}
