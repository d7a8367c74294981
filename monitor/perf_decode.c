/* perf_decode.c - decodes the records of a perf ring into spool events
 *
 * SAMPLES   carry [IP] TID TIME [CALLCHAIN] REGS_USER. With the tick clock there is no usable
 *           IP: the tracepoint's own registers are those of the kernel's interrupt entry, and
 *           its record says "kernel mode" always. The user registers are what counts: they are
 *           those at the last way into the kernel. When that was the clock interrupt itself, IP
 *           is the interrupted PC. When it was a system call, the SYSCALL instruction has left
 *           the return address in CX too, so CX == IP tells that the tick met the kernel. By
 *           them a tick in a page fault cannot be told from one in the faulting instruction; it
 *           counts as that. A kernel thread has no user registers: PC 0.
 * CHAIN     tells where in the kernel a tick was, in a page fault as well: from the tracepoint
 *           back to the entry of the interrupt, and what comes next is what it interrupted.
 *           Behind the entry of one that came in user mode there is nothing. Without names of
 *           procedures (kernelnames.h) nobody knows which one the entry is.
 * STATE     samples of the second kind have all registers instead of these few, and perhaps a
 *           piece of the stack. Only one of a 64-bit task, taken in user mode, is told with its
 *           state: otherwise the registers are not those at the PC. For stacks, those
 *           with which it went into the kernel are as good.
 * CRASHES   memory and the samples of perf_sampler.h are told by the magics that their data
 *           begin with.
 * BRANCHES  have raw data in front of their branch stack that says that it is none
 *           (perf_branches.h): no ABI of registers is the same number.
 * OTHERS    end with the sample id that sample_id_all asks for: pid, tid, time.
 */
#include "monitor/perf_decode.h"

#include <linux/perf_event.h>
#include <string.h>

#include "lib/statememory.h"
#include "monitor/perf_branches.h"
#include "monitor/perf_crash.h"
#include "monitor/perf_memory.h"
#include "monitor/perf_sampler.h"

enum {
	HEADER = 8,
	SAMPLE_ID = 16,		/* u32 pid, u32 tid, u64 time */
};

struct bytes perf_ring_record(const struct perf_ring *ring, uint64_t pos, uint8_t *bounce)
{
	const struct bytes none = { NULL, 0 };
	uint64_t mask = ring->size - 1, left = ring->head - pos;
	uint16_t size;

	/* Records are multiples of 8 bytes, so a header never wraps. */
	if (pos % HEADER || left < HEADER || left > ring->size)
		return none;
	uint64_t at = pos & mask;
	memcpy(&size, ring->data + at + 6, sizeof(size));
	if (size < HEADER || size % 8 || size > left)
		return none;
	uint64_t to_end = ring->size - at;
	if (size <= to_end)
		return (struct bytes){ ring->data + at, size };
	memcpy(bounce, ring->data + at, to_end);
	memcpy(bounce + to_end, ring->data, size - to_end);
	return (struct bytes){ bounce, size };
}

static uint32_t record_type(struct bytes record)
{
	struct rd r = rd_of(record);

	return rd_u32(&r);
}

uint64_t perf_record_time(const struct perf_format *format, struct bytes record)
{
	struct rd r = rd_of(record);

	if (record_type(record) == PERF_RECORD_SAMPLE)
		(void)rd_skip(&r, HEADER + (format->ip ? 8 : 0) + 8);
	else if (record.n >= HEADER + SAMPLE_ID)
		(void)rd_skip(&r, record.n - 8);
	else
		return 0;
	return rd_u64(&r);
}

enum { NSTATE = 18, STATE_CX = 2, STATE_IP = 8, STATE_FLAGS = 9 };

/* The registers of PERF_STATE_REGS come by the kernel's numbers; this is where they belong. */
static const int8_t gpr_of[NSTATE] = {
	0, 3, 1, 2, 6, 7, 5, 4, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15
};

