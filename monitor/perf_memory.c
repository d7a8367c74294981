/* perf_memory.c - assembles and loads the BPF program that reads what registers point to
 *
 * It needs no compiler, no library and no file.  The program is straight-line code.  For each
 * slot it computes an address and reads there, which fails where no memory is; if it did not
 * fail, it sets the slot's bit and moves the place for the next slot on.  That place is kept in
 * memory, not in a register, so that the kernel's verifier takes it as any number below PLACES
 * each time instead of following every path to it.
 */
#include "monitor/perf_memory.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"
#include "lib/statememory.h"
#include "monitor/kernel_field.h"

enum { MAX_INSN = 2048, SWITCH_BYTES = 4096 };

struct perf_memory {
	int prog_fd, buffer_fd, events_fd, switch_fd;
	uint64_t *on;			/* in the map of switch_fd */
};

/* --- assembling --- */

struct code {
	struct bpf_insn insn[MAX_INSN];
	unsigned n;
};

enum { R0 = BPF_REG_0, R1, R2, R3, R4, R5, CTX, BUFFER, REGS, PIECE, FRAME };

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

static unsigned put(struct code *c, int op, int dst, int src, int off, int imm)
{
	assert(c->n < MAX_INSN);
	c->insn[c->n] = (struct bpf_insn){
		.code = (uint8_t)op, .dst_reg = (uint8_t)(dst & 15),
		.src_reg = (uint8_t)(src & 15), .off = (int16_t)off, .imm = imm,
	};
	return c->n++;
}

