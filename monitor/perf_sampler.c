/* perf_sampler.c - the program that takes the samples of ticks, put together by bpf.h
 *
 * What a tick has interrupted is told by the stack that the program itself is on: the handler
 * of an interrupt from user mode stays on the task's own, and one from the kernel changes to
 * the CPU's for interrupts (or is on that already).  Where that is not so, a program may have
 * been given a stack elsewhere, all seem to come from the kernel: what the chain says counts.
 * A program that needs 64 bytes is given one, so what is written lies in a map if it is longer.
 *
 * The own ring has one writer, the CPU's tick, which nothing interrupts, and one reader.  What
 * does not go into it (it is full, or the kernel or state are to be told) goes to perf's, whose
 * times are of the same clock.
 *
 * Tested by tests/unit/monitor/test_perf_sampler.c and tests/e2e/monitor.sh.
 */
#include "monitor/perf_sampler.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/bpf.h"
#include "monitor/kernel_field.h"
#include "monitor/perf_decode.h"
#include "monitor/perf_memory.h"
#include "monitor/perf_tick.h"

struct perf_sampler {
	int prog_fd, buffer_fd, events_fd, trace_fd;
	int ring_fd;				/* -1: there are none */
	uint32_t nslot;				/* a power of two */
	struct own_ring *ring;			/* of all CPUs, ring_bytes() apart */
	size_t mapped;				/* bytes of them all */
	struct perf_memory_code state;		/* without maps: none is wanted */
	struct bpf_switch mode;
};

/* Positions count records. */
struct own_ring {
	uint64_t head, tail, unused[6];
	struct slot {
		uint64_t header, pc, who, time_ns;
	} slot[];
};

/* Where the kernel keeps things: in struct hrtimer, struct task_struct, struct pt_regs. */
struct places {
	uint32_t function, stack, flags;
};
enum { REG_IP = 128 };
enum { OF_THE_KERNEL = 0x00200000, STACK_BYTES = 16 << 10 };	/* PF_KTHREAD; THREAD_SIZE */

enum { CTX = R6, TASK, BUFFER, WHO };
enum { CHAIN_BYTES = WHO };		/* when that is not needed any more */

/* What is written, in the map and, of ticks in user mode, below FRAME. */
enum { AT_MAGIC = 0, AT_PC = 8, AT_KERNEL = 16, AT_CHAIN = PERF_SAMPLER_BYTES,
       CHAIN_MASK = 255, BUFFER_BYTES = AT_CHAIN + CHAIN_MASK + 1, OUT = -PERF_SAMPLER_BYTES };
_Static_assert(PERF_SAMPLER_CHAIN * 8 <= (int)CHAIN_MASK, "a chain fits");

/* Jumps away from what is switched off, other timers, and the idle task. */
static void begin(struct bpf_code *c, const struct perf_sampler *s, uint64_t handler,
		  const struct places *at, unsigned away[3])
{
	bpf_move(c, CTX, R1);
	away[0] = bpf_switched_off(c, &s->mode);
	bpf_load(c, R3, CTX, 0);			/* the timer */
	bpf_add(c, R3, (int)at->function);
	bpf_move(c, R1, FRAME);
	bpf_add(c, R1, -8);
	bpf_set(c, R2, 8);
	bpf_call(c, BPF_FUNC_probe_read_kernel);
	bpf_load(c, R0, FRAME, -8);
	bpf_set_wide(c, R1, 0, handler);
	(void)bpf_put(c, BPF_ALU64 | BPF_SUB | BPF_X, R0, R1, 0, 0);
	away[1] = bpf_jump(c, BPF_JNE, 0);
	bpf_call(c, BPF_FUNC_get_current_pid_tgid);
	away[2] = bpf_jump(c, BPF_JEQ, 0);
	bpf_move(c, WHO, R0);
}

/* Writes R5 bytes from R4. */
static void put_out(struct bpf_code *c, const struct perf_sampler *s)
{
	bpf_move(c, R1, CTX);
	bpf_set_wide(c, R2, BPF_PSEUDO_MAP_FD, (uint32_t)s->events_fd);
	bpf_set_wide(c, R3, 0, BPF_F_CURRENT_CPU);
	bpf_call(c, BPF_FUNC_perf_event_output);
	bpf_return(c, 0);
}

