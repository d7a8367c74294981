/* perflayout.c - finds the fields of samples, and the time in other records
 *
 * SAMPLES   have the fields that sample_type names, in the order of the kernel's interface:
 *           IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD READ CALLCHAIN RAW BRANCH_STACK
 *           and others, which are not wanted.
 * OTHERS    end, with sample_id_all, with TID TIME ID STREAM_ID CPU IDENTIFIER, as far as
 *           sample_type names them.
 * EVENTS    Where a file has several with different fields, perf gives IDENTIFIER to all.
 *
 * Tested by tests/unit/manager/import/test_perfdata.c.
 */
#include "manager/import/perflayout.h"

#include <linux/perf_event.h>

#include "lib/err.h"
#include "monitor/spool.h"

enum { HEADER = 8, ATTR_LEAST = 64, ATTR_BRANCHES = 72, CONFIG_BITS = 32 };
enum { FLAG_SAMPLE_ID_ALL = 18 };
/* newer than some kernels' headers */
#define BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define BRANCH_COUNTERS (UINT64_C(1) << 19)
/* Stacks with any of these leave out some of the branches. */
#define BRANCH_CHOSEN (PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ABORT_TX | \
		       PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX)
#define FORMAT_LOST (UINT64_C(1) << 4)

uint32_t perflayout_size(uint32_t said)
{
	return said ? said : ATTR_LEAST;
}

int perflayout_read(struct bytes attr, struct perflayout *out, struct err *err)
{
	struct perflayout l = { 0 };
	struct rd r = rd_of(attr);

	l.type = rd_u32(&r);
	uint32_t size = perflayout_size(rd_u32(&r));
	l.config = rd_u64(&r);
	(void)rd_u64(&r);			/* period or frequency */
	l.sample_type = rd_u64(&r);
	l.read_format = rd_u64(&r);
	l.sample_id_all = rd_u64(&r) >> FLAG_SAMPLE_ID_ALL & 1;
	if (r.bad || size < ATTR_LEAST || size > attr.n)
		return err_set(err, ERR_INPUT, "attributes of %u bytes, where %llu are", size,
			       (unsigned long long)attr.n);
	uint64_t branches = 0;
	if (size >= ATTR_BRANCHES + 8) {
		(void)rd_skip(&r, 24);		/* wakeup, breakpoint or config1, config2 */
		branches = rd_u64(&r);
	}
	l.branch_index = branches & BRANCH_HW_INDEX;
	l.branch_counters = branches & BRANCH_COUNTERS;
	l.all_branches = (branches & PERF_SAMPLE_BRANCH_ANY) && !(branches & BRANCH_CHOSEN);
	if (r.bad)
		return err_set(err, ERR_INPUT, "attributes cut short");
	*out = l;
	return 0;
}

bool perflayout_is_dummy(const struct perflayout *l)
{
	return l->type == PERF_TYPE_SOFTWARE && l->config == PERF_COUNT_SW_DUMMY;
}

/* Kinds of cores have their own number in the upper half. */
static uint32_t event_of(const struct perflayout *l)
{
	return (uint32_t)l->config;
}

const char *perflayout_clock(const struct perflayout *l)
{
	if (l->type == PERF_TYPE_SOFTWARE && (event_of(l) == PERF_COUNT_SW_CPU_CLOCK ||
					      event_of(l) == PERF_COUNT_SW_TASK_CLOCK))
		return "cpu-clock";
	if (l->type == PERF_TYPE_HARDWARE && event_of(l) == PERF_COUNT_HW_CPU_CYCLES)
		return "cycles";
	return "other";
}

static unsigned bit(uint64_t set, uint64_t one)
{
	return (set & one) != 0;
}

static uint32_t type_of(struct bytes record)
{
	struct rd r = rd_of(record);

	return rd_u32(&r);
}

/* The event's id in the record; 0: it has none. */
static uint64_t id_of(const struct perflayout *l, struct bytes record)
{
	uint64_t has = l->sample_type;
	struct rd r = rd_of(record);

	if (type_of(record) == PERF_RECORD_SAMPLE) {
		(void)rd_skip(&r, HEADER);
		if (has & PERF_SAMPLE_IDENTIFIER)
			return rd_u64(&r);
		if (!(has & PERF_SAMPLE_ID))
			return 0;
		(void)rd_skip(&r, 8 * (bit(has, PERF_SAMPLE_IP) + bit(has, PERF_SAMPLE_TID) +
				       bit(has, PERF_SAMPLE_TIME) +
				       bit(has, PERF_SAMPLE_ADDR)));
		return rd_u64(&r);
	}
	unsigned back = bit(has, PERF_SAMPLE_IDENTIFIER);
	if (!l->sample_id_all || (!back && !(has & PERF_SAMPLE_ID)))
		return 0;
	if (!back)
		back = 1 + bit(has, PERF_SAMPLE_STREAM_ID) + bit(has, PERF_SAMPLE_CPU);
	if (record.n < HEADER + 8 * (uint64_t)back)
		return 0;
	(void)rd_skip(&r, record.n - 8 * (uint64_t)back);
	return rd_u64(&r);
}

