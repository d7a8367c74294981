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

struct row {
	const char *module;	/* "" where rows are not of modules */
	const char *what;	/* the program, procedure, FILE:LINE and so on */
	const char *in;		/* LINE: the procedure; INLINED: into what, "a < b"; else "" */
	vaddr entry;		/* PROCEDURE; 0: not known */
	uint64_t size;
	double count;
};

struct rows {
	enum rows_by by;
	double total;
	uint32_t n;
	struct row *at;		/* each once, most first, equal ones by module and what */
};

/* `module`: only what is in that one, by its path or file name; NULL: all.  Lives in the
 * evidence's arena. */
void rows_make(const struct evidence *e, enum rows_by by, const char *module,
	       struct rows *out);
/* Is a module meant by that name? */
bool rows_is_module(const struct evidence_module *m, const char *name);
/* Is it the same row of another evidence? */
int rows_compare(const struct row *a, const struct row *b);

#endif