/* The three words at `to` of a task whose PC is in R1. */
static void put_words(struct bpf_code *c, int to, int off, int kernel)
{
	bpf_store(c, to, off + AT_PC, R1);
	bpf_set_wide(c, R1, 0, PERF_SAMPLER_MAGIC);
	bpf_store(c, to, off + AT_MAGIC, R1);
	bpf_set(c, R1, kernel);
	bpf_store(c, to, off + AT_KERNEL, R1);
}

/* R1: the PC in user mode; 0 of a thread of the kernel's. */
static void read_pc(struct bpf_code *c, const struct places *at)
{
	(void)bpf_put(c, BPF_LDX | BPF_MEM | BPF_W, R1, TASK, (int)at->flags, 0);
	bpf_and(c, R1, OF_THE_KERNEL);
	bpf_move(c, R0, R1);
	bpf_set(c, R1, 0);
	unsigned none = bpf_jump(c, BPF_JNE, 0);
	bpf_move(c, R1, TASK);
	bpf_call(c, BPF_FUNC_task_pt_regs);
	bpf_load(c, R1, R0, REG_IP);
	bpf_here(c, none);
}

/* To the ring of its own, if there is room. */
static void own_sample(struct bpf_code *c, const struct perf_sampler *s)
{
	const uint64_t header = PERF_SAMPLER_RECORD | (uint64_t)sizeof(struct slot) << 48;
	const int at = (int)offsetof(struct own_ring, slot);

	bpf_call(c, BPF_FUNC_get_smp_processor_id);
	(void)bpf_put(c, BPF_STX | BPF_MEM | BPF_W, FRAME, R0, -4, 0);
	bpf_move(c, R2, FRAME);
	bpf_add(c, R2, -4);
	bpf_set_wide(c, R1, BPF_PSEUDO_MAP_FD, (uint32_t)s->ring_fd);
	bpf_call(c, BPF_FUNC_map_lookup_elem);
	unsigned none = bpf_jump(c, BPF_JEQ, 0);
	bpf_move(c, BUFFER, R0);
	bpf_load(c, R1, BUFFER, (int)offsetof(struct own_ring, head));
	bpf_move(c, R2, R1);
	bpf_load(c, R3, BUFFER, (int)offsetof(struct own_ring, tail));
	(void)bpf_put(c, BPF_ALU64 | BPF_SUB | BPF_X, R2, R3, 0, 0);
	unsigned full = bpf_put(c, BPF_JMP | BPF_JGE | BPF_K, R2, 0, 0, (int)s->nslot);
	bpf_and(c, R1, (int)s->nslot - 1);
	(void)bpf_put(c, BPF_ALU64 | BPF_MUL | BPF_K, R1, 0, 0, (int)sizeof(struct slot));
	bpf_move(c, R2, BUFFER);
	(void)bpf_put(c, BPF_ALU64 | BPF_ADD | BPF_X, R2, R1, 0, 0);
	bpf_store(c, FRAME, -16, R2);
	bpf_set_wide(c, R1, 0, header);
	bpf_store(c, R2, at + (int)offsetof(struct slot, header), R1);
	bpf_store(c, R2, at + (int)offsetof(struct slot, who), WHO);
	bpf_move(c, R1, TASK);
	bpf_call(c, BPF_FUNC_task_pt_regs);
	bpf_load(c, R1, R0, REG_IP);
	bpf_load(c, R2, FRAME, -16);
	bpf_store(c, R2, at + (int)offsetof(struct slot, pc), R1);
	bpf_call(c, BPF_FUNC_ktime_get_ns);
	bpf_load(c, R2, FRAME, -16);
	bpf_store(c, R2, at + (int)offsetof(struct slot, time_ns), R0);
	/* behind all of it: this kind of processor keeps the order of what it writes */
	bpf_load(c, R1, BUFFER, (int)offsetof(struct own_ring, head));
	bpf_add(c, R1, 1);
	bpf_store(c, BUFFER, (int)offsetof(struct own_ring, head), R1);
	bpf_return(c, 0);
	bpf_here(c, none);
	bpf_here(c, full);
}

