/* callstack.h - what `morph-edit unwind` gets and gives: samples with pieces of their stacks,
 * and the places on them
 *
 * Samples are, like those of lib/statesample.h, the users' data: the stream goes from one
 * process to another and never to a disk.  Little-endian, without gaps:
 *
 *   "MCALLS01", then records, each a u32 kind and
 *   space (1)    u32 n | n of: u64 start | u64 end | u64 offset in the file | u32 table
 *   sample (2)   u32 space | u32 bits | u64 pc | u64 gpr[16] | u32 bytes | the stack from rsp
 *                upwards
 *
 * A space is the mappings of a process, ascending and disjoint.  Spaces are numbered from 0 in
 * their order, and stand in front of their samples.  `table` says which of the tables of unwind
 * rows is the mapped file's, in their order; CALLSTACK_NO_TABLE: none.  Bit 1 of a sample says
 * that it was taken in the kernel, and that pc and registers are those that it went in with.
 *
 * The answer has for each sample, in the same order:
 *
 *   u32 end (enum callstack_end) | u32 guessed |
 *   u32 n | n addresses, u64, innermost first
 *
 * The address of a caller is inside its call, one below the return address.
 */
#ifndef LIB_CALLSTACK_H
#define LIB_CALLSTACK_H

#include <stdbool.h>

#include "lib/rd.h"
#include "lib/wr.h"

struct err;

#define CALLSTACK_NO_TABLE UINT32_MAX

enum {
	CALLSTACK_HEADER = 8,		/* bytes */
	CALLSTACK_MAPPING = 28,		/* of a mapping in a space */
	CALLSTACK_GPRS = 16,
	CALLSTACK_DEPTH_MAX = 127,	/* frames of a stack; as of perf, chosen */
};

enum callstack_end {
	CALLSTACK_WHOLE,	/* up to code that nobody called */
	CALLSTACK_SHORT,	/* what it needs next is not in the piece */
	CALLSTACK_NO_ROW,	/* code of which is not known how to go on */
	CALLSTACK_DEEP,		/* more frames than CALLSTACK_DEPTH_MAX */
	NCALLSTACK_END
};

struct callstack_mapping {
	uint64_t start, end, off;
	uint32_t table;
};

struct callstack_sample {
	uint32_t space;
	bool kernel;
	uint64_t pc;
	uint64_t gpr[CALLSTACK_GPRS];	/* in encoding order: rax rcx rdx rbx rsp ... */
	struct bytes stack;		/* from gpr[4] on */
};

/* --- the question --- */

void callstack_write_header(struct wr *out);
void callstack_write_space(const struct callstack_mapping *m, uint32_t n, struct wr *out);
void callstack_write_sample(const struct callstack_sample *s, struct wr *out);

struct callstack_reader {
	struct rd rd;
	uint32_t nspace;
	uint64_t nread;			/* samples so far */
};

enum callstack_record { CALLSTACK_END, CALLSTACK_SPACE, CALLSTACK_SAMPLE };

/* -1 when it is no such stream, which must live as long as the reader. */
int callstack_open(struct bytes stream, struct callstack_reader *out, struct err *err);
/* One of enum callstack_record; -1: malformed or cut short.  Of a space, *space becomes its
 * mappings, checked, for callstack_mapping_at(). */
int callstack_read(struct callstack_reader *r, struct bytes *space,
		   struct callstack_sample *sample, struct err *err);
/* The mapping that holds addr; false: none. */
bool callstack_mapping_at(struct bytes space, uint64_t addr, struct callstack_mapping *out);

/* --- the answer --- */

struct callstack {
	enum callstack_end end;
	/* a frame of code without a row that may not have set up its frame pointer: its caller
	 * may be missing */
	bool guessed;
	uint32_t n;			/* 1 to CALLSTACK_DEPTH_MAX */
	uint64_t addr[CALLSTACK_DEPTH_MAX];
};

void callstack_write(const struct callstack *c, struct wr *out);
/* The next one; false: there is none, or it is malformed, and *r is bad. */
bool callstack_take(struct rd *r, struct callstack *out);

#endif
