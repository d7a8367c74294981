/* bpf.c - an assembler for the kernel's own machine, and its system call; see bpf.h */
#include "monitor/bpf.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/err.h"

unsigned bpf_put(struct bpf_code *c, int op, int dst, int src, int off, int imm)
{
	assert(c->n < BPF_MAX_INSN);
	c->insn[c->n] = (struct bpf_insn){
		.code = (uint8_t)op, .dst_reg = (uint8_t)(dst & 15),
		.src_reg = (uint8_t)(src & 15), .off = (int16_t)off, .imm = imm,
	};
	return c->n++;
}

void bpf_move(struct bpf_code *c, int dst, int src)
{
	(void)bpf_put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void bpf_set(struct bpf_code *c, int dst, int imm)
{
	(void)bpf_put(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

void bpf_add(struct bpf_code *c, int dst, int imm)
{
	(void)bpf_put(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm);
}

void bpf_and(struct bpf_code *c, int dst, int imm)
{
	(void)bpf_put(c, BPF_ALU64 | BPF_AND | BPF_K, dst, 0, 0, imm);
}

void bpf_set_wide(struct bpf_code *c, int dst, int kind, uint64_t imm)
{
	(void)bpf_put(c, BPF_LD | BPF_IMM | BPF_DW, dst, kind, 0, (int)(uint32_t)imm);
	(void)bpf_put(c, 0, 0, 0, 0, (int)(uint32_t)(imm >> 32));
}

void bpf_load(struct bpf_code *c, int dst, int src, int off)
{
	(void)bpf_put(c, BPF_LDX | BPF_MEM | BPF_DW, dst, src, off, 0);
}

void bpf_store(struct bpf_code *c, int dst, int off, int src)
{
	(void)bpf_put(c, BPF_STX | BPF_MEM | BPF_DW, dst, src, off, 0);
}

void bpf_call(struct bpf_code *c, int function)
{
	(void)bpf_put(c, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

unsigned bpf_jump(struct bpf_code *c, int condition, int imm)
{
	return bpf_put(c, BPF_JMP | condition | BPF_K, R0, 0, 0, imm);
}

void bpf_here(struct bpf_code *c, unsigned jump)
{
	c->insn[jump].off = (int16_t)(c->n - jump - 1);
}

void bpf_return(struct bpf_code *c, int imm)
{
	bpf_set(c, R0, imm);
	(void)bpf_put(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* --- the system call --- */

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int bpf_map(enum bpf_map_type type, unsigned value_bytes, unsigned entries, unsigned flags,
	    struct err *err)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = 4;
	attr.value_size = value_bytes;
	attr.max_entries = entries;
	attr.map_flags = flags;
	int fd = bpf(BPF_MAP_CREATE, &attr);
	if (fd < 0)
		return err_set(err, ERR_SYS, "BPF map: %s", strerror(errno));
	return fd;
}

int bpf_program(const struct bpf_code *c, enum bpf_prog_type type, struct err *err)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uintptr_t)c->insn;
	attr.insn_cnt = c->n;
	/* what reads users' memory asks for it */
	attr.license = (uintptr_t)"GPL";
	int fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return err_set(err, ERR_SYS, "BPF program: %s", strerror(errno));
	return fd;
}

int bpf_attach(int program, int event_fd, struct err *err)
{
	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, program) == 0)
		return 0;
	return err_set(err, ERR_SYS, "BPF program: attaching it: %s", strerror(errno));
}

int bpf_trace(int program, const char *tracepoint, struct err *err)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)tracepoint;
	attr.raw_tracepoint.prog_fd = (uint32_t)program;
	int fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	if (fd < 0)
		return err_set(err, ERR_SYS, "BPF program: running it at %s: %s", tracepoint,
			       strerror(errno));
	return fd;
}

int bpf_lead_out(int map, unsigned cpu, int event_fd, struct err *err)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&cpu;
	attr.value = (uintptr_t)&event_fd;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0)
		return 0;
	return err_set(err, ERR_SYS, "BPF map of CPU %u: %s", cpu, strerror(errno));
}

/* --- a switch --- */

enum { SWITCH_BYTES = 4096 };

int bpf_switch_new(struct bpf_switch *s, struct err *err)
{
	s->on = NULL;
	s->fd = bpf_map(BPF_MAP_TYPE_ARRAY, 8, 1, BPF_F_MMAPABLE, err);
	if (s->fd < 0)
		return -1;
	void *p = mmap(NULL, SWITCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (p == MAP_FAILED)
		return err_set(err, ERR_SYS, "BPF map: mmap: %s", strerror(errno));
	s->on = p;
	return 0;
}

void bpf_switch_free(struct bpf_switch *s)
{
	if (s->on)
		munmap(s->on, SWITCH_BYTES);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct bpf_switch)BPF_SWITCH_NONE;
}

void bpf_switch(struct bpf_switch *s, uint64_t to)
{
	__atomic_store_n(s->on, to, __ATOMIC_RELAXED);	/* nothing else hangs on it */
}

void bpf_switch_read(struct bpf_code *c, const struct bpf_switch *s)
{
	bpf_set_wide(c, R1, BPF_PSEUDO_MAP_VALUE, (uint32_t)s->fd);
	bpf_load(c, R0, R1, 0);
}

unsigned bpf_switched_off(struct bpf_code *c, const struct bpf_switch *s)
{
	bpf_switch_read(c, s);
	return bpf_jump(c, BPF_JEQ, 0);
}
