/* bpf.h - programs for the kernel, put together here, and what they are loaded with
 *
 * They need no compiler, no library and no file.
 */
#ifndef MONITOR_BPF_H
#define MONITOR_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

enum { BPF_MAX_INSN = 2048 };

struct bpf_code {
	struct bpf_insn insn[BPF_MAX_INSN];
	unsigned n;
};

/* Registers: of a call, R0 its result, R1 to R5 its arguments, which it changes; FRAME is above
 * the stack. */
enum { R0 = BPF_REG_0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FRAME };

/* Any instruction; returns its number. */
unsigned bpf_put(struct bpf_code *c, int op, int dst, int src, int off, int imm);
void bpf_move(struct bpf_code *c, int dst, int src);
void bpf_set(struct bpf_code *c, int dst, int imm);
void bpf_add(struct bpf_code *c, int dst, int imm);
void bpf_and(struct bpf_code *c, int dst, int imm);
/* A constant, or with a `kind` what the kernel makes of it: a map, a place in one. */
void bpf_set_wide(struct bpf_code *c, int dst, int kind, uint64_t imm);
void bpf_load(struct bpf_code *c, int dst, int src, int off);
void bpf_store(struct bpf_code *c, int dst, int off, int src);
void bpf_call(struct bpf_code *c, int function);
/* A jump if R0 is (BPF_JEQ) or is not (BPF_JNE) `imm`, to be led to bpf_here() later. */
unsigned bpf_jump(struct bpf_code *c, int condition, int imm);
void bpf_here(struct bpf_code *c, unsigned jump);
void bpf_return(struct bpf_code *c, int imm);

/* Descriptors, or -1. */
int bpf_map(enum bpf_map_type type, unsigned value_bytes, unsigned entries, unsigned flags,
	    struct err *err);
int bpf_program(const struct bpf_code *c, enum bpf_prog_type type, struct err *err);
/* Runs the program with an event; of a tracepoint, one event is for all CPUs. */
int bpf_attach(int program, int event_fd, struct err *err);
/* Runs a program of BPF_PROG_TYPE_RAW_TRACEPOINT where the kernel meets that tracepoint, until
 * the descriptor that it returns is closed. */
int bpf_trace(int program, const char *tracepoint, struct err *err);
/* The event of one CPU that programs write to by the map, of BPF_MAP_TYPE_PERF_EVENT_ARRAY. */
int bpf_lead_out(int map, unsigned cpu, int event_fd, struct err *err);

/* A switch in memory that programs look at, at first 0, which is off. */
struct bpf_switch {
	int fd;
	uint64_t *on;
};
#define BPF_SWITCH_NONE { -1, NULL }
int bpf_switch_new(struct bpf_switch *s, struct err *err);	/* -1: to be freed, too */
void bpf_switch_free(struct bpf_switch *s);
void bpf_switch(struct bpf_switch *s, uint64_t to);	/* needs no privileges */
/* R0: what it is switched to.  Changes R1. */
void bpf_switch_read(struct bpf_code *c, const struct bpf_switch *s);
/* Besides returns the jump of what is off. */
unsigned bpf_switched_off(struct bpf_code *c, const struct bpf_switch *s);

#endif
