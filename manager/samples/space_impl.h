/* space_impl.h - inside the address spaces: what space.c and space_save.c share */
#ifndef MANAGER_SAMPLES_SPACE_IMPL_H
#define MANAGER_SAMPLES_SPACE_IMPL_H

#include "manager/samples/mapping.h"
#include "manager/samples/space.h"

/* mapping.file; files from FILE_FIRST.  FILE_NONE is never entered: it only cuts. */
enum { FILE_ANON = 0, FILE_VDSO = 1, FILE_FIRST = 2 };
#define FILE_NONE UINT32_MAX

struct process {
	uint32_t pid;
	uint32_t threads;	/* seen to begin and not to end, besides the first one */
	uint32_t uid;		/* if `asked` */
	bool used;
	bool headless;		/* its first thread has ended, others have not */
	bool asked;
	bool over;		/* had too many mappings; nothing is known till its exec */
	bool dirty, saved;	/* its row must be written; there is one */
	struct space_run run;
	struct mappings *map;
};

struct spaces {
	struct spaces_limits limit;
	struct process *process;
	uint32_t nprocess, process_cap;
	uint64_t nmapping;
	struct space_file *file;
	uint32_t nfile, file_cap;
	uint32_t nfile_compact;		/* after the last spaces_compact() */
	uint32_t round;			/* of it */
	uint64_t path_bytes;
	uint32_t *file_hash;		/* index + 1; file_cap * 2 of them */
	uint64_t refused;
	bool all_alive;			/* there is none to forget: a sweep has looked */
	bool anew;			/* rows there may be are not ours */
	uint32_t *gone, ngone, gone_cap;	/* processes whose row must go */
};

/* As empty as new ones, and `anew`. */
void space_start_empty(struct spaces *s);
void space_clear(struct spaces *s);
/* The process's slot, or the free one where it would go. */
struct process *space_slot(const struct spaces *s, uint32_t pid);
/* The process, entered if it is new; NULL (and counted) when there is no room. */
struct process *space_enter(struct spaces *s, uint32_t pid);
/* -1 (and counted) when there is no room. */
int space_file_enter(struct spaces *s, const struct space_file *f, uint32_t *out);
/* Of all files, anew. */
void space_hash_files(struct spaces *s);
/* Enters a mapping; what does not fit or is no range is counted. */
void space_map(struct spaces *s, uint32_t pid, const struct mapping *m);

#endif
