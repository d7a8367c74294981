/* rows.h - evidence added up: by machine, program, module, procedure, source line, or where the
 * code of inlined functions is from */
#ifndef MANAGER_REPORT_ROWS_H
#define MANAGER_REPORT_ROWS_H

#include "manager/report/evidence.h"

enum rows_by {
	ROWS_MACHINE,		/* programs and libraries, kernel, and the other ones */
	ROWS_PROGRAM,
	ROWS_MODULE,
	ROWS_PROCEDURE,
	ROWS_LINE,
	ROWS_INLINED,		/* by the function that the code was written in */
	NROWS_BY
};
extern const char *const rows_by_name[NROWS_BY + 1];	/* ends with NULL */

struct row {			/* texts are plain */
	const char *module;	/* "" where rows are not of modules */
	const char *what;	/* the program, procedure, FILE:LINE and so on */
	const char *in;		/* LINE: the procedure; INLINED: into what, "a < b"; else "" */
	vaddr entry;		/* PROCEDURE; 0: not known */
	uint64_t size;
	double count;
	double callees;		/* what the code that it called has as well; rows.callees */
	uint32_t key;		/* of rows.c */
};

struct rows {
	enum rows_by by;
	bool callees;		/* stacks tell, and rows are of modules or smaller */
	double total;
	uint32_t n;
	struct row *at;		/* each once, most first, equal ones by module and what */
	const uint32_t *of_place;	/* row.key by place; UINT32_MAX: none; NULL: !callees */
};

/* `module`: only what is in that one, by its path or file name; NULL: all.  Lives in the
 * evidence's arena. */
void rows_make(const struct evidence *e, enum rows_by by, const char *module,
	       struct rows *out);
/* Sorts by `callees` instead, most first. */
void rows_sort_by_callees(struct rows *rows);
/* `callees` of all rows from `from` on together. */
double rows_callees_of_rest(const struct evidence *e, const struct rows *rows, uint32_t from);
/* Is a module meant by that name? */
bool rows_is_module(const struct evidence_module *m, const char *name);
/* Is it the same row of another evidence? */
int rows_compare(const struct row *a, const struct row *b);

#endif
