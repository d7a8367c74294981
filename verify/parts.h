/* parts.h - what the parts of the Verifier share: struct verify
 *
 * verify.c says what is shown and by which file.  Each part is one function that verify.c
 * calls; it reads struct verify, fills the structure that its header declares, and either
 * returns 0 or refuses.  No part repairs, guesses or skips.
 *
 * NAMES     What a header of this folder declares begins with verify_ or with the name of the
 *           structure that it works on (vcfi_, vlsda_, vstates_, vtables_, vregs_, vshift_,
 *           vspill_, effect_); `v` in front of a structure's name tells the Verifier's own
 *           reading from PostMorph's.  Static functions have no prefix.
 */
#ifndef VERIFY_PARTS_H
#define VERIFY_PARTS_H

#include <stdbool.h>

#include "binary/decode.h"
#include "binary/image.h"
#include "lib/arena.h"
#include "lib/blockmap.h"
#include "lib/err.h"
#include "verify/buildid.h"
#include "verify/callsites.h"
#include "verify/code.h"
#include "verify/coderefs.h"
#include "verify/counting.h"
#include "verify/dataflow.h"
#include "verify/entries.h"
#include "verify/frames.h"
#include "verify/front.h"
#include "verify/headers.h"
#include "verify/redirected.h"
#include "verify/returns.h"
#include "verify/sections.h"
#include "verify/verify.h"

/* "vaddr" is an address in the original, "new_vaddr" one in the generation.  Everything that is
 * pointed to lives in the arena `a`. */
struct verify {
	struct arena *a;
	struct arena *run;	/* of one run of dataflow.c; empty between them */
	struct err *err;	/* gets the refusal */
	struct verify_stats *stats;

	/* The two files and the claim; filled by verify.c before any part runs. */
	struct image orig, gen;
	struct blockmap map;

	/* What the parts have found out, each in the header of the file that fills it. */
	struct vfile file;		/* headers.h: new segments, growth of file offsets */
	struct vbuildid buildid;	/* buildid.h: where it is in both files */
	struct vfront front;		/* front.h: what gave way to program headers */
	struct vcfi ocfi, gcfi;		/* frames.h: unwind tables of both files */
	struct vstates *states;		/* frames.c: rule sets of both tables */
	struct vexceptions lsda;	/* callsites.h: work on exception tables */
	struct vwalk walk;		/* entries.h: the walk over the original's code */
	struct vcoderefs refs;		/* coderefs.h: instructions that refer to code */
	struct vcalls calls;		/* returns.h: what calls do */
	struct vpointers pointers;	/* redirected.h: pointers that lead to images */
	struct vtableuses uses;		/* code.h: images that refer to new jump tables */
	struct vflow flow;		/* dataflow.h: what the data flow has followed */
	struct vcounting counting;	/* counting.h: what counts, where that was asked for */
	struct vsections sections;	/* sections.h: sections that are new ones */
	bool living;			/* it is to be fit for running processes (living.c) */
};

#define refuse(v, ...) err_set((v)->err, ERR_REFUSED, __VA_ARGS__)
#define ULL(x) ((unsigned long long)(x))

struct verify_part {
	const char *name;	/* of the file NAME.c and of the function verify_NAME() */
	int (*run)(struct verify *v);
	const char *shows;	/* the claim */
};

struct verify_helper {
	const char *name;	/* of the file NAME.c */
	const char *helps;	/* what it knows */
};

/* verify.c; the last one of each has no name.  Parts are in running order. */
extern const struct verify_part verify_parts[];
extern const struct verify_helper verify_helpers[];

/* The parts, each in the file of its name, in running order (verify.c has the table).  Each
 * returns 0, or -1 with the refusal in v->err. */
int verify_headers(struct verify *v);		/* fills file, buildid */
int verify_counting(struct verify *v);		/* fills counting.start */
int verify_front(struct verify *v);		/* fills front */
int verify_keptbytes(struct verify *v);		/* fills pointers.redirects and .changes */
int verify_frames(struct verify *v);		/* fills ocfi, gcfi, states */
int verify_callsites(struct verify *v);		/* fills lsda, and lsda and site of both cfi */
int verify_entries(struct verify *v);		/* fills walk, refs, calls.slots */
int verify_holders(struct verify *v);
int verify_code(struct verify *v);		/* fills uses, pointers.leas */
int verify_coverage(struct verify *v);
int verify_casetables(struct verify *v);
int verify_dataflow(struct verify *v);		/* fills flow */
int verify_unwindrows(struct verify *v);
int verify_redirected(struct verify *v);	/* sorts pointers.redirects */
int verify_labelwords(struct verify *v);
int verify_stalepointers(struct verify *v);
int verify_watchedcode(struct verify *v);
int verify_firstbytes(struct verify *v);		/* fills walk.asks_end */
int verify_placement(struct verify *v);		/* completes walk.met, walk.asks_end */
int verify_behindtraps(struct verify *v);	/* adds to walk.met, walk.extents */
int verify_innerwords(struct verify *v);
int verify_cutlabels(struct verify *v);
int verify_sections(struct verify *v);		/* fills sections */
int verify_symbols(struct verify *v);
int verify_dynsyms(struct verify *v);
int verify_probenotes(struct verify *v);
int verify_account(struct verify *v);
int verify_buildid(struct verify *v);
int verify_living(struct verify *v);

#endif
