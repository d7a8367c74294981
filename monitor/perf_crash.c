/* perf_crash.c - which deliveries of signals are faults that kill; put together by bpf.h
 *
 * Tested by tests/e2e/crash.sh and tests/e2e/hostile/crashes.sh.
 */
#include "monitor/perf_crash.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/err.h"
#include "monitor/bpf.h"

struct perf_crash {
	int prog_fd, events_fd;
};

/* In the tracepoint's data; the kernel's tools rely on them too.  In struct pt_regs. */
enum { AT_SIGNAL = 8, AT_CODE = 16, AT_HANDLER = 24 };
enum { REG_ORIG_AX = 120, REG_IP = 128 };

/* What is written, below FRAME. */
enum { OUT = -PERF_CRASH_BYTES, OUT_IP = OUT + 8, OUT_SIGNAL = OUT + 16, OUT_CODE = OUT + 20,
       OUT_UID = OUT + 24 };

enum { CTX = R6 };

static void load_word(struct bpf_code *c, int dst, int src, int off)
{
	(void)bpf_put(c, BPF_LDX | BPF_MEM | BPF_W, dst, src, off, 0);
}

static void store_word(struct bpf_code *c, int off, int src)
{
	(void)bpf_put(c, BPF_STX | BPF_MEM | BPF_W, FRAME, src, off, 0);
}

static void assemble(struct bpf_code *c, int events_fd)
{
	static const int fault[] = { 4, 5, 7, 8, 11 };	/* ILL TRAP BUS FPE SEGV */
	enum { NFAULT = sizeof(fault) / sizeof(fault[0]) };
	unsigned is[NFAULT], no[4];

	bpf_move(c, CTX, R1);
	load_word(c, R0, CTX, AT_SIGNAL);
	for (int i = 0; i < NFAULT; i++)
		is[i] = bpf_jump(c, BPF_JEQ, fault[i]);
	bpf_return(c, 1);
	for (int i = 0; i < NFAULT; i++)
		bpf_here(c, is[i]);
	store_word(c, OUT_SIGNAL, R0);
	bpf_load(c, R0, CTX, AT_HANDLER);
	no[0] = bpf_jump(c, BPF_JNE, 0);
	load_word(c, R0, CTX, AT_CODE);
	store_word(c, OUT_CODE, R0);
	no[1] = bpf_put(c, BPF_JMP32 | BPF_JSLE | BPF_K, R0, 0, 0, 0);
	bpf_call(c, BPF_FUNC_get_current_task_btf);
	bpf_move(c, R1, R0);
	bpf_call(c, BPF_FUNC_task_pt_regs);
	bpf_load(c, R1, R0, REG_IP);
	bpf_store(c, FRAME, OUT_IP, R1);
	bpf_load(c, R2, R0, REG_ORIG_AX);
	bpf_move(c, R0, R2);
	no[2] = bpf_jump(c, BPF_JNE, -1);		/* the number of a system call */
	bpf_call(c, BPF_FUNC_get_current_uid_gid);
	store_word(c, OUT_UID, R0);
	bpf_set(c, R0, 0);
	store_word(c, OUT_UID + 4, R0);
	bpf_set_wide(c, R1, 0, PERF_CRASH_MAGIC);
	bpf_store(c, FRAME, OUT, R1);
	bpf_move(c, R1, CTX);
	bpf_set_wide(c, R2, BPF_PSEUDO_MAP_FD, (uint32_t)events_fd);
	bpf_set_wide(c, R3, 0, BPF_F_CURRENT_CPU);
	bpf_move(c, R4, FRAME);
	bpf_add(c, R4, OUT);
	bpf_set(c, R5, PERF_CRASH_BYTES);
	bpf_call(c, BPF_FUNC_perf_event_output);
	for (int i = 0; i < 3; i++)
		bpf_here(c, no[i]);
	bpf_return(c, 1);
}

struct perf_crash *perf_crash_new(unsigned ncpu, struct err *err)
{
	struct perf_crash *p = calloc(1, sizeof(*p));
	struct bpf_code *c = calloc(1, sizeof(*c));

	if (p)
		*p = (struct perf_crash){ -1, -1 };
	if (!p || !c) {
		err_set(err, ERR_SYS, "out of memory");
	} else {
		p->events_fd = bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, ncpu, 0, err);
		if (p->events_fd >= 0) {
			assemble(c, p->events_fd);
			p->prog_fd = bpf_program(c, BPF_PROG_TYPE_TRACEPOINT, err);
		}
	}
	free(c);
	if (p && p->prog_fd >= 0)
		return p;
	perf_crash_free(p);
	return NULL;
}

void perf_crash_free(struct perf_crash *p)
{
	if (!p)
		return;
	if (p->prog_fd >= 0)
		close(p->prog_fd);
	if (p->events_fd >= 0)
		close(p->events_fd);
	free(p);
}

int perf_crash_attach(const struct perf_crash *p, int event_fd, struct err *err)
{
	return bpf_attach(p->prog_fd, event_fd, err);
}

int perf_crash_output(const struct perf_crash *p, unsigned cpu, int event_fd, struct err *err)
{
	return bpf_lead_out(p->events_fd, cpu, event_fd, err);
}
