/* perfrecord.c - sorts the kernel's records by time and tells of them as spool events
 *
 * Each CPU's records are in order in the file, those of all together are not.  A record that
 * does not say when it was made keeps its place behind the one in front of it.
 *
 * Samples are those of one event, the first of the file that samples, on whatever kind of core:
 * what another event counts says something else about a program.
 *
 * Tested by tests/unit/manager/import/test_perfdata.c.
 */
#include "manager/import/perfrecord.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "lib/err.h"

enum { HEADER = 8, BUILD_ID_MAX = 20, PROT_X = 4 };
#define MMAP_BUILD_ID (1 << 14)

static struct bytes bytes_of(const struct perfrecords *p, const struct perfrecord *r)
{
	return bytes_at(r->packed ? wr_bytes(&p->unpacked) : p->file, r->at, r->n);
}

int perfrecords_add(struct perfrecords *p, uint64_t at, uint32_t n, bool packed,
		    struct err *err)
{
	struct perfrecord r = { .at = at, .n = n, .order = p->record.n, .packed = packed };
	struct bytes b = bytes_of(p, &r);
	const struct perflayout *l = perflayout_of(p->layout.v, p->layout.n, b);

	if (p->record.n == UINT32_MAX / 4)
		return err_set(err, ERR_REFUSED, "more than %u records", UINT32_MAX / 4);
	r.time_ns = l ? perflayout_time(l, b) : UINT64_MAX;
	if (r.time_ns == UINT64_MAX)
		r.time_ns = p->last_ns;
	p->last_ns = r.time_ns;
	vec_push(p->arena, &p->record, r);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct perfrecord *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

struct teller {
	const struct perfrecords *p;
	const struct perflayout *clock;	/* the event whose samples count; NULL: none samples */
	const struct import_sink *sink;
	struct import_counts *counts;
};

static void tell(const struct teller *t, const struct spool_event *ev)
{
	t->sink->event(t->sink->ctx, ev);
}

static bool is_clock(const struct teller *t, const struct perflayout *l)
{
	const struct perflayout *c = t->clock;

	return c && l->type == c->type && (uint32_t)l->config == (uint32_t)c->config;
}

static void tell_sample(const struct teller *t, struct bytes b, uint16_t misc, uint64_t time_ns)
{
	const struct perflayout *l = perflayout_of(t->p->layout.v, t->p->layout.n, b);
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct perfsample s;

	if (!l || !is_clock(t, l)) {
		t->counts->others++;
		return;
	}
	if (!perflayout_sample(l, b, &s) || !s.has_task ||
	    (mode != PERF_RECORD_MISC_USER && mode != PERF_RECORD_MISC_KERNEL)) {
		t->counts->unknown++;
		return;
	}
	struct spool_event ev = { .kind = SPOOL_SAMPLE, .time_ns = time_ns, .pid = s.pid,
				  .tid = s.tid };
	if (s.has_ip) {
		ev.sample.kernel = mode == PERF_RECORD_MISC_KERNEL;
		ev.sample.pc = ev.sample.kernel ? 0 : s.ip;
		t->counts->samples++;
		tell(t, &ev);
	}
	/* between two entries the code must have run straight on */
	if (s.nbranch && !l->all_branches) {
		t->counts->chosen++;
	} else if (s.nbranch) {
		ev.kind = SPOOL_BRANCHES;
		ev.branches.n = s.nbranch;
		ev.branches.entry = s.branch;
		t->counts->stacks++;
		tell(t, &ev);
	}
}

static void tell_mapping(const struct teller *t, struct spool_event *ev, bool executable)
{
	const char *path = ev->mmap.path;

	if (!executable || ev->pid == UINT32_MAX || !path || strlen(path) > SPOOL_PATH_MAX)
		return;
	import_need_inode(ev);
	tell(t, ev);
}

static bool tell_mmap(const struct teller *t, bool second, uint16_t misc, struct rd *r,
		      uint64_t time_ns)
{
	struct spool_event ev = { .kind = SPOOL_MMAP, .time_ns = time_ns };
	bool executable = !(misc & PERF_RECORD_MISC_MMAP_DATA), has_id = misc & MMAP_BUILD_ID;

	ev.pid = rd_u32(r);
	ev.tid = rd_u32(r);
	ev.mmap.addr = rd_u64(r);
	ev.mmap.len = rd_u64(r);
	ev.mmap.pgoff = rd_u64(r);
	struct bytes id = { r->p, 0 };
	if (second && has_id) {
		id.n = rd_u32(r) & 0xff;
		id.p = rd_skip(r, BUILD_ID_MAX);
	} else if (second) {
		ev.mmap.dev_major = rd_u32(r);
		ev.mmap.dev_minor = rd_u32(r);
		ev.mmap.inode = rd_u64(r);
		ev.mmap.inode_generation = rd_u64(r);
	}
	if (second) {
		executable = rd_u32(r) & PROT_X;
		(void)rd_u32(r);
	}
	ev.mmap.path = rd_str(r);
	if (r->bad || id.n > BUILD_ID_MAX)
		return false;
	if (id.n)
		t->sink->build_id(t->sink->ctx, id, ev.mmap.path);
	tell_mapping(t, &ev, executable);
	return true;
}

static bool tell_comm(const struct teller *t, uint16_t misc, struct rd *r, uint64_t time_ns)
{
	struct spool_event ev = { .kind = SPOOL_EXEC, .time_ns = time_ns };

	ev.pid = rd_u32(r);
	ev.tid = rd_u32(r);
	const char *comm = rd_str(r);
	if (r->bad)
		return false;
	memcpy(ev.exec.comm, comm, strnlen(comm, sizeof(ev.exec.comm) - 1));
	if (misc & PERF_RECORD_MISC_COMM_EXEC)
		tell(t, &ev);
	return true;
}

static bool tell_task(const struct teller *t, enum spool_kind kind, struct rd *r,
		      uint64_t time_ns)
{
	struct spool_event ev = { .kind = kind, .time_ns = time_ns };

	ev.pid = rd_u32(r);
	uint32_t parent = rd_u32(r);
	ev.tid = rd_u32(r);
	(void)rd_u32(r);			/* the parent's thread */
	/* of a process the last thread's end is its own */
	if (kind == SPOOL_FORK)
		ev.fork.parent_pid = parent;
	if (!r->bad)
		tell(t, &ev);
	return !r->bad;
}

static void tell_lost(const struct teller *t, struct rd *r, unsigned skip, uint64_t time_ns)
{
	struct spool_event ev = { .kind = SPOOL_LOST, .time_ns = time_ns };

	(void)rd_skip(r, skip);
	ev.lost = rd_u64(r);
	if (r->bad)
		return;
	t->counts->lost += ev.lost;
	tell(t, &ev);
}

static void tell_record(const struct teller *t, struct bytes b, uint64_t time_ns)
{
	struct rd r = rd_of(b);
	uint32_t type = rd_u32(&r);
	uint16_t misc = rd_u16(&r);
	bool known = true;

	(void)rd_u16(&r);
	switch (type) {
	case PERF_RECORD_SAMPLE:
		tell_sample(t, b, misc, time_ns);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		known = tell_mmap(t, type == PERF_RECORD_MMAP2, misc, &r, time_ns);
		break;
	case PERF_RECORD_COMM:
		known = tell_comm(t, misc, &r, time_ns);
		break;
	case PERF_RECORD_FORK:
		known = tell_task(t, SPOOL_FORK, &r, time_ns);
		break;
	case PERF_RECORD_EXIT:
		known = tell_task(t, SPOOL_EXIT, &r, time_ns);
		break;
	case PERF_RECORD_LOST:
		tell_lost(t, &r, 8, time_ns);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		tell_lost(t, &r, 0, time_ns);
		break;
	case PERF_RECORD_THROTTLE:
		tell(t, &(struct spool_event){ .kind = SPOOL_THROTTLE, .time_ns = time_ns,
					       .lost = 1 });
		break;
	case PERF_RECORD_UNTHROTTLE:
		break;
	default:
		known = false;
	}
	t->counts->unknown += !known;
}

int perfrecords_tell(struct perfrecords *p, const struct import_sink *sink,
		     struct import_counts *counts, struct err *err)
{
	struct teller t = { .p = p, .sink = sink, .counts = counts };

	if (!p->layout.n)
		return err_set(err, ERR_INPUT, "it does not say which events it has");
	for (uint32_t i = 0; i < p->layout.n && !t.clock; i++)
		if (!perflayout_is_dummy(&p->layout.v[i]))
			t.clock = &p->layout.v[i];
	counts->clock = t.clock ? perflayout_clock(t.clock) : "other";
	if (p->record.n)
		qsort(p->record.v, p->record.n, sizeof(*p->record.v), by_time);
	for (uint32_t i = 0; i < p->record.n; i++)
		tell_record(&t, bytes_of(p, &p->record.v[i]), p->record.v[i].time_ns);
	return 0;
}