/* The stack behind the registers: its size and, if there is any, it and how much of it is
 * valid. */
static void decode_stack(struct rd *r, struct spool_state *out)
{
	uint64_t size = rd_u64(r);

	out->stack = rd_skip(r, size);
	uint64_t valid = size ? rd_u64(r) : 0;
	if (valid > size)
		r->bad = true;
	out->stack_bytes = (uint32_t)(valid < SPOOL_STACK_MAX ? valid : SPOOL_STACK_MAX);
}

/* The few registers of a PC sample, or all that a task has; true when it was the latter. */
static bool decode_registers(const struct perf_format *format, struct rd *r, uint64_t *cx,
			     uint64_t *ip, struct spool_state *out)
{
	uint64_t value[NSTATE];

	if (rd_left(r) <= 8 * (uint64_t)(1 + format->user_cx) || !format->state) {
		*cx = format->user_cx ? rd_u64(r) : 0;
		*ip = rd_u64(r);
		return false;
	}
	for (unsigned i = 0; i < NSTATE; i++) {
		value[i] = rd_u64(r);
		if (gpr_of[i] >= 0)
			out->gpr[gpr_of[i]] = value[i];
	}
	*cx = value[STATE_CX];
	*ip = value[STATE_IP];
	out->rflags = value[STATE_FLAGS];
	out->stack = out->memory = NULL;
	out->stack_bytes = out->memory_bytes = 0;
	return true;
}

enum { SIGNAL_MAX = 64 };

static enum perf_outcome decode_crash(struct rd *r, struct bytes record,
				      struct spool_event *out)
{
	struct bytes raw = { NULL, rd_u32(r) };

	raw.p = rd_skip(r, raw.n);
	if (r->bad || r->p != record.p + record.n || raw.n < PERF_CRASH_BYTES ||
	    raw.n >= PERF_CRASH_BYTES + 8)
		return PERF_MALFORMED;
	struct rd in = rd_of(raw);
	(void)rd_u64(&in);		/* the magic */
	out->kind = SPOOL_CRASH;
	out->crash.pc = rd_u64(&in);
	out->crash.signal = rd_u32(&in);
	(void)rd_u32(&in);		/* si_code */
	out->crash.uid = rd_u32(&in);
	return out->crash.signal >= 1 && out->crash.signal <= SIGNAL_MAX ? PERF_EVENT
									 : PERF_MALFORMED;
}

/* What BPF has written begins with a magic. */
static uint64_t magic_of(struct rd r)
{
	(void)rd_u32(&r);
	return rd_u64(&r);
}

static bool is_memory(const struct perf_format *format, uint64_t magic)
{
	return format->memory && (magic == PERF_MEMORY_MAGIC || magic == PERF_PRIVATE_MAGIC);
}

enum { GPR_SP = 4 };

/* The raw data of perf_memory.h.  0: malformed; else their magic. */
static uint64_t read_memory(struct rd *r, struct spool_event *out)
{
	struct bytes raw = { NULL, rd_u32(r) };

	raw.p = rd_skip(r, raw.n);
	if (r->bad)
		return 0;
	struct rd in = rd_of(raw);
	uint64_t magic = rd_u64(&in);
	out->sample.state.gpr[GPR_SP] = rd_u64(&in);
	out->sample.pc = rd_u64(&in);
	uint64_t left = rd_left(&in), n = statememory_bytes((struct bytes){ in.p, left });
	if (!n || n + 8 <= left)
		return 0;
	out->sample.state.memory = in.p;
	out->sample.state.memory_bytes = (uint32_t)n;
	return magic;
}

/* Who the memory is of is told by where that task and its stack are. */
static enum perf_outcome decode_memory(struct rd *r, struct bytes record,
				       struct spool_event *out)
{
	uint64_t magic = read_memory(r, out);

