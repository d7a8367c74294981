/* evidence.h - what recordings and profiles show, place by place, with names
 *
 * A log of `morphctl record` gives samples by program and instruction, a block profile
 * (lib/profile.h) gives counts by basic block.  Addresses are those of the original, also where
 * a generation of it ran.  What is in no file has a module of its own, whose name is in
 * brackets.
 *
 * Names come from confined jobs (`morph-edit places`) and are fit to show (lib/utf8.h).
 * Everything lives in the arena that evidence_init() is given.
 */
#ifndef MANAGER_REPORT_EVIDENCE_H
#define MANAGER_REPORT_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/digest.h"
#include "manager/report/modulefile.h"

struct err;

#define EVIDENCE_NONE UINT32_MAX

struct evidence_frame {
	const char *name, *file;	/* file "": not known */
	uint32_t line;			/* 0: not known */
};

struct evidence_function {
	vaddr entry;
	uint64_t size;			/* bytes; 0: known by its symbol alone */
	const char *name;
};

/* What shows a text escapes a path itself; what is to be UTF-8 has it as it is shown. */
struct evidence_program {
	const char *path, *shown;
};

struct evidence_module {
	const char *path, *shown;
	const char *build_id;		/* hexadecimal digits, "" if it has none */
	const char *note;		/* what could not be had of it, NULL: nothing */
	bool file;			/* else it is something in brackets */
	uint32_t nfunction;
	struct evidence_function *function;
};

struct evidence_place {
	uint32_t program;		/* in program[]; EVIDENCE_NONE: not known */
	uint32_t module;
	uint32_t function;		/* of the module; EVIDENCE_NONE: in none */
	vaddr addr, block;		/* 0: not known */
	double count;			/* 0: met as a caller alone */
	uint32_t nframe;		/* 0 only where function is EVIDENCE_NONE */
	/* innermost first; the last one is the function */
	const struct evidence_frame *frame;
};

/* Samples that are alike. */
struct evidence_stack {
	uint32_t n;			/* from 1 on */
	const uint32_t *place;		/* innermost first, then callers */
	bool cut;			/* who called the last one is not known */
	double count;
};

/* Calls that were counted. */
struct evidence_call {
	uint32_t procedure, by;		/* places: what was called, and the call */
	double count;
};

struct evidence {
	struct arena *arena;
	const char *clock;		/* NULL: nothing was added */
	bool executions;		/* counts are executions of blocks, not samples */
	uint64_t period_ns;		/* of a sample; 0: not known */
	uint64_t start_ns;		/* since 1970, of the earliest log; 0: not known */
	uint64_t length_ns;		/* of all logs together */
	uint64_t lost;			/* records */
	uint64_t damaged;		/* parts of logs that cannot be read, or were cut off */
	const char *damaged_in;		/* the logs that these are of, as in a message */
	double total;			/* sum over place[], and over stack[] */
	bool with_stacks;		/* there were pieces of stacks; else no callers */
	double cut_short;		/* samples cut off because the piece was too short */
	double guessed;			/* with a caller missing, perhaps, for want of rows */
	VEC(struct evidence_program) program;
	VEC(struct evidence_module) module;
	VEC(struct evidence_place) place;
	VEC(struct evidence_stack) stack;
	VEC(struct evidence_call) call;
};

struct evidence_source {
	struct modulefile_places at;
	const char *const *binary;	/* [nbinary] files that are looked at before a path */
	uint32_t nbinary;
	/* places are wanted of the modules of that name (rows_is_module()) alone, of others no
	 * more than their samples; NULL: of all */
	const char *module;
	bool stacks;			/* callers are wanted, where there are stacks */
	bool calls;			/* so are calls, where they were counted */
	/* of each log, this part of its time alone, from its first event on; 0: to its end */
	uint64_t since_ns, until_ns;
};

void evidence_init(struct evidence *e, struct arena *a);
/* Adds a log or a profile.  Logs and profiles, or samples and executions, do not add up: that
 * is an error, as what is neither is. */
int evidence_add(struct evidence *e, const char *path, const struct evidence_source *source,
		 struct err *err);

/* The original of a module, by its path, --binary and the store; a descriptor. */
int evidence_open(const struct evidence_module *m, const struct evidence_source *source,
		  struct err *err);
/* The same; *generation is a descriptor of what is there if that is a generation, else -1. */
int evidence_open_both(const struct evidence_module *m, const struct evidence_source *source,
		       int *generation, struct err *err);

/* The file that was mapped, a descriptor: one of --binary with its name, or the one at its
 * path, unless that is another one by now. */
int evidence_open_mapped(const struct evidence_source *source, const char *path,
			 uint64_t inode, struct err *err);

/* The indices of what has that name, entered if it is not there yet. */
uint32_t evidence_program(struct evidence *e, const char *path);
uint32_t evidence_module(struct evidence *e, const char *path, bool file);
/* The text as it may be shown, and the other way round: what shows a text itself, as tables do,
 * gets it plain. */
const char *evidence_shown(struct evidence *e, const char *text);
const char *evidence_plain(const struct evidence *e, const char *shown);
/* Samples whose stacks are cut off, where there are stacks. */
double evidence_cut(const struct evidence *e);
/* Adds a stack of one place, whose callers are not known. */
void evidence_add_alone(struct evidence *e, uint32_t place);
/* The last part of a path. */
const char *evidence_base(const char *path);
/* Its module is the program itself: who shows both need not show it twice. */
bool evidence_is_program(const struct evidence *e, const struct evidence_place *p);
/* What stands for its module where a function does: a name in brackets. */
const char *evidence_module_name(const struct evidence *e, const struct evidence_place *p);
/* The place's name: of its function, or else of the module, in brackets. */
const char *evidence_name(const struct evidence *e, const struct evidence_place *p);

#endif