static bool has_id(const struct perflayout *l, uint64_t id)
{
	struct rd r = rd_of(l->ids);

	while (rd_left(&r))
		if (rd_u64(&r) == id && !r.bad)
			return true;
	return false;
}

const struct perflayout *perflayout_of(const struct perflayout *l, uint32_t n,
				       struct bytes record)
{
	uint64_t id = n > 1 ? id_of(l, record) : 0;

	if (!id)
		return n ? l : NULL;
	for (uint32_t i = 0; i < n; i++)
		if (has_id(&l[i], id))
			return &l[i];
	/* what perf has made up itself may have any id */
	return type_of(record) == PERF_RECORD_SAMPLE ? NULL : l;
}

uint64_t perflayout_time(const struct perflayout *l, struct bytes record)
{
	uint64_t has = l->sample_type;
	struct rd r = rd_of(record);
	uint64_t behind;

	if (!(has & PERF_SAMPLE_TIME))
		return UINT64_MAX;
	if (type_of(record) == PERF_RECORD_SAMPLE) {
		(void)rd_skip(&r, HEADER + 8 * (bit(has, PERF_SAMPLE_IDENTIFIER) +
						bit(has, PERF_SAMPLE_IP) +
						bit(has, PERF_SAMPLE_TID)));
	} else {
		behind = 8 * (uint64_t)(bit(has, PERF_SAMPLE_ID) +
					bit(has, PERF_SAMPLE_STREAM_ID) +
					bit(has, PERF_SAMPLE_CPU) +
					bit(has, PERF_SAMPLE_IDENTIFIER));
		if (!l->sample_id_all || record.n < HEADER + 8 + behind)
			return UINT64_MAX;
		(void)rd_skip(&r, record.n - behind - 8);
	}
	uint64_t time = rd_u64(&r);
	return r.bad ? UINT64_MAX : time;
}

/* Counter values in the sample. */
static void skip_read(uint64_t format, struct rd *r)
{
	uint64_t each = 1 + bit(format, PERF_FORMAT_ID) + bit(format, FORMAT_LOST);
	uint64_t times = bit(format, PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 bit(format, PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t n = format & PERF_FORMAT_GROUP ? rd_u64(r) : 1;

	if (n > rd_left(r) / 8)
		r->bad = true;
	else
		(void)rd_skip(r, 8 * (times + n * each));
}

static void skip_words(struct rd *r, uint64_t n)
{
	if (n > rd_left(r) / 8)
		r->bad = true;
	else
		(void)rd_skip(r, 8 * n);
}

static void read_branches(const struct perflayout *l, struct rd *r, struct perfsample *out)
{
	uint64_t n = rd_u64(r);

	if (l->branch_index)
		(void)rd_u64(r);
	if (n > rd_left(r) / SPOOL_BRANCH_BYTES) {
		r->bad = true;
		return;
	}
	out->branch = rd_skip(r, n * SPOOL_BRANCH_BYTES);
	out->nbranch = n < SPOOL_BRANCHES_MAX ? (uint32_t)n : SPOOL_BRANCHES_MAX;
	if (l->branch_counters)
		skip_words(r, n);
}

bool perflayout_sample(const struct perflayout *l, struct bytes record, struct perfsample *out)
{
	uint64_t has = l->sample_type;
	struct rd r = rd_of(record);
	struct perfsample s = { .has_ip = has & PERF_SAMPLE_IP,
				.has_task = has & PERF_SAMPLE_TID,
				.has_time = has & PERF_SAMPLE_TIME };

	(void)rd_skip(&r, HEADER + 8 * bit(has, PERF_SAMPLE_IDENTIFIER));
	s.ip = s.has_ip ? rd_u64(&r) : 0;
	s.pid = s.has_task ? rd_u32(&r) : 0;
	s.tid = s.has_task ? rd_u32(&r) : 0;
	s.time_ns = s.has_time ? rd_u64(&r) : 0;
	skip_words(&r, bit(has, PERF_SAMPLE_ADDR) + bit(has, PERF_SAMPLE_ID) +
			       bit(has, PERF_SAMPLE_STREAM_ID) + bit(has, PERF_SAMPLE_CPU) +
			       bit(has, PERF_SAMPLE_PERIOD));
	if (has & PERF_SAMPLE_READ)
		skip_read(l->read_format, &r);
	if (has & PERF_SAMPLE_CALLCHAIN)
		skip_words(&r, rd_u64(&r));
	if (has & PERF_SAMPLE_RAW)
		(void)rd_skip(&r, rd_u32(&r));
	if (has & PERF_SAMPLE_BRANCH_STACK)
		read_branches(l, &r, &s);
	*out = s;
	return !r.bad;
}