	if (!magic || r->p != record.p + record.n)
		return PERF_MALFORMED;
	return magic == PERF_PRIVATE_MAGIC ? PERF_PRIVATE : PERF_MEMORY;
}

/* A stack that is empty says nothing. */
static enum perf_outcome decode_branches(struct rd *r, struct bytes record,
					 struct spool_event *out)
{
	(void)rd_u64(r);			/* the mark */
	uint64_t n = rd_u64(r);
	if (n > rd_left(r) / SPOOL_BRANCH_BYTES)
		return PERF_MALFORMED;
	out->kind = SPOOL_BRANCHES;
	out->branches.entry = rd_skip(r, n * SPOOL_BRANCH_BYTES);
	out->branches.n = n < SPOOL_BRANCHES_MAX ? (uint32_t)n : SPOOL_BRANCHES_MAX;
	if (r->bad || r->p != record.p + record.n)
		return PERF_MALFORMED;
	return n ? PERF_EVENT : PERF_IGNORED;
}

/* As the first two words, the length of a chain and its beginning cannot be taken for that: a
 * chain begins with what is no number of branches. */
static bool is_branches(const struct perf_format *format, struct rd r)
{
	return format->branches && rd_u64(&r) == PERF_BRANCHES_MARK &&
	       rd_u64(&r) < (uint64_t)PERF_CONTEXT_MAX;
}

/* What a call chain of n addresses tells: was the interrupt's entry met, and where in the
 * kernel was it; 0: in user mode, or not known. */
struct chain {
	bool entered;
	uint64_t pc;
};

static struct chain decode_chain(const struct perf_format *format, struct rd *r, uint64_t n)
{
	struct chain c = { false, 0 };

	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t addr = rd_u64(r);

		if (addr >= (uint64_t)PERF_CONTEXT_MAX)
			continue;		/* says what follows */
		if (c.entered && !c.pc)
			c.pc = addr;
		c.entered |= addr >= format->entry_start && addr < format->entry_end;
	}
	return c;
}

/* A chain that ends at the entry says better than all else that it was in user mode. */
static enum perf_outcome decode_tick(const struct perf_format *format, struct rd *r,
				     struct bytes record, struct spool_event *out)
{
	struct bytes raw = { NULL, rd_u32(r) };

	raw.p = rd_skip(r, raw.n);
	if (r->bad || r->p != record.p + record.n || raw.n < PERF_SAMPLER_BYTES)
		return PERF_MALFORMED;
	struct rd in = rd_of(raw);
	(void)rd_u64(&in);		/* the magic */
	out->sample.pc = rd_u64(&in);
	bool kernel = rd_u64(&in);
	struct chain c = decode_chain(format, &in, rd_left(&in) / 8);
	out->sample.kernel = !out->sample.pc || (kernel && (c.pc || !c.entered));
	out->sample.kernel_pc = out->sample.kernel ? c.pc : 0;
	return PERF_EVENT;
}

/* One in user mode, with state. */
static enum perf_outcome decode_tick_state(const struct perf_format *format, struct rd *r,
					   struct bytes record, struct spool_event *out)
{
	uint64_t magic = read_memory(r, out), abi = rd_u64(r), cx, ip;
	struct spool_state given = out->sample.state;
	bool all = false;

	if (!magic)
		return PERF_MALFORMED;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		all = decode_registers(format, r, &cx, &ip, &out->sample.state);
	if (format->stack)
		decode_stack(r, &out->sample.state);
	if (r->bad || r->p != record.p + record.n)
		return PERF_MALFORMED;
	out->sample.state.memory = given.memory;
	out->sample.state.memory_bytes = given.memory_bytes;
	out->sample.kernel = false;
	out->sample.kernel_pc = 0;
	bool has = all && abi == PERF_SAMPLE_REGS_ABI_64 && ip == out->sample.pc;
	out->sample.has_state = has && magic == PERF_MEMORY_MAGIC;
	return has && !out->sample.has_state ? PERF_STATELESS : PERF_EVENT;
}

