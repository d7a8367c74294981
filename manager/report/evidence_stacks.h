/* evidence_stacks.h - the callers of a log's samples, by confined jobs
 *
 *   samples with pieces of stacks, some MiB at a time
 *   files that words of them point into  --morph-edit unwind-rows, each once-->  their rows
 *   both                                 --morph-edit unwind-->                  addresses
 *   address                              --mappings of the process then-->       file, offset
 */
#ifndef MANAGER_REPORT_EVIDENCE_STACKS_H
#define MANAGER_REPORT_EVIDENCE_STACKS_H

#include "lib/callstack.h"
#include "manager/report/evidence.h"
#include "manager/samples/space.h"

struct spool_event;
struct stackwalker;

struct stackwalker_place {
	enum space_hit hit;
	uint32_t file;			/* SPACE_FILE: of the spaces */
	file_off off;
};

struct stackwalker_stack {
	uint32_t program;		/* as it was given */
	bool kernel;			/* it was in the kernel, called by place[0] */
	uint64_t procedure;		/* of the kernel's; as it was given */
	enum callstack_end end;
	bool guessed;			/* a caller may be missing between others */
	uint32_t n;
	const struct stackwalker_place *place;	/* innermost first */
};

struct stackwalker_use {
	const struct evidence_source *source;
	struct spaces *spaces;
	bool this_boot;			/* the log is of it: its vdso is ours */
	void (*told)(void *ctx, const struct stackwalker_stack *s);
	void *ctx;
};

/* Lives in `a`, but for what stackwalker_free() frees. */
struct stackwalker *stackwalker_new(const struct stackwalker_use *use, struct arena *a);
/* Takes in a sample that has a piece of its stack; tells of it, and of those before it, now or
 * at the end.  -1: a job failed, other than by what is in a module. */
int stackwalker_add(struct stackwalker *w, const struct spool_event *ev, uint32_t program,
		    uint64_t procedure, struct err *err);
int stackwalker_end(struct stackwalker *w, struct err *err);
/* Why the file's rows could not be had, NULL: they could, or nobody asked. */
const char *stackwalker_note(const struct stackwalker *w, uint32_t file);
void stackwalker_free(struct stackwalker *w);	/* NULL is allowed */

#endif
