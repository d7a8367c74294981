/* space.h - address spaces of processes, rebuilt from the spool's events
 *
 * Malloc-backed, owned by the caller, lives as long as the Manager.  Memory is bounded:
 * processes, mappings and files beyond the limits are not entered and counted in `refused`.
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
	SPACE_ANON,		/* no mapping of a file: code generated at run time */
	SPACE_NOPROCESS,	/* nothing is known about the process */
	SPACE_ELSEWHERE,	/* process 0: some process of another pid namespace */
};

struct spaces_limits {		/* 0: the default; the defaults were chosen, not measured */
	uint32_t processes;	/* 16384 */
	uint32_t mappings;	/* of all processes together, 1048576 */
	uint32_t files;		/* 65536 */
};

struct spaces_counts {
	uint32_t processes, mappings, files;
	uint64_t refused;	/* events that did not fit since the spaces were made */
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
/* The files that the process has mapped, each once, at most `max` of them; returns how many. */
uint32_t spaces_files_of(struct spaces *s, uint32_t pid, uint32_t *file, uint32_t max);
/* What is known of the process as a run; valid until the next event.  NULL: nothing. */
struct space_run *spaces_run(struct spaces *s, uint32_t pid);
uint32_t spaces_nfile(const struct spaces *s);
const struct space_file *spaces_file(const struct spaces *s, uint32_t file);
void spaces_counts(const struct spaces *s, struct spaces_counts *out);

/* Everything that is mapped now, as bytes, and back: the Manager can stop between two spool
 * files and go on.  Reading checks every range; on failure the spaces are empty. */
void spaces_save(const struct spaces *s, struct wr *out);
int spaces_load(struct spaces *s, struct bytes b, struct err *err);
/* Forgets files that no mapping refers to; all file indices change. */
void spaces_compact(struct spaces *s);

#endif
