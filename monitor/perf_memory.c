/* perf_memory.c - assembles the BPF program that is run with a sample, by bpf.h
 *
 * It needs no compiler, no library and no file.  The program is straight-line code.  For each
 * slot it computes an address and reads there, which fails where no memory is; if it did not
 * fail, it sets the slot's bit and moves the place for the next slot on.  That place is kept in
 * memory, not in a register, so that the kernel's verifier takes it as any number below PLACES
 * each time instead of following every path to it.
 */
#include "monitor/perf_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/statememory.h"
#include "monitor/bpf.h"
#include "monitor/kernel_field.h"
#include "monitor/perf_tick.h"

struct perf_memory {
	struct perf_memory_code code;
	int prog_fd;
	struct bpf_switch on;
};

/* --- assembling --- */

enum { CTX = R6, BUFFER, REGS, PIECE };

/* The buffer: what is written, behind how many bytes of slots it has so far. */
enum {
	AT_FILLED = 0, AT_MAGIC = 8, AT_SP = 16, AT_IP = 24, AT_MASK = 32, AT_SLOTS = 40,
	PLACES = 8192,			/* a power of two that is more than all slots */
	BUFFER_BYTES = AT_SLOTS + PLACES + STATEMEMORY_REACH,
};
static_assert((int)STATEMEMORY_SLOTS_BYTES < (int)PLACES, "slots fit");
static_assert(STATEMEMORY_SLOTS <= 64, "one bit each");

/* In struct pt_regs, by their numbers in machine code. */
static const uint8_t register_at[STATEMEMORY_GPRS] = {
	80, 88, 96, 40, 152, 32, 104, 112, 72, 64, 56, 48, 24, 16, 8, 0
};
enum { REG_IP = 128, REG_SP = 152 };

/* BUFFER plus what is filled. */
static void next_place(struct bpf_code *c, int dst)
{
	bpf_load(c, dst, BUFFER, AT_FILLED);
	bpf_and(c, dst, PLACES - 1);
	(void)bpf_put(c, BPF_ALU64 | BPF_ADD | BPF_X, dst, BUFFER, 0, 0);
}

/* The slot's bytes from the address in R3 to the place of `at`.  Returns the jump past it. */
static unsigned read_slot(struct bpf_code *c, unsigned slot, int at, int bytes)
{
	bpf_move(c, R1, at);
	bpf_add(c, R1, AT_SLOTS);
	bpf_set(c, R2, bytes);
	bpf_call(c, BPF_FUNC_probe_read_user);
	unsigned failed = bpf_jump(c, BPF_JNE, 0);
	bpf_load(c, R1, BUFFER, AT_MASK);
	bpf_set_wide(c, R2, 0, UINT64_C(1) << slot);
	(void)bpf_put(c, BPF_ALU64 | BPF_OR | BPF_X, R1, R2, 0, 0);
	bpf_store(c, BUFFER, AT_MASK, R1);
	bpf_load(c, R1, BUFFER, AT_FILLED);
	bpf_add(c, R1, bytes);
	bpf_store(c, BUFFER, AT_FILLED, R1);
	return failed;
}

static void read_register(struct bpf_code *c, unsigned r)
{
	unsigned slot = r * STATEMEMORY_PER_GPR;

	bpf_load(c, R3, REGS, register_at[r]);
	bpf_and(c, R3, -8);
	bpf_add(c, R3, -STATEMEMORY_BACK);
	next_place(c, PIECE);
	unsigned nothing = read_slot(c, slot, PIECE, STATEMEMORY_REACH);
	for (unsigned w = 0; w < STATEMEMORY_CHASED; w++) {
		next_place(c, R4);
		bpf_load(c, R3, PIECE, AT_SLOTS + (int)statememory_word_at(w));
		bpf_here(c, read_slot(c, slot + 1 + w, R4, STATEMEMORY_CHASE));
	}
	bpf_here(c, nothing);
}

/* Of the tick's tracepoint: R0 is 0 if the hit is a tick.  The event's filter comes later. */
static void ask_handler(struct bpf_code *c, uint64_t handler)
{
	bpf_load(c, R0, CTX, PERF_TICK_HANDLER_AT);
	bpf_set_wide(c, R1, 0, handler);
	(void)bpf_put(c, BPF_ALU64 | BPF_SUB | BPF_X, R0, R1, 0, 0);
}

/* Nothing to do while it is switched off, nor for other timers and the idle task: then the
 * sample itself is all that is wanted. */
static void begin(struct bpf_code *c, const struct perf_memory *m, uint64_t handler)
{
	bpf_move(c, CTX, R1);
	unsigned off = bpf_switched_off(c, &m->on);
	bpf_set(c, R0, 0);
	if (handler)
		ask_handler(c, handler);
	unsigned other = bpf_jump(c, BPF_JNE, 0);
	bpf_call(c, BPF_FUNC_get_current_pid_tgid);
	unsigned some = bpf_jump(c, BPF_JNE, 0);
	bpf_here(c, off);
	bpf_here(c, other);
	bpf_return(c, 1);
	bpf_here(c, some);
}

/* BUFFER: the CPU's own. */
static void find_buffer(struct bpf_code *c, const struct perf_memory_code *m)
{
	(void)bpf_put(c, BPF_ST | BPF_MEM | BPF_W, FRAME, 0, -4, 0);
	bpf_move(c, R2, FRAME);
	bpf_add(c, R2, -4);
	bpf_set_wide(c, R1, BPF_PSEUDO_MAP_FD, (uint32_t)m->buffer_fd);
	bpf_call(c, BPF_FUNC_map_lookup_elem);
	unsigned some = bpf_jump(c, BPF_JNE, 0);
	bpf_return(c, 1);
	bpf_here(c, some);
	bpf_move(c, BUFFER, R0);
}