static void move(struct code *c, int dst, int src)
{
	(void)put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void set(struct code *c, int dst, int imm)
{
	(void)put(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

static void add(struct code *c, int dst, int imm)
{
	(void)put(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm);
}

static void and(struct code *c, int dst, int imm)
{
	(void)put(c, BPF_ALU64 | BPF_AND | BPF_K, dst, 0, 0, imm);
}

/* A constant, or with a `kind` what the kernel makes of it: a map, a place in one. */
static void set_wide(struct code *c, int dst, int kind, uint64_t imm)
{
	(void)put(c, BPF_LD | BPF_IMM | BPF_DW, dst, kind, 0, (int)(uint32_t)imm);
	(void)put(c, 0, 0, 0, 0, (int)(uint32_t)(imm >> 32));
}

static void load(struct code *c, int dst, int src, int off)
{
	(void)put(c, BPF_LDX | BPF_MEM | BPF_DW, dst, src, off, 0);
}

static void store(struct code *c, int dst, int off, int src)
{
	(void)put(c, BPF_STX | BPF_MEM | BPF_DW, dst, src, off, 0);
}

static void call(struct code *c, int function)
{
	(void)put(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* A jump if R0 is (BPF_JEQ) or is not (BPF_JNE) zero, to be led here() later. */
static unsigned jump(struct code *c, int condition)
{
	return put(c, BPF_JMP | condition | BPF_K, R0, 0, 0, 0);
}

static void here(struct code *c, unsigned jump)
{
	c->insn[jump].off = (int16_t)(c->n - jump - 1);
}

static void finish(struct code *c)
{
	set(c, R0, 1);			/* the sample itself is wanted, too */
	(void)put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* BUFFER plus what is filled. */
static void next_place(struct code *c, int dst)
{
	load(c, dst, BUFFER, AT_FILLED);
	and(c, dst, PLACES - 1);
	(void)put(c, BPF_ALU64 | BPF_ADD | BPF_X, dst, BUFFER, 0, 0);
}

/* The slot's bytes from the address in R3 to the place of `at`.  Returns the jump past it. */
static unsigned read_slot(struct code *c, unsigned slot, int at, int bytes)
{
	move(c, R1, at);
	add(c, R1, AT_SLOTS);
	set(c, R2, bytes);
	call(c, BPF_FUNC_probe_read_user);
	unsigned failed = jump(c, BPF_JNE);
	load(c, R1, BUFFER, AT_MASK);
	set_wide(c, R2, 0, UINT64_C(1) << slot);
	(void)put(c, BPF_ALU64 | BPF_OR | BPF_X, R1, R2, 0, 0);
	store(c, BUFFER, AT_MASK, R1);
	load(c, R1, BUFFER, AT_FILLED);
	add(c, R1, bytes);
	store(c, BUFFER, AT_FILLED, R1);
	return failed;
}

static void read_register(struct code *c, unsigned r)
{
	unsigned slot = r * STATEMEMORY_PER_GPR;

	load(c, R3, REGS, register_at[r]);
	and(c, R3, -8);
	add(c, R3, -STATEMEMORY_BACK);
	next_place(c, PIECE);
	unsigned nothing = read_slot(c, slot, PIECE, STATEMEMORY_REACH);
	for (unsigned w = 0; w < STATEMEMORY_CHASED; w++) {
		next_place(c, R4);
		load(c, R3, PIECE, AT_SLOTS + (int)statememory_word_at(w));
		here(c, read_slot(c, slot + 1 + w, R4, STATEMEMORY_CHASE));
	}
	here(c, nothing);
}

/* Nothing to do while it is switched off, nor for the idle task. */
static void begin(struct code *c, const struct perf_memory *m)
{
	move(c, CTX, R1);
	set_wide(c, R1, BPF_PSEUDO_MAP_VALUE, (uint32_t)m->switch_fd);
	load(c, R0, R1, 0);
	unsigned off = jump(c, BPF_JEQ);
	call(c, BPF_FUNC_get_current_pid_tgid);
	unsigned idle = jump(c, BPF_JEQ);
	(void)put(c, BPF_ST | BPF_MEM | BPF_W, FRAME, 0, -4, 0);
	move(c, R2, FRAME);
	add(c, R2, -4);
	set_wide(c, R1, BPF_PSEUDO_MAP_FD, (uint32_t)m->buffer_fd);
	call(c, BPF_FUNC_map_lookup_elem);
	unsigned some = jump(c, BPF_JNE);
	here(c, off);
	here(c, idle);
	finish(c);
	here(c, some);
	move(c, BUFFER, R0);
}

/* Where the kernel keeps whether a task can be dumped, and how it says that its user may. */
struct dumpable {
	uint32_t mm, flags;		/* in struct task_struct, mm_struct */
};
enum { DUMPABLE_MASK = 3, DUMPABLE_BY_USER = 1 };

/* The task in R0.  Returns the jump of one that cannot be dumped. */
static unsigned ask_dumpable(struct code *c, const struct dumpable *at)
{
	move(c, R2, R0);
	load(c, R0, R2, (int)at->mm);
	unsigned none = jump(c, BPF_JEQ);	/* the kernel's own */
	load(c, R2, R0, (int)at->flags);
	move(c, R0, R2);
	and(c, R0, DUMPABLE_MASK);
	add(c, R0, -DUMPABLE_BY_USER);
	unsigned may = jump(c, BPF_JEQ);
	here(c, none);
	set_wide(c, R1, 0, PERF_PRIVATE_MAGIC);
	store(c, BUFFER, AT_MAGIC, R1);
	set(c, R0, 1);
	unsigned may_not = jump(c, BPF_JNE);
	here(c, may);
	return may_not;
}

static void assemble(struct code *c, const struct perf_memory *m, bool read,
		     const struct dumpable *at)
{
	begin(c, m);
	set(c, R1, 0);
	store(c, BUFFER, AT_FILLED, R1);
	store(c, BUFFER, AT_MASK, R1);
	set_wide(c, R1, 0, PERF_MEMORY_MAGIC);
	store(c, BUFFER, AT_MAGIC, R1);
	call(c, BPF_FUNC_get_current_task_btf);
	move(c, R1, R0);
	call(c, BPF_FUNC_task_pt_regs);
	move(c, REGS, R0);
	load(c, R1, REGS, REG_SP);
	store(c, BUFFER, AT_SP, R1);
	load(c, R1, REGS, REG_IP);
	store(c, BUFFER, AT_IP, R1);
	call(c, BPF_FUNC_get_current_task_btf);
	unsigned private = ask_dumpable(c, at);
	for (unsigned r = 0; read && r < STATEMEMORY_GPRS; r++)
		read_register(c, r);
	here(c, private);
	move(c, R1, CTX);
	set_wide(c, R2, BPF_PSEUDO_MAP_FD, (uint32_t)m->events_fd);
	set_wide(c, R3, 0, BPF_F_CURRENT_CPU);
	move(c, R4, BUFFER);
	add(c, R4, AT_MAGIC);
	load(c, R5, BUFFER, AT_FILLED);
	and(c, R5, PLACES - 1);
	add(c, R5, AT_SLOTS - AT_MAGIC);
	call(c, BPF_FUNC_perf_event_output);
	finish(c);
}

/* --- loading --- */

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(enum bpf_map_type type, unsigned value_bytes, unsigned entries,
		    unsigned flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = 4;
	attr.value_size = value_bytes;
	attr.max_entries = entries;
	attr.map_flags = flags;
	return bpf(BPF_MAP_CREATE, &attr);
}

static int make_maps(struct perf_memory *m, unsigned ncpu, struct err *err)
{
	m->events_fd = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, ncpu, 0);
	m->buffer_fd = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, BUFFER_BYTES, 1, 0);
	m->switch_fd = make_map(BPF_MAP_TYPE_ARRAY, 8, 1, BPF_F_MMAPABLE);
	if (m->events_fd < 0 || m->buffer_fd < 0 || m->switch_fd < 0)
		return err_set(err, ERR_SYS, "BPF map: %s", strerror(errno));
	m->on = mmap(NULL, SWITCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m->switch_fd, 0);
	return m->on == MAP_FAILED ? err_set(err, ERR_SYS, "BPF map: mmap: %s", strerror(errno))
				   : 0;
}

struct perf_memory *perf_memory_new(bool tracepoint, bool read, unsigned ncpu, struct err *err)
{
	struct dumpable at;
	struct perf_memory *m = calloc(1, sizeof(*m));
	struct code *c = calloc(1, sizeof(*c));
	union bpf_attr attr;
	int rc = -1;

	if (m)
		*m = (struct perf_memory){ -1, -1, -1, -1, MAP_FAILED };
	if (!m || !c)
		err_set(err, ERR_SYS, "out of memory");
	else if (make_maps(m, ncpu, err) == 0 &&
		 kernel_field("task_struct", "mm", &at.mm, err) == 0 &&
		 kernel_field("mm_struct", "flags", &at.flags, err) == 0) {
		assemble(c, m, read, &at);
		memset(&attr, 0, sizeof(attr));
		attr.prog_type =
			tracepoint ? BPF_PROG_TYPE_TRACEPOINT : BPF_PROG_TYPE_PERF_EVENT;
		attr.insns = (uintptr_t)c->insn;
		attr.insn_cnt = c->n;
		/* what reads users' memory asks for it */
		attr.license = (uintptr_t)"GPL";
		m->prog_fd = bpf(BPF_PROG_LOAD, &attr);
		rc = m->prog_fd < 0 ? err_set(err, ERR_SYS, "BPF program: %s", strerror(errno))
				    : 0;
	}
	free(c);
	if (rc == 0)
		return m;
	perf_memory_free(m);
	return NULL;
}

void perf_memory_free(struct perf_memory *m)
{
	if (!m)
		return;
	const int fd[] = { m->prog_fd, m->buffer_fd, m->events_fd, m->switch_fd };

	for (unsigned i = 0; i < 4; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (m->on != MAP_FAILED)
		munmap(m->on, SWITCH_BYTES);
	free(m);
}

int perf_memory_attach(const struct perf_memory *m, int event_fd, struct err *err)
{
	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, m->prog_fd) == 0)
		return 0;
	return err_set(err, ERR_SYS, "BPF program: attaching it: %s", strerror(errno));
}

int perf_memory_output(const struct perf_memory *m, unsigned cpu, int event_fd, struct err *err)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)m->events_fd;
	attr.key = (uintptr_t)&cpu;
	attr.value = (uintptr_t)&event_fd;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0)
		return 0;
	return err_set(err, ERR_SYS, "BPF map of CPU %u: %s", cpu, strerror(errno));
}

void perf_memory_switch(struct perf_memory *m, bool on)
{
	__atomic_store_n(m->on, on, __ATOMIC_RELAXED);	/* nothing else hangs on it */
}
