/* spool.h - writes and reads the spool: files of events, from the Monitor to the Manager
 *
 * A spool is a directory of files NNNNNNNNNNNNNNNN.spool (16 hex digits, ascending), each a
 * versioned header and blocks; every block carries its length and a CRC-32, begins with
 * absolute values and can be read alone, so damage costs one block.  Byte layout:
 * doc/formats.md.
 * At most 8 bytes a sample on average; samples that bring the state of their task are larger,
 * and are kept in memory or in a log that somebody asked for, never in the spool directory.
 */
#ifndef MONITOR_SPOOL_H
#define MONITOR_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/rd.h"

struct err;

enum {
	SPOOL_PATH_MAX = 4095,		/* longest path of a mapping: PATH_MAX, less its NUL */
	SPOOL_COMM_MAX = 15,
	SPOOL_NGPR = 16,
	SPOOL_STACK_MAX = 32768,	/* chosen: samples of the daemon have far less */
	SPOOL_PROCEDURE_MAX = 255,	/* longest name of the kernel's, without its NUL */
	SPOOL_BRANCHES_MAX = 64,	/* of one branch stack; processors have 16 or 32 */
	SPOOL_BRANCH_BYTES = 24,
	SPOOL_BOOT_ID_BYTES = 16,
	/* more than a file of a spool or the states of a drain have; logs have no limit */
	SPOOL_FILE_MAX = 8 << 20,
};

/* A taken branch, as a branch stack has it. */
struct spool_branch {
	uint64_t from, to;
	unsigned flags;
};

enum {				/* its flags */
	SPOOL_BRANCH_MISPREDICTED = 1,
	SPOOL_BRANCH_IN_TX = 2,		/* in a transaction, which may have been given up */
	SPOOL_BRANCH_ABORTED = 4,	/* no branch: a transaction was given up here */
	SPOOL_BRANCH_WRONG_PATH = 8,	/* only speculated: it did not happen */
};

/* What a task in user mode held when it was sampled: its own data, so never kept for long. */
struct spool_state {
	uint64_t rflags;
	/* by their numbers in machine code: rax rcx rdx rbx rsp ... */
	uint64_t gpr[SPOOL_NGPR];
	uint32_t stack_bytes;		/* from rsp upwards, at most SPOOL_STACK_MAX */
	const uint8_t *stack;		/* reader-owned, valid until the next spool_read() */
	uint32_t memory_bytes;		/* as lib/statememory.h says; 0: none came */
	const uint8_t *memory;
};

enum spool_kind {
	SPOOL_SAMPLE = 1,
	SPOOL_EXEC,	/* comm change by exec: the address space of pid begins anew */
	SPOOL_MMAP,	/* executable file mapping */
	SPOOL_FORK,
	SPOOL_EXIT,
	SPOOL_LOST,	/* records that the kernel's ring had no room for */
	SPOOL_THROTTLE,	/* sampling was throttled; lost = 1 */
	SPOOL_GAP,	/* a file was dropped for space: lost = samples in it */
	SPOOL_KILLED,	/* written no more: a signal, whoever sent it, kills pid */
	SPOOL_CRASH,	/* a fault kills pid; its mappings are still there */
	SPOOL_BRANCHES,	/* the last branches that a task took in user mode */
};

struct spool_event {
	enum spool_kind kind;
	uint64_t time_ns;	/* CLOCK_MONOTONIC as perf gives it */
	uint32_t pid, tid;
	union {
		struct {
			uint64_t pc;
			/* interrupted in kernel mode; pc is the user pc, 0 if none */
			bool kernel;
			/* in kernel mode only in logs of stacks: what it went in with */
			bool has_state;
			struct spool_state state;
			/* of the kernel, where that is known, else NULL; the reader's, valid
			 * until the next spool_read() */
			const char *procedure;
			/* written nowhere (monitor/kernelnames.h); 0: not known */
			uint64_t kernel_pc;
		} sample;
		struct {
			uint64_t addr, len, pgoff;	/* bytes */
			uint32_t dev_major, dev_minor;
			uint64_t inode, inode_generation;
			/* as the kernel gives it; reader-owned, valid until the next
			 * spool_read() */
			const char *path;
		} mmap;
		struct {
			uint32_t parent_pid;	/* pid == parent_pid: a new thread */
		} fork;
		struct {
			char comm[16];
		} exec;
		uint64_t lost;
		uint32_t signal;	/* SPOOL_KILLED */
		struct {
			uint64_t pc;		/* of the instruction with the fault */
			uint32_t signal, uid;	/* who ran it, his real one */
		} crash;
		struct {
			uint32_t n;		/* at most SPOOL_BRANCHES_MAX */
			/* newest first, as the kernel has them (struct perf_branch_entry); the
			 * reader's, valid until the next spool_read() */
			const uint8_t *entry;
		} branches;
	};
};

