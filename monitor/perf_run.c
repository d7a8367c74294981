/* perf_run.c - the events that perf.c has opened: maps their rings and switches them */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/perf_impl.h"
#include "monitor/perf_memory.h"
#include "monitor/perf_sampler.h"
#include "monitor/perf_sysfs.h"

void perf_unmap(struct perf_set *set)
{
	for (unsigned i = 0; i < set->ncpu; i++) {
		if (set->cpu[i].page)
			munmap(set->cpu[i].page, (set->data_pages + 1) * PERF_PAGE_BYTES);
		set->cpu[i].page = NULL;
	}
}

/* An event that is always on, but is not on any longer: its CPU went offline.  poll(2) does
 * not tell, and nobody sees it happen when the machine was suspended. */
static bool is_dead(struct perf_cpu *c)
{
	uint64_t got[2];		/* count, time enabled */

	if (read(c->dummy_fd, got, sizeof(got)) != (ssize_t)sizeof(got) ||
	    got[1] == c->enabled_ns)
		return true;
	c->enabled_ns = got[1];
	return false;
}

bool perf_cpu_came(struct perf_set *set)
{
	static unsigned online[SYSFS_MAX_CPU];
	char text[4096];
	bool came = false;
	ssize_t k = set->online_fd < 0 ? -1 : pread(set->online_fd, text, sizeof(text) - 1, 0);

	if (k <= 0)
		return false;
	text[k] = '\0';
	text[strcspn(text, "\n")] = '\0';
	int n = sysfs_cpus(text, online, SYSFS_MAX_CPU);
	for (int i = 0; i < n; i++) {
		unsigned c = 0;

		while (c < set->ncpu && set->cpu[c].number != online[i])
			c++;
		came |= c == set->ncpu || is_dead(&set->cpu[c]);
	}
	return came;
}

/* All rings of that size; what was mapped stays when one fails. */
static int map_rings(struct perf_set *set, struct err *err)
{
	size_t bytes = (set->data_pages + 1) * PERF_PAGE_BYTES;

	for (unsigned i = 0; i < set->ncpu; i++) {
		void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			       set->cpu[i].sample_fd, 0);

		if (p == MAP_FAILED)
			return err_set(err, ERR_SYS, "ring %u of %u, %zu KiB: mmap: %s%s",
				       i + 1, set->ncpu, bytes / 1024, strerror(errno),
				       errno == EPERM ? " (kernel.perf_event_mlock_kb)" : "");
		set->cpu[i].page = p;
	}
	return 0;
}

int perf_map(struct perf_set *set, struct err *err)
{
	while (map_rings(set, err) < 0) {
		perf_unmap(set);
		if (set->data_pages <= PERF_DATA_PAGES)
			return -1;
		set->data_pages /= 2;
	}
	for (unsigned i = 0; i < set->ncpu; i++) {
		struct perf_cpu *c = &set->cpu[i];
		const int other[] = { c->dummy_fd, c->state_fd, c->crash_fd, c->memory_fd,
				      c->branch_fd };

		for (unsigned k = 0; k < 5; k++)
			if (other[k] >= 0 &&
			    ioctl(other[k], PERF_EVENT_IOC_SET_OUTPUT, c->sample_fd) < 0)
				return err_set(err, ERR_SYS, "ring %u: leading other events' "
					       "records into it: %s", i + 1, strerror(errno));
	}
	return 0;
}

/* Enables the one of the two sampling events that is wanted, if any, before it disables the
 * other. */
static int switch_samplers(struct perf_set *set, struct err *err)
{
	if (set->sampler)
		perf_sampler_switch(set->sampler, set->paused ? PERF_SAMPLER_OFF :
				    set->state_on ? PERF_SAMPLER_STATE : PERF_SAMPLER_PLAIN);
	for (unsigned i = 0; i < set->ncpu; i++) {
		const struct perf_cpu *c = &set->cpu[i];
		int wanted = set->state_on ? c->state_fd : c->sample_fd;
		int other = set->state_on ? c->sample_fd : c->state_fd;

		if (c->branch_fd >= 0 &&
		    ioctl(c->branch_fd, set->paused ? PERF_EVENT_IOC_DISABLE
						    : PERF_EVENT_IOC_ENABLE, 0) < 0)
			return err_set(err, ERR_SYS, "switching branch stacks: %s",
				       strerror(errno));
		if (set->sampler)
			continue;
		if (ioctl(wanted, set->paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE,
			  0) < 0 ||
		    (other >= 0 && ioctl(other, PERF_EVENT_IOC_DISABLE, 0) < 0))
			return err_set(err, ERR_SYS, "switching sampling %s: %s",
				       set->paused ? "off" : "on", strerror(errno));
	}
	return 0;
}

int perf_pause(struct perf_set *set, bool pause, struct err *err)
{
	set->paused = pause;
	return switch_samplers(set, err);
}

int perf_set_state(struct perf_set *set, bool on, struct err *err)
{
	assert(set->ncpu && set->cpu->state_fd >= 0);
	set->state_on = on;
	if (set->memory)
		perf_memory_switch(set->memory, on);
	return switch_samplers(set, err);
}

int perf_enable(struct perf_set *set, struct err *err)
{
	for (unsigned i = 0; i < set->ncpu; i++) {
		const struct perf_cpu *c = &set->cpu[i];

		if (ioctl(c->dummy_fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return err_set(err, ERR_SYS, "switching exec and mmap records on: %s",
				       strerror(errno));
	}
	return perf_pause(set, false, err);
}

unsigned perf_nring(const struct perf_set *set)
{
	return set->sampler && perf_sampler_has_rings(set->sampler) ? 2 * set->ncpu : set->ncpu;
}

int perf_ring_fd(const struct perf_set *set, unsigned i)
{
	return i < set->ncpu ? set->cpu[i].sample_fd : -1;
}

struct perf_ring perf_ring(const struct perf_set *set, unsigned i)
{
	if (i >= set->ncpu)
		return perf_sampler_ring(set->sampler, set->cpu[i - set->ncpu].number);
	struct perf_event_mmap_page *page = set->cpu[i].page;

	return (struct perf_ring){
		.data = (const uint8_t *)page + PERF_PAGE_BYTES,
		.size = set->data_pages * PERF_PAGE_BYTES,
		.tail = page->data_tail,
		/* pairs with the kernel's release of data_head behind the records */
		.head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
	};
}

void perf_ring_consumed(struct perf_set *set, unsigned i, uint64_t tail)
{
	if (i >= set->ncpu) {
		perf_sampler_consumed(set->sampler, set->cpu[i - set->ncpu].number, tail);
		return;
	}
	/* pairs with the kernel's look at data_tail before it writes over what we have read */
	__atomic_store_n(&set->cpu[i].page->data_tail, tail, __ATOMIC_RELEASE);
}

const struct perf_format *perf_format(const struct perf_set *set)
{
	return &set->format;
}

enum monitor_clock perf_clock(const struct perf_set *set)
{
	return set->clock;
}

uint64_t perf_period_ns(const struct perf_set *set)
{
	return set->period_ns;
}

const struct kernelnames *perf_names(const struct perf_set *set)
{
	return set->names;
}

bool perf_tells_crashes(const struct perf_set *set)
{
	return set->format.crashes;
}

bool perf_tells_memory(const struct perf_set *set)
{
	return set->reads_memory;
}

bool perf_guards(const struct perf_set *set)
{
	return set->guards;
}

unsigned perf_branches_hz(const struct perf_set *set)
{
	return set->branches_hz;
}

const struct lacks *perf_lacks(const struct perf_set *set)
{
	return &set->lacks;
}