/* How the kernel says that a task can be dumped by its user. */
enum { DUMPABLE_MASK = 3, DUMPABLE_BY_USER = 1 };

/* The task in R0.  Returns the jump of one that cannot be dumped. */
static unsigned ask_dumpable(struct bpf_code *c, const struct perf_memory_code *m)
{
	bpf_move(c, R2, R0);
	bpf_load(c, R0, R2, (int)m->mm);
	unsigned none = bpf_jump(c, BPF_JEQ, 0);	/* the kernel's own */
	bpf_load(c, R2, R0, (int)m->flags);
	bpf_move(c, R0, R2);
	bpf_and(c, R0, DUMPABLE_MASK);
	bpf_add(c, R0, -DUMPABLE_BY_USER);
	unsigned may = bpf_jump(c, BPF_JEQ, 0);
	bpf_here(c, none);
	bpf_set_wide(c, R1, 0, PERF_PRIVATE_MAGIC);
	bpf_store(c, BUFFER, AT_MAGIC, R1);
	bpf_set(c, R0, 1);
	unsigned may_not = bpf_jump(c, BPF_JNE, 0);
	bpf_here(c, may);
	return may_not;
}

void perf_memory_put(struct bpf_code *c, const struct perf_memory_code *m)
{
	find_buffer(c, m);
	bpf_set(c, R1, 0);
	bpf_store(c, BUFFER, AT_FILLED, R1);
	bpf_store(c, BUFFER, AT_MASK, R1);
	bpf_set_wide(c, R1, 0, PERF_MEMORY_MAGIC);
	bpf_store(c, BUFFER, AT_MAGIC, R1);
	bpf_call(c, BPF_FUNC_get_current_task_btf);
	bpf_move(c, R1, R0);
	bpf_call(c, BPF_FUNC_task_pt_regs);
	bpf_move(c, REGS, R0);
	bpf_load(c, R1, REGS, REG_SP);
	bpf_store(c, BUFFER, AT_SP, R1);
	bpf_load(c, R1, REGS, REG_IP);
	bpf_store(c, BUFFER, AT_IP, R1);
	bpf_call(c, BPF_FUNC_get_current_task_btf);
	unsigned private = ask_dumpable(c, m);
	for (unsigned r = 0; m->read && r < STATEMEMORY_GPRS; r++)
		read_register(c, r);
	bpf_here(c, private);
	bpf_move(c, R1, CTX);
	bpf_set_wide(c, R2, BPF_PSEUDO_MAP_FD, (uint32_t)m->events_fd);
	bpf_set_wide(c, R3, 0, BPF_F_CURRENT_CPU);
	bpf_move(c, R4, BUFFER);
	bpf_add(c, R4, AT_MAGIC);
	bpf_load(c, R5, BUFFER, AT_FILLED);
	bpf_and(c, R5, PLACES - 1);
	bpf_add(c, R5, AT_SLOTS - AT_MAGIC);
	bpf_call(c, BPF_FUNC_perf_event_output);
	bpf_return(c, 1);
}

/* --- loading --- */

int perf_memory_code_new(struct perf_memory_code *m, bool read, unsigned ncpu, struct err *err)
{
	*m = (struct perf_memory_code){ .buffer_fd = -1, .events_fd = -1, .read = read };
	m->events_fd = bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, ncpu, 0, err);
	if (m->events_fd >= 0)
		m->buffer_fd = bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, BUFFER_BYTES, 1, 0, err);
	return m->buffer_fd < 0 || kernel_field("task_struct", "mm", &m->mm, err) < 0 ||
	       kernel_field("mm_struct", "flags", &m->flags, err) < 0 ? -1 : 0;
}

void perf_memory_code_free(struct perf_memory_code *m)
{
	if (m->buffer_fd >= 0)
		close(m->buffer_fd);
	if (m->events_fd >= 0)
		close(m->events_fd);
	m->buffer_fd = m->events_fd = -1;
}

struct perf_memory *perf_memory_new(const struct perf_tick *tick, bool read, unsigned ncpu,
				    struct err *err)
{
	struct perf_memory *m = calloc(1, sizeof(*m));
	struct bpf_code *c = calloc(1, sizeof(*c));

	if (m)
		*m = (struct perf_memory){ { -1, -1, false, 0, 0 }, -1, BPF_SWITCH_NONE };
	if (!m || !c) {
		err_set(err, ERR_SYS, "out of memory");
	} else if (perf_memory_code_new(&m->code, read, ncpu, err) == 0 &&
		   bpf_switch_new(&m->on, err) == 0) {
		begin(c, m, tick ? tick->handler : 0);
		perf_memory_put(c, &m->code);
		m->prog_fd = bpf_program(c, tick ? BPF_PROG_TYPE_TRACEPOINT
						 : BPF_PROG_TYPE_PERF_EVENT, err);
	}
	free(c);
	if (m && m->prog_fd >= 0)
		return m;
	perf_memory_free(m);
	return NULL;
}

void perf_memory_free(struct perf_memory *m)
{
	if (!m)
		return;
	if (m->prog_fd >= 0)
		close(m->prog_fd);
	perf_memory_code_free(&m->code);
	bpf_switch_free(&m->on);
	free(m);
}

int perf_memory_attach(const struct perf_memory *m, int event_fd, struct err *err)
{
	return bpf_attach(m->prog_fd, event_fd, err);
}

int perf_memory_output(const struct perf_memory *m, unsigned cpu, int event_fd, struct err *err)
{
	return bpf_lead_out(m->code.events_fd, cpu, event_fd, err);
}

void perf_memory_switch(struct perf_memory *m, bool on)
{
	bpf_switch(&m->on, on);
}