/* Branch i of the event's branch stack, 0 the newest. */
struct spool_branch spool_branch_at(const struct spool_event *ev, uint32_t i);
/* Appends one in the kernel's form. */
struct wr;
void spool_branch_put(struct wr *out, const struct spool_branch *b);

struct spool_counts {		/* since the writer was created */
	uint64_t samples, events, bytes;
	uint64_t states;		/* of the samples, those with their task's state */
	uint64_t stacks;		/* branch stacks; they are no samples */
	uint64_t files_dropped, samples_dropped;	/* for space */
};

/* Writer: buffers a block, rotates files, drops the oldest whole file when max_bytes is passed.
 * `dirfd` is the spool directory; the caller keeps it.  `clock` names the sampling clock. */
struct spool_writer;
struct spool_writer *spool_writer_new(int dirfd, const char *clock, uint64_t period_ns,
				      uint64_t max_bytes, struct err *err);
/* The same into one file that the caller opened for reading and writing, empty, and keeps; no
 * rotation, no limit. */
struct spool_writer *spool_writer_new_file(int fd, const char *clock, uint64_t period_ns,
					   struct err *err);
/* One event, in time order (an earlier time is taken as the last one).  Paths are cut at
 * SPOOL_PATH_MAX.  Times are kept in units of 65,536 ns, rounded down.  Fails only when the
 * disk does; the event is then counted as dropped and later ones may succeed. */
int spool_write(struct spool_writer *w, const struct spool_event *ev, struct err *err);
/* Ends the current block and writes it; `rotate` also ends the file, so that the reader sees
 * all. */
int spool_flush(struct spool_writer *w, bool rotate, struct err *err);
void spool_writer_counts(const struct spool_writer *w, struct spool_counts *out);
void spool_writer_free(struct spool_writer *w);		/* does not flush; NULL allowed */

/* Reader of one file, from its beginning to where it ends now; the position of `fd` is not
 * used, and the caller keeps it open as long as the reader.  Fails on what is no spool file or
 * of a newer version.  Damaged blocks are skipped and counted. */
struct spool_reader;
struct spool_reader *spool_reader_open(int fd, struct err *err);
/* 1: *ev filled; 0: end of file; never fails on damaged content. */
int spool_read(struct spool_reader *r, struct spool_event *ev);
uint64_t spool_reader_bad_blocks(const struct spool_reader *r);
const char *spool_reader_clock(const struct spool_reader *r);
uint64_t spool_reader_period_ns(const struct spool_reader *r);
/* The time of its first event, by both clocks, and the boot of the machine in which it was
 * written: CLOCK_MONOTONIC begins anew in each boot. */
uint64_t spool_reader_start_ns(const struct spool_reader *r);		/* CLOCK_MONOTONIC */
uint64_t spool_reader_start_wall_ns(const struct spool_reader *r);	/* CLOCK_REALTIME */
/* SPOOL_BOOT_ID_BYTES; zero: unknown */
const uint8_t *spool_reader_boot_id(const struct spool_reader *r);
void spool_boot_id(uint8_t *out);	/* of this boot, likewise */
void spool_reader_free(struct spool_reader *r);		/* NULL is allowed */

/* The number of a spool file's name, or -1: not a spool file's name. */
int spool_file_number(const char *name, uint64_t *number);

/* A log of `morphctl record` is one spool file. */

#endif
