/* space.h - address spaces of processes, rebuilt from the spool's events
 *
 * Malloc-backed, owned by the caller, lives as long as the Manager.  Memory is bounded:
 * processes, mappings and files beyond the limits are not entered and counted in `refused`.  Of
 * a process with too many mappings nothing is known until its next exec.
 */
#ifndef MANAGER_SAMPLES_SPACE_H
#define MANAGER_SAMPLES_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/wr.h"

struct err;
struct spaces;
struct spool_event;

struct space_file {		/* a mapped file as the kernel named it */
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	const char *path;	/* owned by the spaces */
};

struct space_run {		/* a process since it became what it is */
	/* file + 1: the program, and the one that started it; 0: not known */
	uint32_t exe, from;
	bool whole;		/* seen from its exec on */
	uint64_t time_ns;	/* the caller's: entered here it is kept with the process */
};

enum space_hit {
	SPACE_FILE,		/* file and offset are valid */
	SPACE_VDSO,
	SPACE_ANON,		/* executable memory of no file: code generated at run time */
	SPACE_NOPROCESS,	/* nothing is known about the process */
	SPACE_ELSEWHERE,	/* process 0: some process of another pid namespace */
	SPACE_NOWHERE,		/* no mapping of the process is known there */
};

struct spaces_limits {		/* 0: the default; the defaults were chosen, not measured */
	uint32_t processes;	/* 16384 */
	uint32_t mappings;	/* of all processes together, 1048576 */
	uint32_t files;		/* 65536 */
	uint64_t path_bytes;	/* of their paths, 16 MiB */
	uint32_t process_mappings;	/* of one process, 4096 */
	/* Of one user but root, 32768 and 8192; looked at by spaces_settle(), where a mapping
	 * counts once more for each 128 bytes of its file's path. */
	uint32_t user_mappings, user_processes;
	/* Whose is the process?  UINT32_MAX: not known.  NULL: users have no limits. */
	uint32_t (*owner)(uint32_t pid);
};

struct spaces_counts {
	uint32_t processes, mappings, files;
	uint64_t refused;	/* what did not fit since the spaces were made */
};

/* limits == NULL: the defaults. */
struct spaces *spaces_new(const struct spaces_limits *limits);
void spaces_free(struct spaces *s);		/* NULL is allowed */

/* Takes in an exec, mmap, fork or exit event and ignores others.  Events of process 0 are
 * ignored as well: in a pid namespace the kernel gives that number to all processes outside. */
void spaces_event(struct spaces *s, const struct spool_event *ev);
/* Where `pc` of process `pid` lies.  *file is an index for spaces_file(). */
enum space_hit spaces_find(struct spaces *s, uint32_t pid, uint64_t pc, uint32_t *file,
			   file_off *off);
struct space_mapping {
	uint64_t start, end;		/* [start, end), addresses in the process */
	file_off off;			/* of start */
	uint32_t file;			/* SPACE_MAPPING_VDSO, SPACE_MAPPING_ANON: none */
};
#define SPACE_MAPPING_VDSO UINT32_MAX
#define SPACE_MAPPING_ANON (UINT32_MAX - 1)
/* Calls f for each mapping of the process, ascending and disjoint. */
void spaces_each_mapping(const struct spaces *s, uint32_t pid,
			 void (*f)(void *ctx, const struct space_mapping *m), void *ctx);
/* The files that the process has mapped, each once, at most `max` of them; returns how many. */
uint32_t spaces_files_of(struct spaces *s, uint32_t pid, uint32_t *file, uint32_t max);
/* Calls f for each process that has the file mapped. */
void spaces_each_of(const struct spaces *s, uint32_t file, void (*f)(void *ctx, uint32_t pid),
		    void *ctx);
/* What is known of the process as a run; valid until the next event.  NULL: nothing. */
struct space_run *spaces_run(struct spaces *s, uint32_t pid);
uint32_t spaces_nfile(const struct spaces *s);
const struct space_file *spaces_file(const struct spaces *s, uint32_t file);
void spaces_counts(const struct spaces *s, struct spaces_counts *out);

/* Holds users to their limits: of who has too much the largest processes go. */
void spaces_settle(struct spaces *s);

/* The processes there are, as bytes, without what they have mapped; and, by process, that.  So
 * the Manager can stop between two spool files and go on.  Reading checks every range; on
 * failure the spaces are empty. */
void spaces_save(const struct spaces *s, struct wr *out);
int spaces_load(struct spaces *s, struct bytes b, struct err *err);
/* Calls f for each process whose row must go or be written anew since spaces_saved(): first
 * for all that go (row.p NULL; pid 0: all rows that there are).  f returns -1 to stop, which is
 * returned. */
int spaces_changes(const struct spaces *s,
		   int (*f)(void *ctx, uint32_t pid, struct bytes row, struct err *err),
		   void *ctx, struct err *err);
/* All that has reached the disk. */
void spaces_saved(struct spaces *s);
/* After spaces_load(): a process's row. */
int spaces_load_row(struct spaces *s, uint32_t pid, struct bytes row, struct err *err);
/* Now and then forgets files that no mapping refers to; all file indices change. */
void spaces_compact(struct spaces *s);

#endif