static void user_sample(struct bpf_code *c, const struct perf_sampler *s,
			const struct places *at)
{
	if (s->state.events_fd >= 0) {
		bpf_switch_read(c, &s->mode);
		unsigned plain = bpf_jump(c, BPF_JNE, PERF_SAMPLER_STATE);
		perf_memory_put(c, &s->state);
		bpf_here(c, plain);
	}
	if (s->ring_fd >= 0)
		own_sample(c, s);
	read_pc(c, at);
	put_words(c, FRAME, OUT, 0);
	bpf_move(c, R4, FRAME);
	bpf_add(c, R4, OUT);
	bpf_set(c, R5, PERF_SAMPLER_BYTES);
	put_out(c, s);
}

static void kernel_sample(struct bpf_code *c, const struct perf_sampler *s,
			  const struct places *at, bool chain)
{
	(void)bpf_put(c, BPF_ST | BPF_MEM | BPF_W, FRAME, 0, -4, 0);
	bpf_move(c, R2, FRAME);
	bpf_add(c, R2, -4);
	bpf_set_wide(c, R1, BPF_PSEUDO_MAP_FD, (uint32_t)s->buffer_fd);
	bpf_call(c, BPF_FUNC_map_lookup_elem);
	unsigned some = bpf_jump(c, BPF_JNE, 0);
	bpf_return(c, 0);
	bpf_here(c, some);
	bpf_move(c, BUFFER, R0);
	read_pc(c, at);
	put_words(c, BUFFER, 0, 1);
	bpf_set(c, CHAIN_BYTES, 0);
	if (chain) {
		bpf_move(c, R1, CTX);
		bpf_move(c, R2, BUFFER);
		bpf_add(c, R2, AT_CHAIN);
		bpf_set(c, R3, PERF_SAMPLER_CHAIN * 8);
		bpf_set(c, R4, 0);
		bpf_call(c, BPF_FUNC_get_stack);
		unsigned failed = bpf_put(c, BPF_JMP | BPF_JSLT | BPF_K, R0, 0, 0, 0);
		bpf_move(c, CHAIN_BYTES, R0);
		bpf_and(c, CHAIN_BYTES, CHAIN_MASK);
		bpf_here(c, failed);
	}
	bpf_move(c, R4, BUFFER);
	bpf_move(c, R5, CHAIN_BYTES);
	bpf_add(c, R5, AT_CHAIN);
	put_out(c, s);
}

static void assemble(struct bpf_code *c, const struct perf_sampler *s, uint64_t handler,
		     const struct places *at, bool chain)
{
	unsigned away[3], in_kernel[2];

	begin(c, s, handler, at, away);
	bpf_call(c, BPF_FUNC_get_current_task_btf);
	bpf_move(c, TASK, R0);
	bpf_load(c, R1, TASK, (int)at->stack);
	in_kernel[0] = bpf_put(c, BPF_JMP | BPF_JLT | BPF_X, FRAME, R1, 0, 0);
	bpf_add(c, R1, STACK_BYTES);
	in_kernel[1] = bpf_put(c, BPF_JMP | BPF_JGE | BPF_X, FRAME, R1, 0, 0);
	user_sample(c, s, at);
	for (unsigned i = 0; i < 2; i++)
		bpf_here(c, in_kernel[i]);
	kernel_sample(c, s, at, chain);
	for (unsigned i = 0; i < 3; i++)
		bpf_here(c, away[i]);
	bpf_return(c, 0);
}

/* --- loading --- */

static size_t ring_bytes(const struct perf_sampler *s)
{
	return sizeof(struct own_ring) + s->nslot * sizeof(struct slot);
}

static bool first_pid_namespace(void)
{
	enum { FIRST = 0xeffffffc };		/* PROC_PID_INIT_INO */
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST;
}

/* One for each CPU, with room for PERF_SAMPLER_RING_S. */
static int make_rings(struct perf_sampler *s, unsigned ncpu, struct err *err)
{
	const uint64_t ticks = PERF_SAMPLER_RING_S * UINT64_C(1000000000) / perf_tick_ns();
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (s->nslot = 1; s->nslot < ticks; s->nslot *= 2)
		;
	s->ring_fd = bpf_map(BPF_MAP_TYPE_ARRAY, (unsigned)ring_bytes(s), ncpu,
			     BPF_F_MMAPABLE, err);
	if (s->ring_fd < 0)
		return -1;
	s->mapped = (ncpu * ring_bytes(s) + page - 1) / page * page;
	void *p = mmap(NULL, s->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, s->ring_fd, 0);
	if (p == MAP_FAILED)
		return err_set(err, ERR_SYS, "BPF map: mmap: %s", strerror(errno));
	s->ring = p;
	return 0;
}

