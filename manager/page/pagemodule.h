/* pagemodule.h - what a page shows of a module
 *
 * It comes from a confined job (`morph-edit picture`, editor/annotate/picture.h has the form),
 * which may have been taken over by a hostile program: it can lie about the module, but counts
 * are numbers, and texts are escaped when they are shown (html.h).
 */
#ifndef MANAGER_PAGE_PAGEMODULE_H
#define MANAGER_PAGE_PAGEMODULE_H

#include <stdint.h>

#include "lib/addr.h"
#include "lib/arena.h"
#include "lib/rd.h"

struct err;

enum { PAGE_LINE = 64, PAGE_PAGE = 4096 };

enum pagemodule_confidence { PAGE_LOW, PAGE_MEDIUM, PAGE_HIGH, NPAGE_CONFIDENCE };
extern const char *const pagemodule_confidence_name[NPAGE_CONFIDENCE];

enum pagemodule_when { PAGE_BEFORE, PAGE_AFTER, NPAGE_WHEN };

struct pagemodule_block {
	vaddr addr, image;		/* image 0: not known, or the block has none */
	uint32_t size, ninsn;
	double samples, executions, cycles, best;
	enum pagemodule_confidence confidence;
	uint32_t insn;			/* its first one in fn->insn */
};

struct pagemodule_insn {
	vaddr addr, culprit;		/* culprit 0: none */
	double samples, executions, cycles, best;
	const char *why, *text, *source;	/* "": not known */
};

struct pagemodule_edge {
	vaddr from, to;
	const char *kind;
	double count;
};

struct pagemodule_cause {
	const char *name;
	double low, high;		/* percent */
};

struct pagemodule_fn {
	vaddr entry;
	const char *name;		/* set by who knows it */
	double samples, entries;
	bool counted;			/* else cycles are known up to a factor */
	VEC(struct pagemodule_cause) cause;
	VEC(struct pagemodule_block) block;	/* ascending by addr */
	VEC(struct pagemodule_insn) insn;	/* likewise */
	VEC(struct pagemodule_edge) edge;
};

struct pagemodule_heat {
	vaddr line;			/* a multiple of PAGE_LINE */
	double count;
};

struct pagemodule_area {
	const char *name;		/* "text", "hot", "fluff" */
	vaddr addr;
	uint64_t size;
};

struct pagemodule {
	const char *path;
	const char *note;		/* why there is no other layout; NULL: there is one */
	VEC(struct pagemodule_area) area;
	VEC(struct pagemodule_heat) heat[NPAGE_WHEN];	/* ascending, each line once */
	VEC(struct pagemodule_fn) fn;
};

/* Fills all but path and names, in the arena; `text` is changed. */
int pagemodule_read(char *text, struct arena *a, struct pagemodule *out, struct err *err);

struct pagemodule_fn *pagemodule_fn_at(const struct pagemodule *m, vaddr entry);
/* NULL: none begins there. */
struct pagemodule_block *pagemodule_block_at(const struct pagemodule_fn *fn, vaddr addr);
struct pagemodule_insn *pagemodule_insn_at(const struct pagemodule_fn *fn, vaddr addr);
const struct pagemodule_area *pagemodule_area(const struct pagemodule *m, const char *name);

#endif