static enum perf_outcome decode_sampler(const struct perf_format *format, struct rd *r,
					struct bytes record, struct spool_event *out)
{
	uint64_t magic = magic_of(*r);

	out->sample.has_state = false;
	if (magic == PERF_SAMPLER_MAGIC)
		return decode_tick(format, r, record, out);
	if (magic == PERF_MEMORY_MAGIC || magic == PERF_PRIVATE_MAGIC)
		return decode_tick_state(format, r, record, out);
	return PERF_MALFORMED;
}

static enum perf_outcome decode_sample(const struct perf_format *format, struct bytes record,
				       uint16_t misc, struct rd *r, struct spool_event *out)
{
	uint64_t ip = format->ip ? rd_u64(r) : 0, cx = 0, user_ip = 0;
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool all = false, user_mode = mode == PERF_RECORD_MISC_USER;

	out->kind = SPOOL_SAMPLE;
	out->pid = rd_u32(r);
	out->tid = rd_u32(r);
	out->time_ns = rd_u64(r);
	if (is_memory(format, magic_of(*r)))
		return decode_memory(r, record, out);
	if (format->crashes && magic_of(*r) == PERF_CRASH_MAGIC)
		return decode_crash(r, record, out);
	if (is_branches(format, *r))
		return decode_branches(r, record, out);
	out->sample.procedure = NULL;
	if (format->sampler)
		return decode_sampler(format, r, record, out);
	out->sample.kernel_pc = format->chain ? decode_chain(format, r, rd_u64(r)).pc : 0;
	uint64_t abi = rd_u64(r);
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		all = decode_registers(format, r, &cx, &user_ip, &out->sample.state);
	if (format->stack && (all || rd_left(r)))
		decode_stack(r, &out->sample.state);
	if (r->bad || r->p != record.p + record.n)
		return PERF_MALFORMED;
	if (format->ip) {
		out->sample.pc = user_mode ? ip : user_ip;
		out->sample.kernel = !user_mode;
		out->sample.kernel_pc = mode == PERF_RECORD_MISC_KERNEL ? ip : 0;
	} else {
		out->sample.pc = user_ip;
		out->sample.kernel = abi == PERF_SAMPLE_REGS_ABI_NONE ||
				     (format->user_cx && cx == user_ip) ||
				     out->sample.kernel_pc;
	}
	out->sample.has_state = all && abi == PERF_SAMPLE_REGS_ABI_64 &&
				(!out->sample.kernel || format->kernel_state) &&
				out->sample.pc == user_ip;
	return PERF_EVENT;
}

/* The string at the reader, which the kernel pads with NULs. */
static const char *record_string(struct rd *r, size_t max)
{
	const char *s = rd_str(r);

	if (s && strlen(s) > max)
		r->bad = true;
	return r->bad ? NULL : s;
}

static enum perf_outcome decode_mmap2(uint16_t misc, struct rd *r, struct spool_event *out)
{
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return PERF_MALFORMED;		/* never asked for */
	out->kind = SPOOL_MMAP;
	out->pid = rd_u32(r);
	out->tid = rd_u32(r);
	out->mmap.addr = rd_u64(r);
	out->mmap.len = rd_u64(r);
	out->mmap.pgoff = rd_u64(r);
	out->mmap.dev_major = rd_u32(r);
	out->mmap.dev_minor = rd_u32(r);
	out->mmap.inode = rd_u64(r);
	out->mmap.inode_generation = rd_u64(r);
	(void)rd_u64(r);			/* prot, flags */
	out->mmap.path = record_string(r, SPOOL_PATH_MAX);
	return r->bad ? PERF_MALFORMED : PERF_EVENT;
}