static int make_maps(struct perf_sampler *s, const struct perf_sampler_options *o,
		     struct err *err)
{
	s->events_fd = bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, o->ncpu, 0, err);
	if (s->events_fd >= 0)
		s->buffer_fd = bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, BUFFER_BYTES, 1, 0, err);
	if (s->buffer_fd < 0 || bpf_switch_new(&s->mode, err) < 0)
		return -1;
	if (first_pid_namespace() && make_rings(s, o->ncpu, err) < 0)
		return -1;
	return o->state ? perf_memory_code_new(&s->state, o->memory, o->ncpu, err) : 0;
}

struct perf_sampler *perf_sampler_new(const struct perf_tick *tick,
				      const struct perf_sampler_options *o, struct err *err)
{
	struct perf_sampler *s = calloc(1, sizeof(*s));
	struct bpf_code *c = calloc(1, sizeof(*c));
	struct places at;

	if (s)
		*s = (struct perf_sampler){
			.prog_fd = -1, .buffer_fd = -1, .events_fd = -1, .trace_fd = -1,
			.ring_fd = -1, .state = { -1, -1, false, 0, 0 },
			.mode = BPF_SWITCH_NONE,
		};
	if (!s || !c) {
		err_set(err, ERR_SYS, "out of memory");
	} else if (kernel_field("hrtimer", "function", &at.function, err) == 0 &&
		   kernel_field("task_struct", "stack", &at.stack, err) == 0 &&
		   kernel_field("task_struct", "flags", &at.flags, err) == 0 &&
		   make_maps(s, o, err) == 0) {
		assemble(c, s, tick->handler, &at, o->chain);
		s->prog_fd = bpf_program(c, BPF_PROG_TYPE_RAW_TRACEPOINT, err);
	}
	free(c);
	if (s && s->prog_fd >= 0)
		return s;
	perf_sampler_free(s);
	return NULL;
}

void perf_sampler_free(struct perf_sampler *s)
{
	if (!s)
		return;
	const int fd[] = { s->trace_fd, s->prog_fd, s->buffer_fd, s->events_fd, s->ring_fd };

	for (unsigned i = 0; i < 5; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (s->ring)
		munmap(s->ring, s->mapped);
	perf_memory_code_free(&s->state);
	bpf_switch_free(&s->mode);
	free(s);
}

int perf_sampler_output(const struct perf_sampler *s, bool state, unsigned cpu, int event_fd,
			struct err *err)
{
	return bpf_lead_out(state ? s->state.events_fd : s->events_fd, cpu, event_fd, err);
}

int perf_sampler_start(struct perf_sampler *s, struct err *err)
{
	s->trace_fd = bpf_trace(s->prog_fd, "hrtimer_expire_entry", err);
	return s->trace_fd < 0 ? -1 : 0;
}

void perf_sampler_switch(struct perf_sampler *s, enum perf_sampler_mode mode)
{
	bpf_switch(&s->mode, mode);
}

bool perf_sampler_has_rings(const struct perf_sampler *s)
{
	return s->ring_fd >= 0;
}

static struct own_ring *ring_of(const struct perf_sampler *s, unsigned cpu)
{
	return (struct own_ring *)((char *)s->ring + cpu * ring_bytes(s));
}

struct perf_ring perf_sampler_ring(const struct perf_sampler *s, unsigned cpu)
{
	struct own_ring *r = ring_of(s, cpu);

	return (struct perf_ring){
		.data = (const uint8_t *)r->slot,
		.size = s->nslot * sizeof(struct slot),
		.tail = r->tail * sizeof(struct slot),
		/* pairs with the program's writing it last */
		.head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) * sizeof(struct slot),
	};
}

void perf_sampler_consumed(struct perf_sampler *s, unsigned cpu, uint64_t tail)
{
	/* pairs with the program's look at it before it writes over what we have read */
	__atomic_store_n(&ring_of(s, cpu)->tail, tail / sizeof(struct slot), __ATOMIC_RELEASE);
}
