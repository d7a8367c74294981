/* boltlines.h - the lines of llvm-bolt's profiles, taken apart; internal to the exchange */
#ifndef EDITOR_EXCHANGE_BOLTLINES_H
#define EDITOR_EXCHANGE_BOLTLINES_H

#include <stdbool.h>

#include "editor/exchange/boltnames.h"
#include "lib/arena.h"

struct err;

enum boltline_kind {
	BOLTLINE_EDGE,		/* fdata: from an instruction to another, taken or not */
	BOLTLINE_BRANCH,	/* pre-aggregated: a taken branch */
	BOLTLINE_RUN,		/* likewise: from `from` to the branch at `to` */
	BOLTLINE_SAMPLE,	/* at `from` */
};

struct boltline {
	enum boltline_kind kind;
	bool from_elsewhere;	/* an entry from outside; `from` is 0 */
	vaddr from, to;
	uint64_t count;
};

struct boltlines {
	VEC(struct boltline) line;
	uint64_t elsewhere, unknown;	/* lines that are left out, as boltread.h says */
};

/* -1: it is no such text; the message has the line's number. */
int boltlines_read(struct bytes text, const struct boltnames *names, const char *build_id,
		   struct arena *a, struct boltlines *out, struct err *err);

#endif