static enum perf_outcome decode_comm(uint16_t misc, struct rd *r, struct spool_event *out)
{
	out->kind = SPOOL_EXEC;
	out->pid = rd_u32(r);
	out->tid = rd_u32(r);
	const char *comm = record_string(r, sizeof(out->exec.comm) - 1);
	if (r->bad)
		return PERF_MALFORMED;
	memset(out->exec.comm, 0, sizeof(out->exec.comm));
	memcpy(out->exec.comm, comm, strlen(comm));
	return misc & PERF_RECORD_MISC_COMM_EXEC ? PERF_EVENT : PERF_IGNORED;
}

static enum perf_outcome decode_task(enum spool_kind kind, struct rd *r,
				     struct spool_event *out)
{
	out->kind = kind;
	out->pid = rd_u32(r);
	uint32_t parent = rd_u32(r);
	out->tid = rd_u32(r);
	(void)rd_u32(r);			/* parent tid */
	(void)rd_u64(r);			/* time, again in the sample id */
	if (kind == SPOOL_FORK)
		out->fork.parent_pid = parent;
	return r->bad ? PERF_MALFORMED : PERF_EVENT;
}

/* LOST counts records behind the event's id; LOST_SAMPLES has the count alone. */
static enum perf_outcome decode_count(enum spool_kind kind, unsigned skip, struct rd *r,
				      struct bytes id, struct spool_event *out)
{
	struct rd t = rd_of(id);

	out->kind = kind;
	out->pid = rd_u32(&t);
	out->tid = rd_u32(&t);
	(void)rd_skip(r, skip);
	out->lost = rd_u64(r);
	if (kind == SPOOL_THROTTLE)
		out->lost = 1;
	return r->bad ? PERF_MALFORMED : PERF_EVENT;
}

/* One in user mode, from the sampler's own ring. */
static enum perf_outcome decode_own_tick(struct rd *r, struct spool_event *out)
{
	*out = (struct spool_event){ .kind = SPOOL_SAMPLE, .sample = { .pc = rd_u64(r) } };
	out->tid = rd_u32(r);
	out->pid = rd_u32(r);
	out->time_ns = rd_u64(r);
	return r->bad || rd_left(r) ? PERF_MALFORMED : PERF_EVENT;
}

enum perf_outcome perf_decode(const struct perf_format *format, struct bytes record,
			      struct spool_event *out)
{
	struct rd r = rd_of(record);
	uint32_t type = rd_u32(&r);
	uint16_t misc = rd_u16(&r);

	if (rd_u16(&r) != record.n || r.bad)
		return PERF_MALFORMED;
	if (type == PERF_RECORD_SAMPLE)
		return decode_sample(format, record, misc, &r, out);
	if (type == PERF_SAMPLER_RECORD && format->sampler)
		return decode_own_tick(&r, out);
	if (record.n < HEADER + SAMPLE_ID)
		return PERF_MALFORMED;
	struct bytes id = bytes_at(record, record.n - SAMPLE_ID, SAMPLE_ID);
	r.end -= SAMPLE_ID;
	out->time_ns = perf_record_time(format, record);
	switch (type) {
	case PERF_RECORD_MMAP2:
		return decode_mmap2(misc, &r, out);
	case PERF_RECORD_COMM:
		return decode_comm(misc, &r, out);
	case PERF_RECORD_FORK:
		return decode_task(SPOOL_FORK, &r, out);
	case PERF_RECORD_EXIT:
		return decode_task(SPOOL_EXIT, &r, out);
	case PERF_RECORD_LOST:
		return decode_count(SPOOL_LOST, 8, &r, id, out);
	case PERF_RECORD_LOST_SAMPLES:
		return decode_count(SPOOL_LOST, 0, &r, id, out);
	case PERF_RECORD_THROTTLE:
		return decode_count(SPOOL_THROTTLE, 0, &r, id, out);
	case PERF_RECORD_UNTHROTTLE:
		return PERF_IGNORED;
	default:
		return PERF_UNKNOWN;
	}
}
