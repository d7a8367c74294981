/* statesample.h - a stream of samples that carry the state of the program
 *
 * `morph-edit interpret` reads it.  A sample has the address at which a task was about to run,
 * its general registers, its flags and, if wanted, pieces of its stack and memory.  These are
 * the user's data: the stream goes from one process to another and never to a disk.
 * Little-endian, without gaps:
 *
 *   "MSTATE02"
 *   record   u32 size of the record | u32 flags = 0 | u64 pc | u64 bias | u64 rflags
 *            | u64 gpr[16] | u32 stack_bytes | u32 memory_bytes
 *            | stack_bytes of the stack from rsp upwards | memory_bytes as lib/statememory.h
 *            says
 *
 * pc is the run-time address of the next instruction; bias is what the loader added to the
 * addresses of the module that holds it; gpr is in encoding order (rax rcx rdx rbx rsp rbp rsi
 * rdi r8..r15).
 */
#ifndef LIB_STATESAMPLE_H
#define LIB_STATESAMPLE_H

#include "lib/rd.h"
#include "lib/statememory.h"
#include "lib/wr.h"

struct err;

enum {
	STATESAMPLE_HEADER = 8,		/* bytes */
	STATESAMPLE_FIXED = 168,	/* of a record without its stack */
	STATESAMPLE_STACK_MAX = 65528,	/* what the kernel gives at most */
	STATESAMPLE_GPRS = 16,
};

struct statesample {
	uint64_t pc, bias, rflags;
	uint64_t gpr[STATESAMPLE_GPRS];
	struct bytes stack;		/* from gpr[4] on; n == 0: none */
	struct bytes memory;		/* as lib/statememory.h says; n == 0: none */
};

void statesample_write_header(struct wr *out);
/* s->stack.n is at most STATESAMPLE_STACK_MAX, which is asserted. */
void statesample_write(const struct statesample *s, struct wr *out);

struct statesample_reader {
	struct rd rd;
	uint64_t nread;			/* records so far */
};

/* -1 when it is no such stream.  `stream` must live as long as the reader and its samples. */
int statesample_open(struct bytes stream, struct statesample_reader *out, struct err *err);
/* 1: *out filled, its stack points into the stream; 0: the end; -1: malformed or cut short. */
int statesample_read(struct statesample_reader *r, struct statesample *out, struct err *err);

#endif
